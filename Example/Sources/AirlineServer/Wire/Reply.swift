import Foundation

/// A response of an endpoint.
struct Reply: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body = Data()
    var delivery = Delivery.answer
    /// More information, for the event log.
    var note: String?
    /// The number of the access token in the request.
    var token: Int?

    enum Delivery: Sendable {
        case answer
        /// Send the head and the body, and then more, until the client
        /// disconnects.
        case endless
        /// Send a body that is made while it is sent, in chunks if its length
        /// isn't known.
        ///
        /// The closure returns the next part, or `nil` at the end; an error
        /// closes the connection.
        case stream(length: Int?, @Sendable () async throws -> Data?)
        /// Close the connection without a byte.
        case hangUp
        /// Send nothing, and keep the connection open.
        case silence
    }
}

extension Reply {
    static func json(_ value: some Encodable, status: Int = 200) -> Reply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Reply(
                status: status,
                headers: [("Content-Type", "application/json")],
                body: try encoder.encode(value)
            )
        } catch {
            return .text("The response could not be encoded.", status: 500)
        }
    }

    static func text(_ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8") -> Reply {
        Reply(status: status, headers: [("Content-Type", contentType)], body: Data(text.utf8))
    }

    static func redirect(to location: String, status: Int) -> Reply {
        Reply(status: status, headers: [("Location", location)])
    }

    /// With the header fields that RFC 6749 §5.1 requires for every response
    /// with a token.
    func uncacheable() -> Reply {
        var reply = self
        reply.headers += [("Cache-Control", "no-store"), ("Pragma", "no-cache")]
        return reply
    }

    /// With an `ETag` of the body; a 304 without a body if the client has that
    /// version.
    func validated(for call: Call) -> Reply {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in body {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        let tag = "\"\(String(hash, radix: 16))\""
        var reply = self
        reply.headers.append(("ETag", tag))
        let known = call.header("If-None-Match")?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if let known, known.contains(tag) || known == ["*"] {
            reply.status = 304
            reply.headers = [("ETag", tag), ("Content-Length", String(body.count))]
            reply.body = Data()
        }
        return reply
    }
}
