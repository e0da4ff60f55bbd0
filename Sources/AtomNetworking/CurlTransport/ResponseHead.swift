#if os(Linux)
    /// Collects the lines of a head, and reads them when it is complete.
    ///
    /// libcurl hands over each line with its end, also the lines of interim
    /// responses and of trailers.
    struct ResponseHead {
        /// The most bytes that all heads and trailers of one response may have.
        static let maximumSize = 256 << 10

        enum Progress: Equatable {
            case incomplete
            /// The head of the final response is complete.
            case complete
            case tooLarge
            case invalid
        }

        private enum Stage {
            case statusLine
            case fields
            /// After the head of the final response.
            case over
        }

        // The memory is kept for the next response.
        private var bytes: [UInt8] = []
        private var stage = Stage.statusLine
        private var size = 0
        private(set) var statusCode = 0
        private(set) var isHTTP2 = false

        /// Whether the head of the final response is complete.
        var isComplete: Bool { stage == .over }

        /// Whether the lines of a head arrive.
        var isWithin: Bool { stage == .fields }

        /// Whether a part of a head has arrived, also of an interim response.
        var hasBegun: Bool { size > 0 }

        mutating func reset() {
            bytes.removeAll(keepingCapacity: true)
            // The memory of an unusual head isn't kept forever.
            if bytes.capacity > 16 << 10 { bytes = [] }
            stage = .statusLine
            size = 0
            statusCode = 0
            isHTTP2 = false
        }

        /// Takes the next line.
        mutating func take(_ line: UnsafeBufferPointer<UInt8>) -> Progress {
            size += line.count
            guard size <= Self.maximumSize else { return .tooLarge }
            switch stage {
            case .over:
                return .incomplete
            case .statusLine:
                guard readStatus(line) else { return .invalid }
                stage = .fields
                return .incomplete
            case .fields:
                guard line.isEndOfHead else {
                    bytes.append(contentsOf: line)
                    return .incomplete
                }
                // Interim responses are followed by another one (RFC 9110 §15.2).
                if (100..<200).contains(statusCode), statusCode != 101 {
                    bytes.removeAll(keepingCapacity: true)
                    stage = .statusLine
                    return .incomplete
                }
                stage = .over
                return .complete
            }
        }

        private mutating func readStatus(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
            guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: UInt8(ascii: " ")) else { return false }
            let code = line[(space + 1)...].drop { $0 == UInt8(ascii: " ") }.prefix(3)
            var number = 0
            for digit in code {
                guard (0x30...0x39).contains(digit) else { return false }
                number = number * 10 + Int(digit - 0x30)
            }
            guard code.count == 3, number >= 100 else { return false }
            statusCode = number
            isHTTP2 = line.count > 5 && line[5] == UInt8(ascii: "2")
            return true
        }

        /// The fields of the complete head, in order; `nil` if a line is none.
        func fields() -> HeaderFields? {
            bytes.withUnsafeBufferPointer { bytes in
                var fields: [HeaderFields.Field] = []
                fields.reserveCapacity(bytes.count / 32 + 4)
                var start = 0
                while start < bytes.count {
                    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                    let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
                    start = end + 1
                    if line.first?.isBlank == true {
                        // A line that goes on with the value before it is
                        // obsolete (RFC 9112 §5.2).
                        guard !fields.isEmpty else { return nil }
                        fields[fields.count - 1].value += " " + line.trimmed.text
                        continue
                    }
                    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
                    let name = UnsafeBufferPointer(rebasing: line[..<colon]).trimmed
                    let value = UnsafeBufferPointer(rebasing: line[(colon + 1)...]).trimmed
                    fields.append(HeaderFields.Field(name: name.text, value: value.text))
                }
                return HeaderFields(fields)
            }
        }
    }

    extension UInt8 {
        fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
    }

    extension UnsafeBufferPointer<UInt8> {
        /// Whether the line is empty but for its end.
        fileprivate var isEndOfHead: Bool {
            count <= 2 && allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        }

        /// Without whitespace and ends of lines around it.
        fileprivate var trimmed: UnsafeBufferPointer<UInt8> {
            var (start, end) = (0, count)
            while start < end, self[start].isBlank { start += 1 }
            while end > start, self[end - 1].isBlank || self[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            return UnsafeBufferPointer(rebasing: self[start..<end])
        }

        fileprivate var text: String { String(decoding: self, as: UTF8.self) }
    }
#endif
