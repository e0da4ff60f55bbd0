import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The one error type")
struct AtomErrorTests {
    private static let decoding = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "No."))

    @Test("Every error tells how far the request got")
    func delivery() {
        let table: [(AtomError, AtomError.Delivery)] = [
            (.decoder(Self.decoding), .answered), (.requestable(.invalidURL), .notSent),
            (.response(AtomResponse(statusCode: 500)), .answered), (.unexpected, .maybeSent),
            (.cancelled(.notSent), .notSent), (.cancelled(.maybeSent), .maybeSent), (.cancelled(.answered), .answered),
            (.session(URLError(.timedOut)), .maybeSent), (.session(CocoaError(.fileNoSuchFile)), .maybeSent),
            (.session(URLError(.timedOut, "late", delivery: .notSent)), .notSent),
            (.session(URLError(.timedOut, "late", delivery: .answered)), .answered),
            (.session(URLError(.timedOut, "late", delivery: .answered).delivered(.notSent)), .notSent),
        ]
        for (error, delivery) in table {
            #expect(error.delivery == delivery, "\(error)")
        }
    }

    @Test("400 and 401 have a name, and only as the server's answer")
    func namedStatuses() {
        for status in 100...599 {
            let error = AtomError.response(AtomResponse(statusCode: status))
            #expect(error.isAuthorizationFailure == (status == 401))
            #expect(error.isBadRequest == (status == 400))
            #expect(!error.isCancelled)
        }
        for error in [
            AtomError.unexpected, .cancelled(.answered), .requestable(.invalidURL), .session(URLError(.badURL)),
        ] {
            #expect(!error.isAuthorizationFailure)
            #expect(!error.isBadRequest)
        }
        #expect(AtomError.cancelled(.notSent).isCancelled)
        #expect(!AtomError.session(URLError(.cancelled)).isCancelled)
    }

    @Test("A description is a sentence that says what happened")
    func descriptions() {
        let table: [(AtomError, [String])] = [
            (.requestable(.invalidBaseURL), ["Invalid base URL"]),
            (.requestable(.invalidURLPath(.init(subject: "a", reason: "b"))), ["Invalid URL path", "“a”", "b"]),
            (.response(AtomResponse(data: Data([1]), statusCode: 404)), ["404", "Not Found", "1 bytes"]),
            (.cancelled(.notSent), ["cancelled", "before it was sent"]), (.cancelled(.maybeSent), ["cancelled"]),
            (.unexpected, ["unexpected"]),
            (
                .session(URLError(.cannotFindHost, "No server with this name was found", delivery: .notSent)),
                ["No server with this name was found"]
            ),
            (.session(CocoaError(.fileNoSuchFile)), ["exchange failed", "CocoaError"]),
            (.decoder(Self.decoding), ["could not be decoded"]),
        ]
        for (error, words) in table {
            for word in words { #expect(error.description.contains(word)) }
            #expect(error.description.hasSuffix("."))
            #expect(!error.description.hasSuffix(".."))
            #expect(error.errorDescription == error.description)
            #expect(error.localizedDescription == error.description)
            #expect(error.debugDescription == error.description)
            #expect("\(error)" == error.description)
        }
    }

    @Test("Every reason for a refusal names the part at fault")
    func refusals() {
        let violation = RequestableError.Violation(subject: "it", reason: "that is so")
        let table: [(RequestableError, String)] = [
            (.invalidBaseURL(violation), "base URL"), (.invalidURL(violation), "URL"),
            (.invalidURLPath(violation), "URL path"), (.invalidMethod(violation), "method"),
            (.invalidHeader(violation), "header field"), (.invalidBody(violation), "body"),
            (.invalidCredential(violation), "credential"), (.invalidTimeout(violation), "timeout"),
            (.unsupportedConfiguration(violation), "configuration"),
        ]
        for (error, part) in table {
            #expect(error.violation == violation)
            #expect(error.description.contains("\(part) “it”: that is so."))
            #expect(error.errorDescription == error.description)
            #expect(AtomError.requestable(error).description == error.description)
        }
        #expect(Set(table.map(\.0)).count == table.count)
        #expect(RequestableError.invalidURL.description == "Invalid URL.")
    }

    @Test("The cause of a session error is kept")
    func cause() throws {
        struct Broken: Error, Equatable {}
        let failure = TransportFailure(Broken(), delivery: .notSent)
        let error = failure.urlError(delivery: failure.delivery)
        #expect(error.code == .unknown)
        #expect(error.delivery == .notSent)
        #expect(error.userInfo[NSUnderlyingErrorKey] is Broken)
        #expect(AtomError.session(error).description.contains("Broken"))

        let original = URLError(.networkConnectionLost, userInfo: ["key": "value"])
        let kept = TransportFailure(original).urlError(delivery: .maybeSent)
        #expect(kept.code == .networkConnectionLost)
        #expect(kept.userInfo["key"] as? String == "value")
        #expect(TransportFailure(original).delivery == .maybeSent)
    }
}

@Suite("The body of an error")
struct ErrorBodyTests {
    private struct Problem: Decodable, Equatable {
        var errorCode: String
    }

    private static func error(_ body: String, decoder: JSONDecoder? = nil) -> AtomError {
        .response(
            AtomResponse(
                data: Data(body.utf8), statusCode: 422, headerFields: HeaderFields(), address: nil, decoder: decoder))
    }

    @Test("It is read by the service's own rules")
    func configuredDecoder() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let error = Self.error(#"{"error_code":"seat_taken"}"#, decoder: decoder)
        #expect(try error.decodeIfPresent(as: Problem.self) == Problem(errorCode: "seat_taken"))
        #expect(
            try Self.error(#"{"errorCode":"x"}"#).decodeIfPresent(as: Problem.self) == Problem(errorCode: "x"))
        #expect(try Self.error("raw").decodeIfPresent(as: Data.self) == Data("raw".utf8))
    }

    @Test("No body and every other error are nil")
    func absent() throws {
        let others: [AtomError] = [
            Self.error(""), .unexpected, .cancelled(.notSent), .requestable(.invalidURL), .session(URLError(.timedOut)),
            .decoder(.dataCorrupted(.init(codingPath: [], debugDescription: ""))),
        ]
        for error in others {
            #expect(try error.decodeIfPresent(as: Problem.self) == nil)
        }
    }

    @Test("A body that is something else is a decoder error", arguments: ["<html>", "{}", "[]", "null"])
    func something(_ body: String) {
        #expect {
            try Self.error(body).decodeIfPresent(as: Problem.self)
        } throws: { error in
            if case AtomError.decoder = error { true } else { false }
        }
    }
}
