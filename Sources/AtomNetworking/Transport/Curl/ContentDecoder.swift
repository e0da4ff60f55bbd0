#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// Decodes the content of a response part by part (RFC 9110 §8.4).
    ///
    /// libcurl would take a truncated body for a whole one, and decode everything at
    /// once on the thread that all connections share.
    final class ContentDecoder {
        struct Failure: Error {
            let reason: String
        }

        /// One coding; the last that was applied comes first.
        private let layers: [Inflation]

        /// `nil` if nothing is to be decoded: there is no coding, or one that the SDK
        /// doesn't know, which stays as it is, as everything does without zlib.
        init?(_ fields: HeaderFields) {
            guard fields.contains("Content-Encoding") else { return nil }
            var codings: [Inflation.Format] = []
            for field in fields where field.name.lowercased() == "content-encoding" {
                for name in field.value.split(separator: ",") {
                    switch name.trimmingCharacters(in: .whitespaces).lowercased() {
                    case "gzip", "x-gzip": codings.append(.gzip)
                    case "deflate": codings.append(.deflate)
                    case "identity", "": break
                    default: return nil
                    }
                }
            }
            // Nobody encodes so often, but to make a little data look like very much.
            guard !codings.isEmpty, codings.count <= 2, atom_curl_load().has_zlib else { return nil }
            layers = codings.reversed().map(Inflation.init)
        }

        /// Takes the next part of the body; the one before has been decoded.
        func take(_ part: Data) { layers[0].take(part) }

        /// Gives the next part of the content; `nil` when more of the body is needed.
        ///
        /// It is empty after a step that only brought an inner coding forward.
        func next() throws(Failure) -> Data? {
            for index in layers.indices.reversed() {
                guard let part = try layers[index].next() else { continue }
                guard index + 1 < layers.count else { return part }
                layers[index + 1].take(part)
                return Data()
            }
            return nil
        }

        /// Whether the content ends where the body does.
        ///
        /// No body at all is no content, as in the response to HEAD.
        var isComplete: Bool { layers.allSatisfy(\.isComplete) }
    }

    /// The decoding of one coding with zlib.
    private final class Inflation {
        enum Format {
            case gzip
            /// The zlib format, as the specification says, or without its head and end, as many servers send it.
            case deflate
        }

        private static let partSize = 64 << 10

        private let format: Format
        private var inflater: OpaquePointer?
        private var input = Data()
        /// Whether the end of a stream has been read; another one may follow in gzip.
        private var isAtEnd = false
        /// Whether the last part was full.
        private var mayHaveMore = false

        init(_ format: Format) { self.format = format }

        deinit { if let inflater { atom_inflater_free(inflater) } }

        var isComplete: Bool { input.isEmpty && (isAtEnd || inflater == nil) }

        func take(_ part: Data) {
            if input.isEmpty { input = part } else { input.append(part) }
        }

        /// `nil` when more of the input is needed.
        func next() throws(ContentDecoder.Failure) -> Data? {
            guard hasMore else { return nil }
            // A small body takes little memory, and its members share it.
            var output = Data(count: min(Self.partSize, max(1_024, 8 * input.count)))
            var count = 0
            while count < output.count, hasMore {
                if !input.isEmpty {
                    if isAtEnd { try beginNextMember() }
                    guard try begin() else { break }
                }
                count += try inflate(into: &output, from: count)
            }
            output.removeLast(output.count - count)
            return output.isEmpty ? nil : output
        }

        /// What has been decoded may also be in zlib's window.
        private var hasMore: Bool { !input.isEmpty || mayHaveMore }

        private func beginNextMember() throws(ContentDecoder.Failure) {
            guard format == .gzip, let inflater else {
                throw ContentDecoder.Failure(reason: "something follows the end of the compressed content")
            }
            atom_inflater_reset(inflater)
            isAtEnd = false
        }

        /// - Returns: Whether there is enough of the input to begin.
        private func begin() throws(ContentDecoder.Failure) -> Bool {
            guard inflater == nil else { return true }
            var windowBits: CInt = 15 + 16
            if format == .deflate {
                // The head of the zlib format is a multiple of 31 (RFC 1950 §2.2).
                guard input.count >= 2 else { return false }
                let (first, second) = (Int(input[input.startIndex]), Int(input[input.startIndex + 1]))
                windowBits = first & 0x0F == 8 && (first << 8 | second) % 31 == 0 ? 15 : -15
            }
            inflater = atom_inflater_make(windowBits)
            guard inflater != nil else { throw ContentDecoder.Failure(reason: "there is no memory to decode it") }
            return true
        }

        private func inflate(into output: inout Data, from start: Int) throws(ContentDecoder.Failure) -> Int {
            let wanted = output.count - start
            var (result, unread, room): (CInt, Int, Int) = (0, 0, wanted)
            output.withUnsafeMutableBytes { output in
                input.withUnsafeBytes { input in
                    var next = input.bindMemory(to: UInt8.self).baseAddress
                    unread = input.count
                    let place = output.bindMemory(to: UInt8.self).baseAddress.map { $0 + start }
                    result = atom_inflate(inflater, &next, &unread, place, &room)
                }
            }
            input = unread == 0 ? Data() : input.suffix(unread)
            mayHaveMore = room == 0
            switch result {
            case 1: (isAtEnd, mayHaveMore) = (true, false)
            // -5: nothing could be done, because there is no more input.
            case 0, -5: break
            default:
                throw ContentDecoder.Failure(reason: "it is not what its Content-Encoding says")
            }
            return wanted - room
        }
    }
#endif
