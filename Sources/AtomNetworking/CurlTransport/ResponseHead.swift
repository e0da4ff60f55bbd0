#if os(Linux)
    import Foundation

    /// Reads the lines of a head as they arrive.
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

        private var stage = Stage.statusLine
        private var size = 0
        private var fields: [HeaderFields.Field] = []
        /// The next head has probably as many fields as the last one.
        private var expectedCount = 8
        private(set) var statusCode = 0
        private(set) var isHTTP2 = false

        /// Whether the head of the final response is complete.
        var isComplete: Bool { stage == .over }

        /// Whether the lines of a head arrive.
        var isWithin: Bool { stage == .fields }

        mutating func reset() {
            stage = .statusLine
            size = 0
            fields = []
            statusCode = 0
            isHTTP2 = false
        }

        /// Returns the fields of the complete head, in order, and forgets them.
        mutating func takeFields() -> HeaderFields {
            defer { fields = [] }
            return HeaderFields(fields)
        }

        /// Takes the next line.
        mutating func take(_ line: UnsafeBufferPointer<UInt8>) -> Progress {
            size += line.count
            guard size <= Self.maximumSize else { return .tooLarge }
            switch stage {
            case .over: return .incomplete
            case .statusLine: return startHead(line) ? .incomplete : .invalid
            case .fields: return line.isEndOfHead ? endHead() : takeField(line) ? .incomplete : .invalid
            }
        }

        /// Reads `HTTP/1.1 200 OK`, where the reason may be missing.
        ///
        /// libcurl is more lenient, but then it may see another status in it.
        private mutating func startHead(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
            guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: UInt8(ascii: " ")),
                space == 6 || (space == 8 && line[6] == UInt8(ascii: ".") && line[7].isDigit), line[5].isDigit
            else { return false }
            let rest = line[space...].drop { $0 == UInt8(ascii: " ") }
            var number = 0
            for digit in rest.prefix(3) {
                guard digit.isDigit else { return false }
                number = number * 10 + Int(digit - 0x30)
            }
            guard rest.count >= 3, number >= 100, rest.dropFirst(3).first?.isDigit != true else { return false }
            statusCode = number
            isHTTP2 = line[5] == UInt8(ascii: "2")
            fields.reserveCapacity(expectedCount)
            stage = .fields
            return true
        }

        private mutating func endHead() -> Progress {
            // Interim responses are followed by another one (RFC 9110 §15.2).
            if (100..<200).contains(statusCode), statusCode != 101 {
                fields.removeAll(keepingCapacity: true)
                stage = .statusLine
                return .incomplete
            }
            stage = .over
            expectedCount = min(max(fields.count, 8), 64)
            return .complete
        }

        private mutating func takeField(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
            // Whatever follows, a carriage return ends the head for libcurl.
            guard let start = line.baseAddress, line[0] != UInt8(ascii: "\r") else { return false }
            if line[0].isBlank {
                // A line that goes on with the value before it is obsolete (RFC
                // 9112 §5.2).
                guard !fields.isEmpty else { return false }
                fields[fields.count - 1].value += " " + line.trimmed.text
                return true
            }
            guard let found = memchr(start, CInt(UInt8(ascii: ":")), line.count) else { return false }
            let length = UnsafeRawPointer(found) - UnsafeRawPointer(start)
            let name = UnsafeBufferPointer(start: start, count: length).trimmed
            let value = UnsafeBufferPointer(start: start + length + 1, count: line.count - length - 1).trimmed
            guard !name.isEmpty else { return false }
            fields.append(HeaderFields.Field(name: name.text, value: value.text))
            return true
        }
    }

    extension UInt8 {
        fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }

        fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
    }

    extension UnsafeBufferPointer<UInt8> {
        /// Whether the line is empty but for its end.
        fileprivate var isEndOfHead: Bool {
            count <= 2 && allSatisfy { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
        }

        /// Without whitespace and the end of the line.
        fileprivate var trimmed: UnsafeBufferPointer<UInt8> {
            var (start, end) = (0, count)
            while start < end, self[start].isBlank { start += 1 }
            while end > start, self[end - 1].isBlank || self[end - 1] == 0x0D || self[end - 1] == 0x0A { end -= 1 }
            return UnsafeBufferPointer(rebasing: self[start..<end])
        }

        fileprivate var text: String { String(decoding: self, as: UTF8.self) }
    }
#endif
