import AtomNetworkingTesting
import Foundation

/// An error response, with a JSON body that explains it.
///
/// ```json
/// {"code": "seat_taken", "message": "Seat 1A on AS100 is taken.", "fields": {"seat": "is taken"}}
/// ```
struct Problem: Error, Encodable {
    let status: Int
    let code: String
    let message: String
    /// The invalid fields of the request, with reasons.
    var fields: [String: String]?
    /// The value of `WWW-Authenticate`.
    var challenge: String?
    /// The value of `DPoP-Nonce` (RFC 9449 §8).
    var nonce: String?

    init(
        _ status: Int, _ code: String, _ message: String, fields: [String: String]? = nil, challenge: String? = nil,
        nonce: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.fields = fields
        self.challenge = challenge
        self.nonce = nonce
    }

    enum CodingKeys: CodingKey {
        case code, message, fields
    }

    var response: LoopbackServer.Response {
        let fields = [("WWW-Authenticate", challenge), ("DPoP-Nonce", nonce)]
        return fields.reduce(LoopbackServer.Response.encoding(self, status: status)) { response, field in
            field.1.map { response.adding(field.0, $0) } ?? response
        }
    }
}

extension LoopbackServer.Response {
    /// The value as JSON.
    static func encoding(
        _ value: some Encodable, status: Int = 200, headers: [(String, String)] = [],
        names: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys
    ) -> LoopbackServer.Response {
        guard let json = json(of: value, names) else { return .empty(500) }
        return .json(json, status: status, headers: headers)
    }

    /// The value as JSON that may be kept, or a 304 if the client has it already (RFC 9110 §13.1.2).
    static func encoding(
        _ value: some Encodable, freshFor seconds: Int, askedBy request: LoopbackServer.Request,
        names: JSONEncoder.KeyEncodingStrategy = .useDefaultKeys
    ) -> LoopbackServer.Response {
        guard let json = json(of: value, names) else { return .empty(500) }
        // FNV-1a.
        let digest = json.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let tag = "\"\(String(digest, radix: 16))\""
        let headers = [("Cache-Control", "max-age=\(seconds)"), ("ETag", tag)]
        let known = request.values(for: "If-None-Match").joined(separator: ",").split(separator: ",")
        let isKnown = known.contains { $0.trimmingCharacters(in: .whitespaces) == tag }
        return isKnown ? .empty(304, headers: headers) : .json(json, headers: headers)
    }

    private static func json(of value: some Encodable, _ names: JSONEncoder.KeyEncodingStrategy) -> String? {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = names
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension LoopbackServer.Request {
    func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// A number in the query.
    func query(_ name: String, default usual: Int, in range: ClosedRange<Int>) throws(Problem) -> Int {
        guard let text = query(name) else { return usual }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(
                422, "invalid_query", "\(name) must be from \(range.lowerBound) to \(range.upperBound).",
                fields: [name: "is not acceptable"])
        }
        return number
    }

    /// The body, read as JSON.
    func decoded<Value: Decodable>(_ type: Value.Type) throws(Problem) -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw Problem(422, "malformed_json", "The body is not the expected JSON.")
        }
    }

    /// What follows a scheme in `Authorization`.
    func credential(_ scheme: String) -> String? {
        guard let value = self["Authorization"], value.lowercased().hasPrefix(scheme.lowercased() + " ") else {
            return nil
        }
        return value.dropFirst(scheme.count).trimmingCharacters(in: .whitespaces)
    }

    /// The user name and the password of `Authorization: Basic` (RFC 7617 §2).
    var basicCredential: (name: String, secret: String)? {
        guard let data = credential("Basic").flatMap({ Data(base64Encoded: $0) }),
            let pair = String(data: data, encoding: .utf8), let colon = pair.firstIndex(of: ":")
        else { return nil }
        return (String(pair[..<colon]), String(pair[pair.index(after: colon)...]))
    }
}
