#if os(Linux)
    internal import CAtomCurl

    extension CurlTransfer {
        // Never freed and never changed, so every thread may read it.
        nonisolated(unsafe) static let callbacks: UnsafePointer<atom_curl_callbacks> = {
            let callbacks = UnsafeMutablePointer<atom_curl_callbacks>.allocate(capacity: 1)
            callbacks.initialize(
                to: atom_curl_callbacks(
                    header: { bytes, size, count, context in
                        guard let bytes, let context else { return 0 }
                        // 32 bits: it is the length of a buffer in memory.
                        let length = size * count
                        return UnsafeRawBufferPointer(start: bytes, count: length).withMemoryRebound(to: UInt8.self) {
                            CurlTransfer.of(context).tookHeader($0) ? length : 0
                        }
                    },
                    write: { bytes, size, count, context in
                        guard let bytes, let context else { return 0 }
                        // 32 bits: it is the length of a buffer in memory.
                        let length = size * count
                        switch CurlTransfer.of(context).receive(UnsafeRawBufferPointer(start: bytes, count: length)) {
                        case .taken: return length
                        case .later: return Int(ATOM_CURL_WRITE_PAUSE)
                        case .never: return length == 0 ? 1 : 0
                        }
                    },
                    read: { bytes, size, count, context in
                        guard let bytes, let context else { return Int(ATOM_CURL_READ_ABORT) }
                        // 32 bits: it is the length of a buffer in memory.
                        let length = size * count
                        return CurlTransfer.of(context).fill(UnsafeMutableRawBufferPointer(start: bytes, count: length))
                    },
                    prepare: { context, _, _, _, port in
                        guard let context else { return 1 }
                        return CurlTransfer.of(context).maySend(from: UInt16(truncatingIfNeeded: port)) ? 0 : 1
                    },
                    progress: { context, length, received, _, sent in
                        guard let context else { return 1 }
                        return CurlTransfer.of(context).progressed(sent: sent, received: received, of: length) ? 0 : 1
                    },
                    connect: { context in
                        guard let context else { return false }
                        return CurlTransfer.of(context).mayConnect()
                    },
                    opened: { context, descriptor, address, port in
                        guard let context else { return }
                        CurlTransfer.of(context).opened(
                            descriptor, to: address.map { String(cString: $0) } ?? "", port: Int(port))
                    }))
            return UnsafePointer(callbacks)
        }()
    }
#endif
