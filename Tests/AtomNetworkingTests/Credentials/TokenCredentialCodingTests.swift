import Foundation
import Testing

@testable import AtomNetworking

/// The type that Atom stores: a plain `Codable` type with three required keys.
private struct PlainCredential: Codable, Equatable {
    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case expiresAt = "expires_at"
        case refreshToken = "refresh_token"
    }

    var accessToken = "a"
    var expiresAt: Date
    var refreshToken = "r"
}

/// A way to encode and decode a value.
private struct Medium: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The smallest time difference that it preserves, in seconds.
    let resolution: Double
    let makeJSON: (@Sendable () -> (JSONEncoder, JSONDecoder))?
    let propertyListFormat: PropertyListSerialization.PropertyListFormat?

    func write(_ value: some Encodable) throws -> Data {
        if let makeJSON { return try makeJSON().0.encode(value) }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = try #require(propertyListFormat)
        return try encoder.encode(value)
    }

    func read<T: Decodable>(_ type: T.Type = T.self, from data: Data) throws -> T {
        if let makeJSON { return try makeJSON().1.decode(type, from: data) }
        return try PropertyListDecoder().decode(type, from: data)
    }

    static func json(
        _ name: String, resolution: Double = 0, _ encoding: JSONEncoder.DateEncodingStrategy,
        _ decoding: JSONDecoder.DateDecodingStrategy
    ) -> Medium {
        Medium(testDescription: name, resolution: resolution) {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = encoding
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = decoding
            return (encoder, decoder)
        }
    }

    static func formatted(_ format: String, resolution: Double, zone: Int = 0) -> Medium {
        Medium(testDescription: "formatted \(format) \(zone)", resolution: resolution) {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: zone)
            formatter.dateFormat = format
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .formatted(formatter)
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .formatted(formatter)
            return (encoder, decoder)
        }
    }

    private init(
        testDescription: String, resolution: Double,
        propertyListFormat: PropertyListSerialization.PropertyListFormat? = nil,
        makeJSON: (@Sendable () -> (JSONEncoder, JSONDecoder))? = nil
    ) {
        self.testDescription = testDescription
        self.resolution = resolution
        self.propertyListFormat = propertyListFormat
        self.makeJSON = makeJSON
    }

    static let plain = json("deferredToDate", .deferredToDate, .deferredToDate)

    static let all: [Medium] = [
        plain,
        json("secondsSince1970", resolution: 0.001, .secondsSince1970, .secondsSince1970),
        json("millisecondsSince1970", resolution: 0.001, .millisecondsSince1970, .millisecondsSince1970),
        json("iso8601", resolution: 1, .iso8601, .iso8601),
        formatted("yyyy-MM-dd'T'HH:mm:ss.SSSZZZZZ", resolution: 0.001),
        formatted("yyyy-MM-dd HH:mm:ss", resolution: 1, zone: -28_800),
        formatted("yyyyMMddHHmmss", resolution: 1, zone: 7_200),
        formatted("yyyy-MM-dd", resolution: 86_400, zone: -28_800),
        json(
            "custom text", .custom { try "at \($0.timeIntervalSinceReferenceDate)".encode(to: $1) },
            .custom {
                let text = try String(from: $0)
                guard text.hasPrefix("at "), let seconds = Double(text.dropFirst(3)) else {
                    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "No."))
                }
                return Date(timeIntervalSinceReferenceDate: seconds)
            }),
        json(
            "custom days", resolution: 0.001, .custom { try ($0.timeIntervalSince1970 / 86_400).encode(to: $1) },
            .custom { Date(timeIntervalSince1970: try Double(from: $0) * 86_400) }),
        json(
            "custom object", .custom { try ["at": $0.timeIntervalSinceReferenceDate].encode(to: $1) },
            .custom { Date(timeIntervalSinceReferenceDate: try [String: Double](from: $0)["at"] ?? 0) }),
        Medium(testDescription: "XML property list", resolution: 1, propertyListFormat: .xml),
        Medium(testDescription: "binary property list", resolution: 0, propertyListFormat: .binary),
    ]
}

@Suite("A stored credential can be read back, also by Atom", .limited)
struct TokenCredentialCodingTests {
    private static func credential(_ expiresAt: Date) -> TokenCredential {
        TokenCredential(accessToken: "a", expiresAt: expiresAt, refreshToken: "r")
    }

    /// Expired, current, and beyond every number that could be read as another
    /// unit.
    private static let dates = [0, 1_400_000_000, 1_790_000_000.25, 2_100_000_000, 2_400_000_000, 4_000_000_000]
        .map { Date(timeIntervalSince1970: $0) }

    @Test("What is written is read again", arguments: Medium.all)
    private func roundTrip(_ medium: Medium) throws {
        for date in Self.dates {
            let read: TokenCredential = try medium.read(from: medium.write(Self.credential(date)))
            #expect(abs(read.expiresAt.timeIntervalSince(date)) <= medium.resolution, "\(date)")
        }
        let full = TokenCredential(
            accessToken: "a", expiresAt: .distantFuture, refreshToken: "", scope: "s", tokenType: "Bearer", idToken: "i"
        )
        #expect(try medium.read(TokenCredential.self, from: medium.write(full)) == full)
    }

    @Test("A decoder that converts keys from snake case reads a token endpoint's answer, and what is written")
    func convertedKeys() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let answer = #"{"access_token":"a","expires_in":900,"refresh_token":"r","token_type":"Bearer","id_token":"i"}"#
        let read = try decoder.decode(TokenCredential.self, from: Data(answer.utf8))
        #expect(abs(read.expiresAt.timeIntervalSinceNow - 900) < 60)
        #expect([read.accessToken, read.refreshToken, read.tokenType, read.idToken] == ["a", "r", "Bearer", "i"])
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        for date in Self.dates {
            let written = try encoder.encode(Self.credential(date))
            #expect(try decoder.decode(TokenCredential.self, from: written) == Self.credential(date))
            #expect(try JSONDecoder().decode(TokenCredential.self, from: written) == Self.credential(date))
        }
        #expect(throws: DecodingError.self) { try decoder.decode(TokenCredential.self, from: Data("{}".utf8)) }
    }

    @Test("Atom reads what is written here", arguments: Medium.all)
    private func stepBack(_ medium: Medium) throws {
        for date in Self.dates + [.distantFuture] {
            let read: PlainCredential = try medium.read(from: medium.write(Self.credential(date)))
            #expect(abs(read.expiresAt.timeIntervalSince(date)) <= medium.resolution, "\(date)")
            #expect(read.accessToken == "a" && read.refreshToken == "r")
        }
    }

    @Test("What Atom wrote is read here", arguments: Medium.all)
    private func stepForward(_ medium: Medium) throws {
        for date in Self.dates.prefix(4) {
            let read: TokenCredential = try medium.read(from: medium.write(PlainCredential(expiresAt: date)))
            #expect(abs(read.expiresAt.timeIntervalSince(date)) <= medium.resolution, "\(date)")
        }
        let unknown: TokenCredential = try medium.read(from: medium.write(PlainCredential(expiresAt: .distantFuture)))
        #expect(unknown == Self.credential(.distantFuture))
        // Apps store this while no user is signed in.
        let past: TokenCredential = try medium.read(from: medium.write(PlainCredential(expiresAt: .distantPast)))
        #expect(past.expiresAt < Date(timeIntervalSince1970: 0))
    }

    @Test("A plain decoder reads what any strategy with a number or ISO 8601 text wrote")
    func otherStrategies() throws {
        let date = Date(timeIntervalSince1970: 1_790_000_000)
        for strategy in [
            JSONEncoder.DateEncodingStrategy.deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601,
        ] {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = strategy
            for expiry in [date, .distantFuture] {
                let data = try encoder.encode(Self.credential(expiry))
                #expect(try JSONDecoder().decode(TokenCredential.self, from: data) == Self.credential(expiry))
            }
        }
    }

    @Test("A decoder with a strategy reads what it can't read by it as a plain one does")
    func otherDecoders() throws {
        let date = Date(timeIntervalSince1970: 1_790_000_000)
        for strategy in [JSONDecoder.DateDecodingStrategy.iso8601, .formatted(DateFormatter())] {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = strategy
            for text in ["1790000000", #""1790000000""#, #""2026-09-21T14:13:20.000Z""#, "811692800", "1790000000000"] {
                let data = Data(#"{"access_token":"a","expires_at":\#(text),"refresh_token":"r"}"#.utf8)
                #expect(try decoder.decode(TokenCredential.self, from: data) == Self.credential(date), "\(text)")
            }
        }
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            for number in [1_790_000_000 as Any, 1_790_000_000.0, "1790000000", "2026-09-21T14:13:20Z"] {
                let members: [String: Any] = ["access_token": "a", "expires_at": number, "refresh_token": "r"]
                let data = try PropertyListSerialization.data(fromPropertyList: members, format: format, options: 0)
                #expect(try PropertyListDecoder().decode(TokenCredential.self, from: data) == Self.credential(date))
            }
        }
    }

    @Test("A strategy that isn't the default decides what a number means")
    func strategyWins() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let data = Data(#"{"access_token":"a","expires_at":1000000000,"refresh_token":"r"}"#.utf8)
        #expect(
            try decoder.decode(TokenCredential.self, from: data)
                == Self.credential(Date(timeIntervalSince1970: 1_000_000_000)))
    }

    @Test("A date that no calendar holds neither traps nor names a year", arguments: Medium.all)
    private func absurd(_ medium: Medium) throws {
        for seconds in [Double.infinity, .greatestFiniteMagnitude, 1e300, 1e17, 1e12] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let read: TokenCredential = try medium.read(from: medium.write(Self.credential(date)))
            #expect(read.expiresAt == .distantFuture, "\(seconds)")
        }
        for seconds in [-Double.infinity, -.greatestFiniteMagnitude, -1e17] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let read: TokenCredential = try medium.read(from: medium.write(Self.credential(date)))
            #expect(read.expiresAt < Date(timeIntervalSince1970: 0), "\(seconds)")
        }
    }

    @Test(
        "A number of any size is a time, unknown if it is too far, and never the year 4001 by mistake",
        arguments: [
            ("1790000000000", 1_790_000_000), ("1790000000500.0", 1_790_000_000.5),
            (#""1790000000000""#, 1_790_000_000),
            ("100000000001", 100_000_000.001), ("100000000000", nil), ("63113904000", nil),
            ("64092211200", nil), ("64092211200000", nil), ("1e17", nil), ("1e300", nil), ("-1e300", -62_135_769_600),
        ] as [(String, Double?)])
    func numbers(_ text: String, is seconds: Double?) throws {
        let data = Data(#"{"access_token":"a","expires_at":\#(text),"refresh_token":"r"}"#.utf8)
        let credential = try JSONDecoder().decode(TokenCredential.self, from: data)
        let expected = seconds.map { Date(timeIntervalSince1970: $0) } ?? .distantFuture
        #expect(abs(credential.expiresAt.timeIntervalSince(expected)) < 0.01)
    }

    @Test("Texts that stand for no number are no time, also where a decoder takes them for one")
    func nonConforming() {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        for text in ["inf", "-inf", "nan"] {
            let data = Data(#"{"access_token":"a","expires_at":"\#(text)","refresh_token":"r"}"#.utf8)
            #expect(throws: DecodingError.self) { try decoder.decode(TokenCredential.self, from: data) }
        }
    }
}
