#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// Frees the loop's thread from a server that keeps libcurl reading what is no part of a response.
    ///
    /// Empty records of TLS, and frames of HTTP/2 for no stream, give libcurl nothing to return for: some versions never
    /// do, others seldom. The watch has a thread of its own.
    struct CurlWatch: Sendable {
        private let queue = DispatchQueue(label: "AtomNetworking.CurlTransport.watch")
        /// The connections that are open: none of these numbers is given out again while the lock is held.
        private let open = Guarded<Set<CInt>>([])

        /// So many bytes come in two seconds without an event before and in them.
        ///
        /// A paused stream of HTTP/2 has 32 MiB at most, and half of them have come by then.
        private static let flood: Int64 = 16 << 20

        func opened(_ descriptor: CInt) { open.withLock { _ = $0.insert(descriptor) } }

        func closing(_ descriptor: CInt) { open.withLock { _ = $0.remove(descriptor) } }

        /// Looks every two seconds whether an event has been reported, until no exchange is running.
        func begin(
            after count: Int, reads: [CInt: Int64] = [:], until next: @escaping @Sendable () -> Int?
        ) {
            queue.asyncAfter(deadline: .now() + .seconds(2)) {
                guard let now = next() else { return }
                begin(after: now, reads: now == count ? shutFloods(since: reads) : [:], until: next)
            }
        }

        /// Shuts what has been read so much of since then, and returns how much was read of each connection by now.
        private func shutFloods(since before: [CInt: Int64]) -> [CInt: Int64] {
            open.withLock { open in
                let reads = Dictionary(uniqueKeysWithValues: open.map { ($0, atom_curl_socket_read_count($0)) })
                for (descriptor, count) in reads {
                    guard let first = before[descriptor], count - first > Self.flood else { continue }
                    shutdown(descriptor, CInt(SHUT_RDWR))
                }
                return reads
            }
        }
    }
#endif
