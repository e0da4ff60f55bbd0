import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The one error type", .limited)
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

    @Test("isBadRequest and isAuthorizationFailure are true only for the server's response")
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

    /// Wraps a cause as a failed refresh or provider does.
    private static let wrappings: [@Sendable (any Error) -> AtomError] = [
        { .authentication(.refreshFailed(cause: $0, retryAt: nil, delivery: .notSent)) },
        { .authentication(.credentialNotProvided(cause: $0, retryAt: nil, delivery: .notSent)) },
        {
            .authentication(
                .credentialNotProvided(
                    cause: TokenCredentialProviderError.retryAfter(.zero, $0), retryAt: nil, delivery: .answered))
        },
        {
            let inner = AtomError.authentication(.refreshFailed(cause: $0, retryAt: nil, delivery: .notSent))
            return .authentication(.refreshFailed(cause: inner, retryAt: nil, delivery: .notSent))
        },
    ]

    @Test("400, 401 and the body are seen through a failed refresh and a provider", arguments: [400, 401, 503])
    func seenThrough(status: Int) throws {
        struct Problem: Decodable { let code: String }
        let answer = AtomResponse(data: Data(#"{"code":"hunter2"}"#.utf8), statusCode: status)
        for wrap in Self.wrappings {
            let error = wrap(AtomError.response(answer))
            #expect(error.isBadRequest == (status == 400))
            #expect(error.isAuthorizationFailure == (status == 401))
            #expect(error.isAccessTokenRefreshFailure)
            #expect(try error.decodeIfPresent(as: Problem.self)?.code == "hunter2")
            expectNone(of: everyRendering(of: error), toContain: "hunter2")
        }
    }

    @Test("A cause without a response has no status and no body")
    func opaque() throws {
        struct Other: Error {}
        for wrap in Self.wrappings {
            for cause in [Other(), AtomError.unexpected, OAuthError(code: "x")] as [any Error] {
                let error = wrap(cause)
                #expect(!error.isBadRequest && !error.isAuthorizationFailure)
                #expect(try error.decodeIfPresent(as: Data.self) == nil)
            }
        }
        let lost = AtomError.authentication(.credentialNotReadable(cause: Other(), delivery: .notSent))
        #expect(!lost.isBadRequest && !lost.isAuthorizationFailure)
    }

    @Test("The token endpoint's answer stays with its OAuth error, and is not shown", arguments: [400, 401])
    func tokenEndpoint(status: Int) throws {
        struct Problem: Decodable { let error: String, hint: String }
        let answer = AtomResponse(
            data: Data(#"{"error":"invalid_grant","hint":"hunter2"}"#.utf8), statusCode: status)
        let old = TokenCredential(accessToken: "a", expiresAt: .distantPast, refreshToken: "r")
        guard case .rejected(let oauth) = TokenResponse(answer, replacing: old, sentAt: Date()) else {
            throw Unexpected("not rejected")
        }
        for reason in [
            AuthenticationError.refreshRejected(oauth, delivery: .notSent),
            .refreshInterrupted(oauth, delivery: .notSent).delivered(.answered),
            .refreshFailed(cause: oauth, retryAt: nil, delivery: .notSent),
            .credentialNotProvided(cause: oauth, retryAt: nil, delivery: .notSent),
        ] {
            let error = AtomError.authentication(reason)
            #expect(error.isBadRequest == (status == 400))
            #expect(error.isAuthorizationFailure == (status == 401))
            #expect(try error.decodeIfPresent(as: Problem.self)?.hint == "hunter2")
            expectNone(of: everyRendering(of: error) + everyRendering(of: reason), toContain: "hunter2")
        }
        expectNone(of: everyRendering(of: oauth), toContain: "hunter2")
        #expect(Mirror(reflecting: oauth).children.map(\.label) == ["description"])
        #expect(oauth == OAuthError(code: "invalid_grant"))
        #expect(Set([oauth, OAuthError(code: "invalid_grant")]).count == 1)
        #expect(oauth != OAuthError(code: "invalid_grant", explanation: "x"))
    }

    @Test("As an NSError it has Atom's domain, codes that stay put, and no secret")
    func bridged() {
        let secret = AtomResponse(data: Data("hunter2".utf8), statusCode: 400)
        let table: [(AtomError, Int)] = [
            (.decoder(Self.decoding), 0), (.requestable(.invalidURL), 1), (.response(secret), 2),
            (.session(URLError(.timedOut)), 3), (.unexpected, 4), (.cancelled(.notSent), 5),
            (.authentication(.refreshFailed(cause: AtomError.response(secret), retryAt: nil, delivery: .notSent)), 6),
        ]
        for (error, code) in table {
            let bridged = error as NSError
            #expect(bridged.code == code)
            #expect(bridged.domain == "AtomNetworking.AtomError")
            #expect(bridged.localizedDescription == error.situation.description)
            #expect(bridged.userInfo["NSDebugDescription"] as? String == error.description)
            #expect(!"\(bridged) \(bridged.userInfo)".contains("hunter2"))
        }
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
            #expect(error.errorDescription == error.situation.description)
            #expect(error.localizedDescription == error.situation.description)
            #expect(error.debugDescription == error.description)
            #expect("\(error)" == error.description)
        }
    }

    @Test("A refresh has failed only where one was tried")
    func refreshFailures() {
        let failed: [AuthenticationError] = [
            .refreshRejected(OAuthError(code: "invalid_grant"), delivery: .notSent),
            .refreshFailed(cause: CancellationError(), retryAt: nil, delivery: .notSent),
        ]
        let others: [AtomError] = [
            .authentication(.missingCredential(delivery: .notSent)), .authentication(.signedOut(delivery: .notSent)),
            .authentication(.waitedTooLong(delivery: .notSent)), .response(AtomResponse(statusCode: 401)), .unexpected,
        ]
        #expect(failed.allSatisfy { AtomError.authentication($0).isAccessTokenRefreshFailure })
        #expect(!others.contains { $0.isAccessTokenRefreshFailure })
    }

    @Test("A full disk and a full quota are the same to who writes a file")
    func fullDisk() {
        for code in [ENOSPC, EDQUOT] {
            let error = TransferError("The file can't be written", writing: code)
            #expect(error.reason == .noSpace)
            #expect(error.description == "The file can't be written: the disk has no space left.")
        }
        #expect(TransferError("The file can't be written", writing: EACCES).reason == .writingFailed)
    }

    @Test("A failed token store says why")
    func storeErrors() {
        let kept = URL(fileURLWithPath: "/a/session.json.corrupt-1")
        let table: [(TokenStoreError, String)] = [
            (.corrupt("no JSON", keptAt: nil), "The stored credential can't be read (no JSON)."),
            (
                .corrupt("no JSON", keptAt: kept),
                "The stored credential can't be read (no JSON); the file was kept as session.json.corrupt-1."
            ),
            (
                .newerFormat(version: 3),
                "A newer version of the SDK wrote the stored credential, in format 3."
            ),
            (.diskFull, "The disk is full."),
            (.readOnly, "The token store can't be written: the disk or folder is read-only."),
            (.refused("it is a link"), "The token store can't be used: it is a link."),
            (.locked, "The token store is locked until the device has been unlocked once."),
            (.system(operation: "open", code: 5), "open failed with code 5 (\(String(cString: strerror(5))))."),
            (.system(operation: "SecItemAdd", code: -50), "SecItemAdd failed with code -50."),
        ]
        for (error, text) in table { #expect(error.description == text) }
        #expect(AtomError.authentication(.waitedTooLong(delivery: .notSent)).description.contains("timed out while it"))
    }

    @Test("Every reason for a refusal names the part at fault")
    func refusals() {
        let violation = RequestableError.Violation(subject: "it", reason: "that is so")
        let table: [(RequestableError, String)] = [
            (.invalidBaseURL(violation), "base URL"), (.invalidURL(violation), "URL"),
            (.invalidURLPath(violation), "URL path"), (.invalidMethod(violation), "method"),
            (.invalidHeader(violation), "header field"), (.invalidBody(violation), "body"),
            (.invalidCredential(violation), "credential"), (.invalidTimeout(violation), "timeout"),
            (.unsupportedConfiguration(violation), "configuration"), (.originNotAllowed(violation), "Refused origin"),
        ]
        for (error, part) in table {
            #expect(error.violation == violation)
            #expect(error.description.contains("\(part) “it”: that is so."))
            #expect(error.errorDescription == error.situation.description)
            #expect(AtomError.requestable(error).description == error.description)
        }
        #expect(Set(table.map(\.0)).count == table.count)
        for (index, (error, _)) in table.enumerated() {
            for (other, (second, _)) in table.enumerated() { #expect((error == second) == (index == other)) }
        }
        #expect(RequestableError.invalidURL.description == "Invalid URL.")
    }

    @Test("A reason equals its spelling without a payload")
    func sameReason() throws {
        let error = try #require(refusal { () throws(AtomError) in try URLPath("no slash") })
        #expect(error == .invalidURLPath)
        #expect(error != .invalidURL)
        #expect(error.hashValue == RequestableError.invalidURLPath.hashValue)
        #expect(error.violation != RequestableError.invalidURLPath.violation)
        #expect(RequestableError.invalidBaseURL(.init(reason: "a")) == .invalidBaseURL)
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

@Suite("The body of an error", .limited)
struct ErrorBodyTests {
    private struct Problem: Decodable, Equatable {
        var errorCode: String
    }

    private static func error(_ body: String, decoder: JSONDecoder? = nil) -> AtomError {
        .response(
            AtomResponse(
                data: Data(body.utf8), statusCode: 422, headerFields: HeaderFields(), address: nil,
                decoder: decoder.map { ResponseDecoder($0, on: SystemTimeSource()) }))
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

    @Test("A model with its own keys is decoded where the service's decoder would convert them")
    func plainSecond() throws {
        struct Explicit: Decodable, Equatable {
            enum CodingKeys: String, CodingKey { case errorCode = "error_code" }
            var errorCode: String
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let error = Self.error(#"{"error_code":"seat_taken"}"#, decoder: decoder)
        #expect(try error.decodeIfPresent(as: Explicit.self) == Explicit(errorCode: "seat_taken"))
        #expect(try error.decodeIfPresent(as: Problem.self) == Problem(errorCode: "seat_taken"))
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

    @Test("A body that is something else is a DecodingError, as with Atom", arguments: ["<html>", "{}", "[]", "null"])
    func something(_ body: String) {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        for error in [Self.error(body), Self.error(body, decoder: decoder)] {
            #expect(throws: DecodingError.self) { try error.decodeIfPresent(as: Problem.self) }
        }
    }

    @Test("The error response of an authorization server is read from the error of a sign-in")
    func oauthError() throws {
        func failure(_ body: String) -> AtomError { .response(AtomResponse(data: Data(body.utf8), statusCode: 400)) }
        let refused = failure(#"{"error":"invalid_grant","error_description":"The password is wrong.","x":1}"#)
        #expect(
            try refused.decodeIfPresent(as: OAuthError.self)
                == OAuthError(code: "invalid_grant", explanation: "The password is wrong."))
        #expect(
            try failure(#"{"error":"x","error_uri":"https://a.example/e?token=1"}"#)
                .decodeIfPresent(as: OAuthError.self)?.uri == "https://a.example/e?token=…")
        #expect(throws: DecodingError.self) { try failure(#"{"code":"x"}"#).decodeIfPresent(as: OAuthError.self) }
        #expect(refused.response?.statusCode == 400)
        #expect(AtomError.unexpected.response == nil)
    }
}
