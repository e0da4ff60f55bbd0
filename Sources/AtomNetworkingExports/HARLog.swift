import AtomNetworking
import Foundation

/// A file in the HTTP Archive format 1.2: what the recorder writes, and what recordings for tests are read from.
package struct HARFile: Codable {
    package let log: HARLog

    /// The content of the file, in UTF-8.
    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Nothing in it can fail: numbers are finite, and texts are Unicode.
        return (try? encoder.encode(self)) ?? Data()
    }
}

/// The parts of the file, as the format names them.
///
/// Tools leave out much. All but the request and the status may be missing when a file is read.
package struct HARLog: Codable, Sendable {
    @Unread var version: String? = "1.2"
    @Unread var creator: [String: String]? = ["name": "AtomNetworking", "version": Atom.packageVersion]
    /// No browser, so no pages.
    @Unread var pages: [String]? = []
    package var entries: [Entry]
    var comment: String?

    package struct Pair: Codable, Sendable {
        package var name: String
        package var value: String
    }

    package struct Entry: Codable, Sendable {
        @Unread var startedDateTime: String?
        /// Milliseconds.
        @Unread var time: Double?
        package var request: Request
        package var response: Response
        /// What a kept response is from; else nothing is known of a cache.
        @Unread var cache: [String: String]? = [:]
        @Unread var timings: Timings?
        package var serverIPAddress: String?
        @Unread var connection: String?
        var comment: String?
        package var error: String?
        /// The same for programs.
        package var failure: Failure?
        /// Of the SDK's own requests.
        package var purpose: String?
        package var attempt: Attempt?
        /// Which attempt it is: they may be sent in another order than they begin to wait.
        package var sequence: Int?

        // Fields that the format doesn't know begin with an underscore.
        enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case error = "_error"
            case failure = "_failure"
            case purpose = "_purpose"
            // As files that exist have it.
            case attempt = "_sending"
            case sequence = "_sequence"
        }
    }

    /// Why there is no complete response.
    package struct Failure: Codable, Sendable {
        /// Of a `URLError`, which is the same on all systems.
        package var code: Int
        /// `notSent`, `maybeSent` or `answered`.
        package var delivery: String?
    }

    /// Which attempt of which request it is.
    package struct Attempt: Codable, Sendable {
        /// The same for all attempts of a request.
        package var requestID: UInt64
        /// From 1.
        package var number: Int
    }

    package struct Request: Codable, Sendable {
        package var method: String
        package var url: String
        @Unread var httpVersion: String?
        @Unread var cookies: [Pair]? = []
        package var headers: [Pair]?
        @Unread var queryString: [Pair]?
        package var postData: PostData?
        @Unread var headersSize: Int? = -1
        package var bodySize: Int64?
    }

    package struct PostData: Codable, Sendable {
        package var mimeType: String?
        package var params: [Parameter]? = []
        package var text: String?
        /// `base64` for bytes that aren't text.
        package var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType, params, text
            case encoding = "_encoding"
        }
    }

    /// A field of a form; the SDK writes the text instead.
    package struct Parameter: Codable, Sendable {
        package var name: String
        package var value: String?
    }

    package struct Response: Codable, Sendable {
        package var status: Int
        @Unread var statusText: String?
        @Unread var httpVersion: String?
        @Unread var cookies: [Pair]? = []
        package var headers: [Pair]?
        package var content: Content?
        @Unread var redirectURL: String?
        @Unread var headersSize: Int? = -1
        package var bodySize: Int64?
    }

    package struct Content: Codable, Sendable {
        package var size: Int64?
        package var mimeType: String?
        package var text: String?
        /// `base64` for bytes that aren't text.
        package var encoding: String?
        /// Why the text is missing, or not all of it.
        package var comment: String?
    }

    /// Milliseconds; -1 for what isn't known or did not happen.
    struct Timings: Encodable {
        var blocked: Double
        var dns: Double
        var connect: Double
        var ssl: Double
        var send: Double
        var wait: Double
        var receive: Double

        init(_ timings: HARTimings) {
            blocked = Self.milliseconds(timings.blocked)
            dns = Self.milliseconds(timings.dns)
            connect = Self.milliseconds(timings.connect)
            ssl = Self.milliseconds(timings.ssl)
            // No transport tells it apart from `wait`.
            send = 0
            wait = Self.milliseconds(timings.wait)
            receive = Self.milliseconds(timings.receive)
        }

        static func milliseconds(_ microseconds: Int64?) -> Double { microseconds.map { Double($0) / 1_000 } ?? -1 }
    }
}

/// A part of a file that is written, but not read: nobody needs it, and tools write it in many ways.
@propertyWrapper struct Unread<Value: Encodable & Sendable>: Codable, Sendable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    init(from decoder: any Decoder) {}

    func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}

extension KeyedDecodingContainer {
    /// The compiler calls this one for such a part, which may be missing.
    func decode<Value>(_ type: Unread<Value>.Type, forKey key: Key) -> Unread<Value> { Unread(wrappedValue: nil) }
}

extension KeyedEncodingContainer {
    /// One that isn't known is left out.
    mutating func encode<Value>(_ part: Unread<Value>, forKey key: Key) throws {
        try encodeIfPresent(part.wrappedValue, forKey: key)
    }
}
