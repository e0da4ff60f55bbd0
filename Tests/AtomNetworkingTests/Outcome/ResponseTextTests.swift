import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite("Text, answers and what isn't JSON", .limited)
struct ResponseTextTests {
    private struct Seat: Model, Equatable { let row: Int }

    private struct Endpoint: Requestable {
        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
    }

    private static func response(_ body: [UInt8], _ type: String?) -> AtomResponse {
        var fields = HeaderFields()
        if let type { fields.append(name: "Content-Type", value: type) }
        return AtomResponse(data: Data(body), statusCode: 200, headerFields: fields)
    }

    private static func text(_ body: [UInt8], _ type: String?) throws(AtomError) -> String {
        try response(body, type).decode(String.self)
    }

    private static func failure<T: Decodable>(_ type: T.Type, _ body: String, _ mediaType: String?) -> String {
        do {
            let value = try response(Array(body.utf8), mediaType).decode(type)
            Issue.record("\(value)")
            return ""
        } catch {
            return error.description
        }
    }

    @Test("A text is decoded in the charset of its media type, UTF-8 by default")
    func charsets() throws {
        let utf8 = Array("gr\u{FC}n".utf8)
        #expect(try Self.text(utf8, "text/plain") == "gr\u{FC}n")
        #expect(try Self.text(utf8, "text/plain; charset=UTF-8") == "gr\u{FC}n")
        #expect(try Self.text(utf8, nil) == "gr\u{FC}n")
        #expect(try Self.text([0xEF, 0xBB, 0xBF] + utf8, "text/csv") == "gr\u{FC}n")
        #expect(try Self.text([0x67, 0xFC], "text/plain;format=flowed; Charset=\"ISO-8859-1\"") == "g\u{FC}")
        #expect(try Self.text([0x80], "text/plain; charset=windows-1252") == "\u{20AC}")
        #expect(try Self.text([0x61], "text/plain; charset=us-ascii") == "a")
        #expect(try Self.text([0xFE, 0xFF, 0, 0x61], "text/plain; charset=utf-16") == "a")
        #expect(try Self.text([0xFF, 0xFE, 0x61, 0], "text/plain; charset=utf-16") == "a")
        #expect(try Self.text([0x61, 0], "text/plain; charset=utf-16le") == "a")
        #expect(try Self.text([0, 0x61], "text/plain; charset=UTF-16BE") == "a")
        #expect(try Self.text(Array("<p>x</p>".utf8), "text/html") == "<p>x</p>")
        #expect(try Self.text([], "text/plain") == "")
        #expect(try Self.response([], "text/plain").decode(String?.self) == nil)
        #expect(try Self.response([0x61], "text/plain").decode(String?.self) == "a")
    }

    @Test("A parameter that is quoted may contain semicolons and escaped characters (RFC 9110 §5.6.4)")
    func quotedParameters() throws {
        for type in [
            #"text/plain; charset="\i\so-8859-1""#, #"text/plain; title="a;charset=utf-8"; charset=iso-8859-1"#,
            #"text/plain; title="\"; charset=utf-8; \""; charset="iso-8859-1""#,
        ] {
            #expect(try Self.text([0x67, 0xFC], type) == "g\u{FC}")
        }
        #expect(Self.failure(String.self, "a", #"text/plain; charset=";charset=utf-8"#).contains("charset"))
        // Not a look back at each quotation mark.
        for quotes in ["; ", "; a=", "; a=\"\\"] {
            let type = "text/plain" + quotes + String(repeating: "\"", count: 200_000)
            #expect(try Self.text([0x61], type) == "a")
        }
    }

    @Test("A string in JSON is decoded, and so is one without a media type")
    func json() throws {
        let body = Array(#""a\nb""#.utf8)
        for type in ["application/json", "application/problem+json; charset=utf-8", nil] {
            #expect(try Self.text(body, type) == "a\nb")
        }
        #expect(try Self.text(body, "text/plain") == #""a\nb""#)
        #expect(Self.failure(String.self, "a", "application/json").contains("could not be decoded"))
        #expect(Self.failure(String.self, "", nil).contains("no body"))
    }

    @Test("Text that isn't valid in its charset, and an unknown charset, are decoder errors")
    func invalidText() {
        for (body, type, words) in [
            ([0xFF], "text/plain", "not valid"), ([0x80], "text/plain; charset=us-ascii", "not valid"),
            ([0x61], "text/plain; charset=ebcdic", "not supported"),
        ] as [([UInt8], String, String)] {
            do {
                let text = try Self.text(body, type)
                Issue.record("\(text)")
            } catch {
                guard case .decoder = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(error.description.contains(words), "\(error.description)")
            }
        }
    }

    @Test("HTML and XML are named instead of outlined")
    func markup() {
        let html = "The response could not be decoded: The response is HTML, not JSON."
        #expect(Self.failure(Seat.self, "<html><body>a,b,c</body></html>", "text/html; charset=utf-8") == html)
        #expect(Self.failure(Seat.self, "\n <!DOCTYPE html>", "application/json") == html)
        #expect(Self.failure([Seat].self, "Bad gateway", "text/html") == html)
        #expect(Self.failure(DecodedResponse<Seat>.self, "<p>", nil) == html)
        #expect(Self.failure(Seat.self, "<?xml version='1.0'?>", nil).contains("The response is XML, not JSON."))
        #expect(Self.failure(Seat.self, "<a/>", "application/atom+xml").contains("XML, not JSON"))
        #expect(!Self.failure(Seat.self, "{}", "text/html").contains("HTML"))
        #expect(!Self.failure(Seat.self, "x<", "application/json").contains("HTML"))
    }

    @Test("A response decodes its body with the decoder of its service")
    func decoderOfService() async throws {
        struct Snake: Decodable { let seatRow: Int }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        var configuration = ServiceConfiguration(decoder: decoder)
        configuration.transport = ScriptedTransport.held { $0.answer(#"{"seat_row":7}"#) }
        let response = try await Atom(serviceConfiguration: configuration).enqueue(Endpoint()).resume()
        #expect(try response.decode(Snake.self).seatRow == 7)
        #expect(try AtomResponse(data: Data("[1]".utf8), statusCode: 200).decode([Int].self) == [1])
        #expect(throws: AtomError.self) { try response.decode([Int].self) }
    }

    @Test("A decoded response is the model with its response, also from a completion")
    func answers() async throws {
        var configuration = ServiceConfiguration()
        configuration.transport = ScriptedTransport.held {
            $0.answer(#"{"row":1}"#, status: 201, headers: [("ETag", "x")])
        }
        let service = Atom(serviceConfiguration: configuration).enqueue(Endpoint())
        let answer = try await service.resume(decoding: Seat.self)
        #expect(answer.model == Seat(row: 1))
        #expect(answer.response.statusCode == 201)
        #expect(answer.response.headerFields["etag"] == "x")
        #expect(answer.response.data == Data(#"{"row":1}"#.utf8))
        #expect(try await service.resume(decoding: NoContent.self).response.statusCode == 201)
        #expect(try await service.resume(decoding: Data.self).model == answer.response.data)
        let delivered = await withCheckedContinuation { continuation in
            service.resume(expecting: DecodedResponse<Seat?>.self) { continuation.resume(returning: $0) }
        }
        #expect(try delivered.get().model == Seat(row: 1))
        #expect(try delivered.get() == DecodedResponse(model: Seat(row: 1), response: answer.response))
    }
}
