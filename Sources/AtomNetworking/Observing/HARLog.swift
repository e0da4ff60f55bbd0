import Foundation

/// The parts of a file in the HTTP Archive format 1.2, as it names them.
struct HARLog: Encodable {
    var version = "1.2"
    var creator = Creator()
    /// No browser, so no pages.
    var pages: [String] = []
    var entries: [Entry]
    var comment: String?

    struct Creator: Encodable {
        var name = "AtomNetworking"
        /// The version of the SDK; written when it is released.
        var version = "unreleased"
    }

    struct Pair: Encodable {
        var name: String
        var value: String
    }

    struct Entry: Encodable {
        var startedDateTime: String
        /// Milliseconds.
        var time: Double
        var request: Request
        var response: Response
        var cache = Cache()
        var timings: Timings
        var serverIPAddress: String?
        var connection: String?
        var comment: String
        var error: String?
        /// The same for programs.
        var failure: Failure?
        /// Of the SDK's own requests.
        var purpose: String?
        var sending: Sending
        /// Which sending it is: they may be sent in another order than they begin
        /// to wait.
        var sequence: Int

        // Fields that the format doesn't know begin with an underscore.
        enum CodingKeys: String, CodingKey {
            case startedDateTime
            case time
            case request
            case response
            case cache
            case timings
            case serverIPAddress
            case connection
            case comment
            case error = "_error"
            case failure = "_failure"
            case purpose = "_purpose"
            case sending = "_sending"
            case sequence = "_sequence"
        }
    }

    /// Why there is no complete response.
    struct Failure: Encodable {
        /// Of a `URLError`, which is the same on all systems.
        var code: Int
        /// `notSent`, `maybeSent` or `answered`.
        var delivery: String
    }

    /// Which sending of which request it is.
    struct Sending: Encodable {
        /// The same for all sendings of a request.
        var requestID: UInt64
        /// From 1.
        var number: Int
    }

    /// Nothing is known of a cache.
    struct Cache: Encodable {}

    struct Request: Encodable {
        var method: String
        var url: String
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var queryString: [Pair]
        var postData: PostData?
        var headersSize = -1
        var bodySize: Int64
    }

    struct PostData: Encodable {
        var mimeType: String
        var params: [Pair] = []
        var text: String
        /// `base64` for bytes that aren't text.
        var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType
            case params
            case text
            case encoding = "_encoding"
        }
    }

    struct Response: Encodable {
        var status: Int
        var statusText: String
        var httpVersion: String
        var cookies: [Pair] = []
        var headers: [Pair]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        var bodySize: Int64
    }

    struct Content: Encodable {
        var size: Int64
        var mimeType: String
        var text: String?
        /// `base64` for bytes that aren't text.
        var encoding: String?
        /// Why the text is missing.
        var comment: String?
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

extension HARLog {
    private struct File: Encodable {
        let log: HARLog
    }

    /// The content of the file, in UTF-8.
    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Nothing in it can fail: numbers are finite, and texts are Unicode.
        return (try? encoder.encode(File(log: self))) ?? Data()
    }
}
