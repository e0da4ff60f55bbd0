import Foundation
import Testing

@testable import AtomNetworking

@Suite("Decoding the expected type", .limited)
struct ResponseDecoderTests {
    private struct Flight: Codable, Equatable, Sendable {
        var number: Int
        var seats: [Seat]?
    }
    private struct Seat: Codable, Equatable, Sendable {
        var row: Int
        var letter: String
    }

    private static func decode<T: Decodable>(
        _ type: T.Type, _ body: String, status: Int = 200, with decoder: JSONDecoder = JSONDecoder()
    ) throws(AtomError) -> T {
        try ResponseDecoder.decode(
            type, from: AtomResponse(data: Data(body.utf8), statusCode: status), with: decoder)
    }

    private static func failure<T: Decodable>(
        _ type: T.Type, _ body: String, with decoder: JSONDecoder = JSONDecoder()
    ) -> String {
        do {
            _ = try decode(type, body, with: decoder)
            Issue.record("It was decoded")
            return ""
        } catch {
            return error.description
        }
    }

    private static func failure<T: Decodable>(_ type: T.Type, of response: AtomResponse) -> String? {
        do {
            _ = try ResponseDecoder.decode(type, from: response, with: JSONDecoder())
            return nil
        } catch {
            return error.description
        }
    }

    @Test("A model, an array of models and a fragment are decoded with the decoder given")
    func models() throws {
        let flight = Flight(number: 7, seats: [Seat(row: 1, letter: "A")])
        let body = #"{"number":7,"seats":[{"row":1,"letter":"A"}]}"#
        #expect(try Self.decode(Flight.self, body) == flight)
        #expect(try Self.decode([Flight].self, "[\(body),\(body)]") == [flight, flight])
        #expect(try Self.decode([Flight].self, "[]") == [])
        #expect(try Self.decode([String: Int].self, #"{"a":1}"#) == ["a": 1])
        #expect(try Self.decode(Int.self, "42") == 42)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try Self.decode(Flight.self, #"{"_number":1,"number":7}"#, with: decoder).number == 7)
    }

    @Test("What is expected is said in the words of JSON")
    func words() {
        #expect(Self.failure([Flight].self, "{}").contains("decoded: The value can't be read as a list."))
        #expect(Self.failure(Flight.self, "[]").contains("The value can't be read as an object."))
        #expect(Self.failure(Flight.self, #"{"number":"x"}"#).contains("at “number”: The value can't be read as Int."))
        let response = AtomResponse(
            data: Data("{}".utf8), statusCode: 200,
            headerFields: HeaderFields([.init(name: "Content-Type", value: "application/json")]))
        do {
            _ = try ResponseDecoder.decode(String.self, from: response, with: JSONDecoder())
            Issue.record("It was decoded")
        } catch {
            #expect(error.description.contains("The value can't be read as String. String.self is the text only of"))
        }
        let remedy = "expect a Decodable type, or Data.self, and write String(decoding: data, as: UTF8.self). In: "
        let fields = HeaderFields(["Content-Type": "application/json"])
        for body in ["{}", "[", "7"] {
            let response = AtomResponse(data: Data(body.utf8), statusCode: 200, headerFields: fields)
            for failure in [Self.failure(String.self, of: response), Self.failure(String?.self, of: response)] {
                #expect(failure?.contains(remedy) == true, "\(body): \(failure ?? "")")
            }
        }
        #expect(!Self.failure([String].self, "{}").contains("String(decoding:"))
        #expect(Self.failure(Flight.self, #"{"number":null}"#).contains("The value is null, but Int is expected."))
    }

    @Test("A date that is a text, where the decoder reads numbers, names the strategy")
    func dates() {
        struct Departure: Decodable { let time: Date }
        let body = #"{"time":"2026-05-01T12:00:00Z"}"#
        let words = """
            at “time”: The value can't be read as Double, or as a date in numbers: it is a string. \
            For a date, set decoder.dateDecodingStrategy.
            """
        let decoder = JSONDecoder()
        for strategy in [
            JSONDecoder.DateDecodingStrategy.deferredToDate, .secondsSince1970, .millisecondsSince1970,
        ] {
            decoder.dateDecodingStrategy = strategy
            #expect(Self.failure(Departure.self, body, with: decoder).contains(words))
            #expect(!Self.failure(Departure.self, #"{"time":{}}"#, with: decoder).contains("Strategy"))
        }
        // Then it is no date.
        decoder.dateDecodingStrategy = .iso8601
        #expect(Self.failure(Double.self, #""7""#, with: decoder).contains("The value can't be read as Double. In:"))
    }

    @Test("Data is the raw body", arguments: ["", "raw", "\"aGk=\"", "{}", "\0\u{1}"])
    func data(_ body: String) throws {
        #expect(try Self.decode(Data.self, body) == Data(body.utf8))
    }

    @Test("Optional data is nil without a body, and otherwise the raw body")
    func optionalData() throws {
        #expect(try Self.decode(Data?.self, "") == nil)
        #expect(try Self.decode(Data?.self, "raw") == Data("raw".utf8))
        #expect(try Self.decode(Data?.self, "\"aGk=\"") == Data("\"aGk=\"".utf8))
    }

    @Test("NoContent accepts every acceptable response", arguments: ["", "{}", "<html>", "null", "x"])
    func noContent(_ body: String) throws {
        #expect(try Self.decode(NoContent.self, body, status: 204) == NoContent())
    }

    @Test("An optional is nil without a body, and decoded with one")
    func optional() throws {
        #expect(try Self.decode(Flight?.self, "", status: 204) == nil)
        #expect(try Self.decode([Flight]?.self, "") == nil)
        #expect(try Self.decode(Flight?.self, "null") == nil)
        #expect(try Self.decode(Flight?.self, #"{"number":7}"#) == Flight(number: 7))
        let text = Self.failure(Optional<Flight>.self, "<html>")
        #expect(text.contains("could not be decoded"))
    }

    @Test("A model that needs a body fails without one, and the error names the remedy", arguments: [200, 204])
    func empty(_ status: Int) {
        #expect {
            try Self.decode(Flight.self, "", status: status)
        } throws: { error in
            guard case AtomError.decoder = error else { return false }
            let text = "\(error)"
            return text.contains("no body") && text.contains("\(status)") && text.contains("NoContent")
        }
        #expect(Self.failure([Flight].self, "").contains("no body"))
    }

    @Test(
        "A failure names the place, the problem and the shape of the body",
        arguments: [
            (#"{"number":7,"seats":[{"row":1,"letter":"A"},{"row":2}]}"#, ["letter", "seats[1]"]),
            (#"{"number":7,"seats":[{"row":"x","letter":"A"}]}"#, ["seats[0].row", "Int"]),
            (#"{"number":null}"#, ["number", "null", "Int"]),
            (#"{"seats":[]}"#, ["number", #"{"seats":[]}"#]),
            (#"[1]"#, ["[…]"]), ("not json", ["not valid JSON"]), ("{", ["not valid"]),
        ])
    func failure(_ body: String, says words: [String]) {
        let text = Self.failure(Flight.self, body)
        for word in words { #expect(text.contains(word)) }
        #expect(text.hasPrefix("The response could not be decoded"))
    }

    @Test("A place among unnamed values is named by its index")
    func indices() {
        #expect(Self.failure([[Int]].self, #"[[1],[2,"x"]]"#).contains("“[1][1]”"))
        #expect(Self.failure([Flight].self, #"[{"number":"x"}]"#).contains("“[0].number”"))
    }

    @Test("A description is bounded and harmless, whatever the server sends")
    func bounded() {
        let key = String(repeating: "k", count: 100_000)
        let bodies = [
            "{\"\(key)\":\"x\"}", "{\"a\\nb\\u001b[2J\":\"x\"}",
            "[" + String(repeating: "{\"a\":1},", count: 50_000) + "1]",
            String(repeating: "[", count: 400) + String(repeating: "]", count: 400),
            String(repeating: "x", count: 100_000),
        ]
        for body in bodies {
            let text = Self.failure([String: Int].self, body)
            #expect(text.count < 1_000)
            #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        }
    }

    @Test("The error keeps its kind and its coding path, for those who match it")
    func payload() {
        #expect {
            try Self.decode(Flight.self, #"{"number":7,"seats":[{"row":1}]}"#)
        } throws: { error in
            guard case AtomError.decoder(.keyNotFound(let key, let context)) = error else { return false }
            return key.stringValue == "letter" && context.codingPath.map(\.stringValue) == ["seats", "Index 0"]
                && context.debugDescription.hasSuffix(#"{"number":…,"seats":[{"row":…}]}"#)
        }
    }

    @Test("An error that a model throws by itself becomes a decoder error that keeps it")
    func foreign() {
        struct Refusal: Error, Equatable {}
        struct Refusing: Decodable {
            init(from decoder: any Decoder) throws { throw Refusal() }
        }
        #expect {
            try Self.decode(Refusing.self, "{}")
        } throws: { error in
            guard case AtomError.decoder(.dataCorrupted(let context)) = error else { return false }
            return context.underlyingError is Refusal
        }
    }

    @Test("No error and no underlying error contains Foundation's text about a value")
    func foundationsText() {
        struct Quoting: Decodable {
            init(from decoder: any Decoder) throws {
                let quote = NSError(domain: "NSCocoaErrorDomain", code: 3840, userInfo: ["Number": "hunter2"])
                throw DecodingError.dataCorrupted(
                    .init(codingPath: [], debugDescription: "hunter2", underlyingError: quote))
            }
        }
        #expect {
            try Self.decode(Quoting.self, "{}")
        } throws: { error in
            guard case AtomError.decoder(let decodingError) = error,
                case .dataCorrupted(let context) = decodingError, let underlying = context.underlyingError
            else { return false }
            let code = (underlying as NSError).code
            return code == 3840 && !"\(decodingError)\(underlying)".contains("hunter2")
        }
    }

    @Test("NoContent is written as an empty object")
    func encodedNoContent() throws {
        #expect(try JSONEncoder().encode(NoContent()) == Data("{}".utf8))
    }
}
