#if os(Linux)
    import Foundation

    /// Reads the lines of a head as they arrive, each with its end, also those of interim responses and of trailers.
    struct ResponseHead {
        /// The most bytes that all heads and trailers of one response may have.
        static let maximumSize = 256 << 10

        enum Progress: Equatable {
            case incomplete
            /// The head of the final response is complete.
            case complete
            case tooLarge
            /// ``fault`` says why.
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
        private var fields: [HeaderItem] = []
        /// The next head has probably as many fields as the last one.
        private var expectedCount = 8
        private(set) var statusCode = 0
        private(set) var isHTTP2 = false
        private var isHTTP10 = false
        /// Why the head is invalid.
        private(set) var fault = Self.noField
        private static let noField = "a line is not a header field"
        private static let otherCoding = "it has a transfer coding other than “chunked”"
        /// The value of `Content-Length`, which several fields may repeat.
        private var contentLength: Int64?
        private var isChunked = false
        /// Whether the body is coded as `identity`: it has no other end (RFC 9112 §6.3).
        private(set) var endsWithConnection = false
        /// Whether libcurl has interpreted the last line, and none may go on with it.
        private var isFixed = false

        /// Whether the head of the final response is complete.
        var isComplete: Bool { stage == .over }

        /// Whether there is a body that only the end of the connection ends; libcurl may leave out that of a 417.
        var lastsToTheEnd: Bool {
            !isHTTP2 && !isChunked && contentLength == nil && ![204, 304, 417].contains(statusCode)
        }

        /// Whether the lines of a head arrive.
        var isWithin: Bool { stage == .fields }

        /// Whether the status of the final response has arrived.
        var hasStatus: Bool { isComplete || isWithin && statusCode >= 200 }

        mutating func reset() {
            let count = expectedCount
            self = ResponseHead()
            expectedCount = count
        }

        /// Returns the fields of the complete head, in order, and forgets them.
        mutating func takeFields() -> HeaderFields {
            defer { fields = [] }
            return HeaderFields(fields)
        }

        mutating func take(_ line: UnsafeBufferPointer<UInt8>) -> Progress {
            size += line.count
            guard size <= Self.maximumSize else { return .tooLarge }
            // The connection ended within this line, which some versions pass on.
            guard line.last == UInt8(ascii: "\n") else { return .incomplete }
            // RFC 9110 §5.5.
            guard stage == .over || line.hasOnlyText else { return invalid("it contains a character that it may not") }
            switch stage {
            case .over: return .incomplete
            case .statusLine: return startHead(line) ? .incomplete : .invalid
            case .fields: return line.isEndOfHead ? endHead() : takeField(line)
            }
        }

        private mutating func invalid(_ fault: String) -> Progress {
            self.fault = fault
            return .invalid
        }

        /// Reads `HTTP/1.1 200 OK`, where the reason may be missing; libcurl is more
        /// lenient, and may see another status in it.
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
            isHTTP10 = line[5] == UInt8(ascii: "1") && space == 8 && line[7] == UInt8(ascii: "0")
            fields.reserveCapacity(expectedCount)
            (contentLength, isChunked, endsWithConnection, isFixed, fault) = (nil, false, false, false, Self.noField)
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
            // No request of the SDK asks for another protocol.
            guard statusCode != 101 else { return invalid("it switches to another protocol, which nobody asked for") }
            stage = .over
            expectedCount = min(max(fields.count, 8), 64)
            return .complete
        }

        private mutating func takeField(_ line: UnsafeBufferPointer<UInt8>) -> Progress {
            // Whatever follows, a carriage return ends the head for libcurl.
            guard let start = line.baseAddress, line[0] != UInt8(ascii: "\r") else { return .invalid }
            if line[0].isBlank {
                // A line that goes on with a value is obsolete (RFC 9112 §5.2).
                guard !fields.isEmpty, !isFixed else { return .invalid }
                let more = line.trimmed.text
                let separator = fields[fields.count - 1].value.isEmpty || more.isEmpty ? "" : " "
                fields[fields.count - 1].value += separator + more
                return .incomplete
            }
            guard let found = memchr(start, CInt(UInt8(ascii: ":")), line.count) else { return .invalid }
            let length = UnsafeRawPointer(found) - UnsafeRawPointer(start)
            let name = UnsafeBufferPointer(start: start, count: length).trimmed
            let value = UnsafeBufferPointer(start: start + length + 1, count: line.count - length - 1).trimmed
            guard !name.isEmpty else { return .invalid }
            isFixed = false
            guard name.count >= 14 else {
                fields.append(HeaderItem(name: name.text, value: value.text))
                return .incomplete
            }
            let before = contentLength
            if let fault = judge(name, value, hasBlank: name.count != length) { return invalid(fault) }
            // Equal lengths are one (RFC 9110 §8.6).
            guard let contentLength, name.isName("content-length") else {
                fields.append(HeaderItem(name: name.text, value: value.text))
                return .incomplete
            }
            if before == nil { fields.append(HeaderItem(name: name.text, value: String(contentLength))) }
            return .incomplete
        }

        /// Returns what is wrong with the fields that say how long the body is and how it
        /// is coded (RFC 9112 §6): libcurl may read them otherwise than the server meant.
        private mutating func judge(
            _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, hasBlank: Bool
        ) -> String? {
            let isLength = name.isName("content-length")
            let isTransfer = !isLength && name.isName("transfer-encoding")
            guard isLength || isTransfer || name.isName("content-encoding") else { return nil }
            isFixed = true
            guard !hasBlank else { return "there is a space after the name of a field" }
            if isLength {
                guard !endsWithConnection else { return Self.otherCoding }
                for member in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                    let digits = UnsafeBufferPointer(rebasing: member).trimmed
                    guard !digits.isEmpty, digits.allSatisfy(\.isDigit), let number = Int64(digits.text),
                        contentLength == nil || contentLength == number
                    else { return "Content-Length is not one number" }
                    contentLength = number
                }
            } else if isTransfer {
                // RFC 9112 §6.1.
                guard !isHTTP10 else { return "HTTP/1.0 has no transfer codings" }
                guard !isChunked, !endsWithConnection else { return Self.otherCoding }
                isChunked = value.isName("chunked")
                // A length beside it would count for libcurl.
                endsWithConnection = contentLength == nil && value.isName("identity")
                guard isChunked || endsWithConnection else { return Self.otherCoding }
            }
            return nil
        }
    }

    extension UInt8 {
        fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
    }

    extension UnsafeBufferPointer<UInt8> {
        /// Whether the line is empty but for its end.
        fileprivate var isEndOfHead: Bool { count == 1 || count == 2 && self[0] == UInt8(ascii: "\r") }

        /// Whether it has no NUL, and a carriage return only at its end.
        fileprivate var hasOnlyText: Bool {
            guard let baseAddress, memchr(baseAddress, 0, count) == nil else { return false }
            guard let found = memchr(baseAddress, 0x0D, count) else { return true }
            return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress) == count - 2
        }

        /// Whether it is this word, without regard to case.
        fileprivate func isName(_ word: StaticString) -> Bool {
            guard count == word.utf8CodeUnitCount, let baseAddress else { return false }
            return strncasecmp(
                UnsafeRawPointer(baseAddress).assumingMemoryBound(to: CChar.self),
                UnsafeRawPointer(word.utf8Start).assumingMemoryBound(to: CChar.self), count) == 0
        }

        /// Without whitespace and the end of the line.
        fileprivate var trimmed: UnsafeBufferPointer<UInt8> {
            var (start, end) = (0, count)
            while start < end, self[start].isBlank { start += 1 }
            while end > start, self[end - 1].isBlank || self[end - 1] == 0x0D || self[end - 1] == 0x0A { end -= 1 }
            return UnsafeBufferPointer(rebasing: self[start..<end])
        }

        fileprivate var text: String {
            // To validate costs 700 instructions.
            guard contains(where: { $0 >= 0x80 }) else { return String(decoding: self, as: UTF8.self) }
            return String(validating: self, as: UTF8.self) ?? OpaqueOctets.text(self)
        }
    }
#endif
