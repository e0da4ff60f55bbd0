#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// The header lines of a request as libcurl reads them, in memory that is used again for the next request.
    struct HeaderLines: ~Copyable {
        private var bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: 1_024)
        private var count = 0
        private var nodes = UnsafeMutableBufferPointer<atom_curl_list>.allocate(capacity: 16)
        private var nodeCount = 0

        deinit {
            bytes.deallocate()
            nodes.deallocate()
        }

        /// The list, until the next call of `begin`; `nil` if it is empty.
        var list: UnsafeMutablePointer<atom_curl_list>? { nodeCount == 0 ? nil : nodes.baseAddress }

        /// Starts a list of so many lines, whose names and values take so many bytes.
        mutating func begin(size: Int, lines: Int) {
            // A colon, a space and a terminator each.
            let needed = size + 3 * lines
            if needed > bytes.count {
                bytes.deallocate()
                bytes = .allocate(capacity: needed)
            }
            if lines > nodes.count {
                nodes.deallocate()
                nodes = .allocate(capacity: lines)
            }
            (count, nodeCount) = (0, 0)
        }

        mutating func add(_ name: String, _ value: String) {
            let start = count
            append(name)
            let end = count
            (bytes[end], bytes[end + 1]) = (0x3A, 0x20)
            count += 2
            append(value, isTrimmed: true)
            if count == end + 2 {
                // Nothing after the colon would remove the field.
                count = end
                append(";")
            }
            endLine(start)
        }

        /// Keeps libcurl from adding a field of its own.
        mutating func leaveOut(_ name: String) {
            let start = count
            append(name)
            append(":")
            endLine(start)
        }

        private mutating func endLine(_ start: Int) {
            bytes[count] = 0
            count += 1
            guard let line = bytes.baseAddress, let list = nodes.baseAddress else { return }
            list[nodeCount] = atom_curl_list(data: line + start, next: nil)
            if nodeCount > 0 { list[nodeCount - 1].next = list + nodeCount }
            nodeCount += 1
        }

        /// - Parameter isTrimmed: Without the whitespace around it, which is not part of a value (RFC 9110 §5.5), and
        ///   with the octets that it stands for.
        private mutating func append(_ text: String, isTrimmed: Bool = false) {
            func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
            var text = text
            text.withUTF8 { source in
                var (first, end) = (0, source.count)
                while isTrimmed, end > first, isBlank(source[end - 1]) { end -= 1 }
                while isTrimmed, first < end, isBlank(source[first]) { first += 1 }
                guard let start = source.baseAddress, let place = bytes.baseAddress else { return }
                let copy = UnsafeMutableRawBufferPointer(start: place + count, count: end - first)
                copy.baseAddress?.copyMemory(from: start + first, byteCount: end - first)
                let isPlain = !isTrimmed || memchr(start + first, CInt(OpaqueOctets.sign), end - first) == nil
                count += isPlain ? end - first : copy.withMemoryRebound(to: UInt8.self) { OpaqueOctets.restore($0) }
            }
        }
    }
#endif
