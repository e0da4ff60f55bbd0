#if os(Linux)
    internal import CAtomCurl

    /// A header line that is the same for all requests, as libcurl reads it.
    final class HeaderLine: @unchecked Sendable {
        let name: String
        // Written once, before the object is shared.
        fileprivate let bytes: UnsafeMutablePointer<CChar>

        init(name: String, value: String) {
            self.name = name
            let text = value.isEmpty ? "\(name);" : "\(name): \(value)"
            bytes = .allocate(capacity: text.utf8.count + 1)
            for (index, byte) in text.utf8.enumerated() { bytes[index] = CChar(bitPattern: byte) }
            bytes[text.utf8.count] = 0
        }

        deinit { bytes.deallocate() }
    }

    /// The header lines of a request as libcurl reads them, in memory that is
    /// used again for the next request.
    struct HeaderLines: ~Copyable {
        private var bytes: UnsafeMutablePointer<CChar>
        private var capacity: Int
        private var count = 0
        private var nodes: UnsafeMutablePointer<atom_curl_list>
        private var nodeCapacity: Int
        private var nodeCount = 0

        init() {
            capacity = 1_024
            bytes = .allocate(capacity: capacity)
            nodeCapacity = 16
            nodes = .allocate(capacity: nodeCapacity)
        }

        deinit {
            bytes.deallocate()
            nodes.deallocate()
        }

        /// Starts a list for fields of this size.
        ///
        /// - Parameters:
        ///   - size: The most bytes that the names and values take together.
        ///   - lines: The most lines.
        mutating func begin(size: Int, lines: Int) {
            // A colon, a space and a terminator each.
            let needed = size + 3 * lines
            if needed > capacity {
                bytes.deallocate()
                capacity = needed
                bytes = .allocate(capacity: capacity)
            }
            if lines > nodeCapacity {
                nodes.deallocate()
                nodeCapacity = lines
                nodes = .allocate(capacity: nodeCapacity)
            }
            (count, nodeCount) = (0, 0)
        }

        /// Adds a field.
        mutating func add(_ name: String, _ value: String) {
            startLine()
            append(name)
            let before = count
            bytes[count] = 0x3A  // A colon and a space.
            bytes[count + 1] = 0x20
            count += 2
            let start = count
            append(value)
            trim(from: start)
            // Nothing after the colon would remove the field.
            if count == start {
                bytes[before] = 0x3B  // A semicolon.
                count = before + 1
            }
            endLine()
        }

        /// Adds a line that outlives the list.
        mutating func add(_ line: HeaderLine) {
            startLine(line.bytes)
        }

        /// Keeps libcurl from adding a field of its own.
        mutating func leaveOut(_ name: String) {
            startLine()
            append(name)
            append(":")
            endLine()
        }

        /// The list, which is valid until the next call of `begin`; `nil` if it
        /// is empty.
        var list: UnsafeMutablePointer<atom_curl_list>? { nodeCount == 0 ? nil : nodes }

        private mutating func startLine() {
            startLine(bytes + count)
        }

        private mutating func startLine(_ bytes: UnsafeMutablePointer<CChar>) {
            nodes[nodeCount] = atom_curl_list(data: bytes, next: nil)
            if nodeCount > 0 { nodes[nodeCount - 1].next = nodes + nodeCount }
            nodeCount += 1
        }

        private mutating func endLine() {
            bytes[count] = 0
            count += 1
        }

        private mutating func append(_ text: String) {
            var text = text
            text.withUTF8 { source in
                guard let start = source.baseAddress else { return }
                UnsafeMutableRawPointer(bytes + count).copyMemory(from: start, byteCount: source.count)
                count += source.count
            }
        }

        /// Whitespace around a value is not part of it (RFC 9110 §5.5).
        private mutating func trim(from start: Int) {
            func isBlank(_ byte: CChar) -> Bool { byte == 0x20 || byte == 0x09 }
            while count > start, isBlank(bytes[count - 1]) { count -= 1 }
            var first = start
            while first < count, isBlank(bytes[first]) { first += 1 }
            guard first > start else { return }
            (bytes + start).update(from: bytes + first, count: count - first)
            count -= first - start
        }
    }
#endif
