import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("What an error means for people", .limited)
struct SituationTests {
    private typealias Row = (AtomError, AtomError.Situation)

    private static let violation = RequestableError.Violation(subject: "it", reason: "that is so")
    private struct Own: Error {}

    private func status(_ code: Int?) -> AtomError { .response(AtomResponse(statusCode: code)) }

    private func oauth(_ code: Int) -> OAuthError {
        OAuthError(code: "x", explanation: nil, uri: nil, response: AtomResponse(statusCode: code))
    }

    private func refreshFailed(_ cause: any Error) -> AtomError {
        .authentication(.refreshFailed(cause: cause, retryAt: nil, delivery: .notSent))
    }

    private func notProvided(_ cause: any Error) -> AtomError {
        .authentication(.credentialNotProvided(cause: cause, retryAt: nil, delivery: .notSent))
    }

    private func notRead(_ cause: any Error) -> AtomError {
        .authentication(.credentialNotReadable(cause: cause, delivery: .notSent))
    }

    private func transfer(_ reason: TransferError.Reason, _ underlying: (any Error)? = nil) -> AtomError {
        .transfer(TransferError(reason, "x", delivery: .answered, underlying: underlying))
    }

    private func expect(_ table: [Row], _ location: SourceLocation = #_sourceLocation) {
        for (error, situation) in table {
            #expect(error.situation == situation, "\(error)", sourceLocation: location)
        }
    }

    @Test("A status means what a person can do about it")
    func statuses() {
        expect([
            (status(nil), .other), (status(400), .other), (status(401), .signInRequired), (status(402), .other),
            (status(403), .notAllowed), (status(404), .notFound),
            (status(408), .serverProblem), (status(409), .other), (status(410), .notFound), (status(422), .other),
            (status(424), .other), (status(425), .serverProblem), (status(426), .other), (status(429), .serverProblem),
            (status(451), .notAllowed), (status(499), .other), (status(500), .serverProblem),
            (status(503), .serverProblem), (status(599), .serverProblem), (status(600), .other),
        ])
    }

    @Test("Each code of a transport has a situation, and only what the app must mend is “other”")
    func codes() {
        let table: [AtomError.Situation: [URLError.Code]] = [
            .offline: [.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive],
            .unreachable: [
                .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost, .timedOut,
                .resourceUnavailable, .cannotLoadFromNetwork,
            ],
            .insecureConnection: [
                .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired,
            ],
            .secureConnectionRequired: [.appTransportSecurityRequiresSecureConnection],
            .serverProblem: [
                .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .httpTooManyRedirects, .redirectToNonExistentLocation, .zeroByteResource,
            ],
            .signInRequired: [.userAuthenticationRequired], .invalidInput: [.badURL, .unsupportedURL],
            .fileProblem: [
                .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotCreateFile, .cannotOpenFile,
                .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile, .cannotMoveFile,
            ],
            .cancelled: [.cancelled, .userCancelledAuthentication],
            .other: [.unknown, .dataLengthExceedsMaximum, .requestBodyStreamExhausted],
        ]
        for (situation, codes) in table { expect(codes.map { (.session(URLError($0)), situation) }) }
        let problems: [(WireProblem, AtomError.Situation)] = [
            (.badURL, .invalidInput), (.unknownHost, .unreachable), (.unknownProxy, .unreachable),
            (.refused, .unreachable), (.offline(.notConnectedToInternet), .offline),
            (.blocked, .secureConnectionRequired), (.timedOut, .unreachable), (.cancelled, .cancelled),
            (.lost, .unreachable), (.closedWithoutResponse, .unreachable), (.unprocessed, .unreachable),
            (.closedAtOnce(isSecure: true), .unreachable), (.lostAtOnce, .unreachable), (.truncatedHead, .unreachable),
            (.notHTTP(isSecure: true), .serverProblem), (.unreadableHead("x"), .serverProblem),
            (.unreadableResponse("x"), .serverProblem), (.truncatedBody, .unreachable),
            (.unreadableBody("x"), .serverProblem), (.insecure(.serverCertificateUntrusted, "x"), .insecureConnection),
            (.insecureLater("x"), .insecureConnection), (.proxy("x"), .unreachable),
            (.unusableProxy("x"), .invalidInput), (.other(.unknown, "x"), .other),
        ]
        expect(problems.map { (.session(URLError($0.code)), $1) })
    }

    @Test("A server for https that refuses plain HTTP needs a secure connection")
    func portForTLS() {
        for page in [
            "<h1>400 Bad Request</h1>The plain HTTP request was sent to HTTPS port",
            "Client sent an HTTP request to an HTTPS server.\n",
            "Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />",
            "Bad Request\r\nThis combination of host and port requires TLS.\r\n",
        ] {
            func error(_ address: String, _ status: Int, _ page: String) -> AtomError {
                .response(AtomResponse(data: Data(page.utf8), statusCode: status, url: URL(string: address)))
            }
            let refused = error("http://a.example:8443/x", 400, page)
            #expect(refused.situation == .secureConnectionRequired)
            #expect(refused.description.hasSuffix(" The port expects https."), "\(refused)")
            for other in [
                error("https://a.example/x", 400, page), error("http://a.example/x", 404, page),
                error("http://a.example/x", 400, "Use HTTPS"),
            ] {
                #expect(other.situation != .secureConnectionRequired && !other.description.contains("https."))
            }
        }
    }

    @Test("A 407 is a proxy's over plain HTTP, and the server's through TLS")
    func proxy() {
        func error(_ address: String) -> AtomError {
            .response(AtomResponse(data: Data("x".utf8), statusCode: 407, url: URL(string: address)))
        }
        let answer = "answered HTTP 407 Proxy Authentication Required, 1 bytes."
        #expect(
            error("http://a.example").description.hasPrefix(
                "A proxy \(answer) It wants a user name and a password, and has not asked the server."))
        #expect(error("https://a.example").description.hasPrefix("The server \(answer)"))
        #expect(error("http://a.example").situation == .unreachable)
        #expect(error("https://a.example").situation == .other)
    }

    @Test("Each refused request has a situation")
    func requests() throws {
        let violation = Self.violation
        expect([
            (.requestable(.invalidBaseURL(violation)), .invalidInput),
            (.requestable(.invalidURL(violation)), .invalidInput), (.requestable(.invalidURL), .invalidInput),
            (.requestable(.invalidURLPath(violation)), .invalidInput),
            (.requestable(.invalidHeader(violation)), .invalidInput),
            (.requestable(.invalidCredential(violation)), .invalidInput),
            (.requestable(.originNotAllowed(violation)), .invalidInput),
            (.requestable(.invalidMethod(violation)), .other), (.requestable(.invalidBody(violation)), .other),
            (.requestable(.invalidTimeout(violation)), .other),
            (.requestable(.unsupportedConfiguration(violation)), .other),
            (.requestable(.endpointFailed(violation, cause: Own())), .other),
            (.requestable(.endpointFailed(violation, cause: CocoaError(.fileReadNoSuchFile))), .fileProblem),
            (.requestable(.adapterFailed(violation, cause: Own())), .other),
            (.requestable(.adapterFailed(violation, cause: POSIXError(.ENOSPC))), .noSpace),
        ])
        let missing = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())/photo.jpg")
        let file = try #require(refusal { () throws(AtomError) in try FileSegment(url: missing) })
        expect([(.requestable(file), .fileProblem)])
        let link = try #require(
            refusal { () throws(AtomError) in try LinkedEndpoint("mailto:a@b.example", in: AtomResponse.success) })
        // Nobody has entered what a server has sent.
        expect([(.requestable(link), .serverProblem)])
    }

    @Test("A credential that may not be sent over plain HTTP means that the server needs a secure connection")
    func plainHTTP() throws {
        let plain = try BaseURL(scheme: .http, host: "api.example.com").origin
        let endpoint = try AuthorizationEndpoint(scheme: .http, host: "auth.example.com", path: "/token")
        expect([
            (AllowedOrigins.secure.refusal(of: plain, option: "x"), .secureConnectionRequired),
            (AllowedOrigins.only([]).refusal(of: plain, option: "x"), .invalidInput),
            (AllowedOrigins.refusal(of: endpoint), .secureConnectionRequired),
        ])
    }

    @Test("Each reason why a request could not be signed has a situation; a cause counts")
    func authentication() {
        expect([
            (.authentication(.missingCredential(delivery: .notSent)), .signInRequired),
            (.authentication(.refreshRejected(OAuthError(code: "invalid_grant"), delivery: .notSent)), .signInRequired),
            (
                .authentication(.refreshInterrupted(OAuthError(code: "invalid_grant"), delivery: .notSent)),
                .signInRequired
            ),
            (.authentication(.signedOut(delivery: .notSent)), .signInRequired),
            (.authentication(.tooManyRefreshes(retryAt: .distantFuture, delivery: .notSent)), .serverProblem),
            (.authentication(.waitedTooLong(delivery: .notSent)), .unreachable),
            (.authentication(.noSession(delivery: .notSent)), .other),
            (.authentication(.notSigned(cause: Own(), delivery: .notSent)), .other),
            (.authentication(.notSigned(cause: CocoaError(.fileReadNoPermission), delivery: .notSent)), .fileProblem),
            (.authentication(.credentialNotRevoked(cause: status(503), delivery: .notSent)), .serverProblem),
            (.authentication(.credentialNotRevoked(cause: status(404), delivery: .notSent)), .other),
            (.authentication(.credentialNotStored(cause: TokenStoreError.diskFull, delivery: .notSent)), .noSpace),
            (refreshFailed(status(503)), .serverProblem), (refreshFailed(status(401)), .other),
            (refreshFailed(status(407)), .unreachable), (refreshFailed(oauth(503)), .serverProblem),
            (refreshFailed(oauth(401)), .other), (refreshFailed(OAuthError(code: "x")), .other),
            (refreshFailed(AtomError.session(URLError(.timedOut))), .unreachable),
            (refreshFailed(TokenResponseError("x")), .serverProblem), (refreshFailed(Own()), .other),
            (refreshFailed(TokenStoreError.readOnly), .fileProblem), (refreshFailed(CancellationError()), .cancelled),
            (notProvided(CancellationError()), .cancelled), (notProvided(Own()), .signInRequired),
            (notProvided(status(401)), .signInRequired), (notProvided(URLError(.timedOut)), .signInRequired),
            (notProvided(AtomError.session(URLError(.notConnectedToInternet))), .offline),
        ])
    }

    @Test("Each error of a token store has a situation")
    func stores() {
        expect([
            (notRead(TokenStoreError.corrupt("x", keptAt: nil)), .signInRequired),
            (notRead(TokenStoreError.newerFormat(version: 9)), .fileProblem),
            (notRead(TokenStoreError.lockTimedOut(.seconds(1))), .fileProblem),
            (notRead(TokenStoreError.diskFull), .noSpace), (notRead(TokenStoreError.readOnly), .fileProblem),
            (notRead(TokenStoreError.refused("x")), .fileProblem),
            (notRead(TokenStoreError.locked), .other), (notRead(TokenStoreError.overtaken), .other),
            (notRead(TokenStoreError.missingEntitlement), .other),
            (notRead(TokenStoreError.refused("a; \(TokenStoreError.signInAgain)")), .signInRequired),
            (notRead(TokenStoreError.system(operation: "open", code: 5)), .fileProblem),
            (notRead(TokenStoreError.system(operation: "SecItemCopyMatching", code: -50)), .other),
            (notRead(Own()), .other), (notRead(AtomError.session(URLError(.cannotFindHost))), .unreachable),
            (notRead(URLError(.timedOut)), .unreachable), (notRead(POSIXError(.EACCES)), .fileProblem),
            (notRead(POSIXError(.EDQUOT)), .noSpace), (notRead(POSIXError(.EAGAIN)), .other),
            (notRead(CocoaError(.fileWriteOutOfSpace)), .noSpace),
            (notRead(CocoaError(.fileWriteVolumeReadOnly)), .fileProblem),
            (notRead(CocoaError(.coderReadCorrupt)), .other),
        ])
    }

    @Test("Each reason of a transfer, and all other errors, have a situation")
    func others() {
        let decoding = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "No."))
        expect([
            (transfer(.bodyNotRepeatable), .other), (transfer(.bodyFailed), .other),
            (transfer(.bodyFailed, Own()), .other), (transfer(.bodyFailed, POSIXError(.ENOENT)), .fileProblem),
            (transfer(.bodyLengthChanged), .fileProblem), (transfer(.destinationUnusable), .fileProblem),
            (transfer(.noSpace), .noSpace), (transfer(.writingFailed), .fileProblem),
            (transfer(.incompleteResponse), .serverProblem), (transfer(.tooLarge), .other),
            (transfer(.unexpectedMediaType), .serverProblem), (transfer(.notUTF8), .serverProblem),
            (transfer(.repeatedPage), .serverProblem),
            (.cancelled(.notSent), .cancelled), (.decoder(decoding), .other), (.unexpected, .other),
            (.session(CocoaError(.fileNoSuchFile)), .other),
        ])
    }
}

@Suite("The sentences for people", .limited)
struct SentenceForPeopleTests {
    private static let situations: [AtomError.Situation] = [
        .offline, .unreachable, .insecureConnection, .secureConnectionRequired, .serverProblem, .signInRequired,
        .notAllowed, .notFound, .invalidInput, .fileProblem, .noSpace, .cancelled, .other,
    ]
    private static let languages = ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "zh"]

    @Test("Each is short, and nothing but a sentence, in each language")
    func sentences() {
        for situation in Self.situations {
            #expect(situation.description.utf8.count < 50 && situation.description(in: ["en"]) == "\(situation)")
            let texts = Self.languages.map { situation.description(in: [$0]) }
            #expect(Set(texts).count == Self.languages.count, "\(texts)")
            for text in texts {
                #expect(text.hasSuffix(".") || text.hasSuffix("。"), "\(text)")
                #expect(text.count < 75 && !text.contains("\n"), "\(text)")
            }
        }
        for language in Self.languages {
            let texts = Self.situations.map { $0.description(in: [language]) }
            #expect(Set(texts).count == Self.situations.count, "\(texts)")
        }
    }

    @Test("The first language that there is decides, with any region")
    func choice() {
        let table: [([String], String)] = [
            ([], "You are offline."), (["en-001"], "You are offline."), (["xx", "nl-BE"], "You are offline."),
            (["nl", "de"], "Sie sind offline."), (["en", "de"], "You are offline."), (["DE"], "Sie sind offline."),
            (["de-CH-1996"], "Sie sind offline."), (["de_AT.UTF-8"], "Sie sind offline."),
            (["fr@euro"], "Vous êtes hors ligne."), (["C.UTF-8", "fr"], "Vous êtes hors ligne."),
            (["", "-"], "You are offline."),
            (["pt-PT"], "Sem acesso à internet."), (["zh"], "当前没有网络连接。"), (["zh-Hans-HK"], "当前没有网络连接。"),
            (["zh_CN"], "当前没有网络连接。"), (["zh-Hant", "ja"], "インターネットに接続されていません。"),
            (["zh-TW", "ja"], "インターネットに接続されていません。"), (["zh-HK"], "You are offline."),
        ]
        for (languages, text) in table {
            #expect(AtomError.Situation.offline.description(in: languages) == text, "\(languages)")
        }
    }

    @Test("Only whose session has ended has to sign in again")
    func again() {
        let refused = OAuthError(code: "invalid_grant")
        for error: AuthenticationError in [
            .refreshRejected(refused, delivery: .notSent), .refreshInterrupted(refused, delivery: .notSent),
        ] {
            #expect(error.localizedDescription == "You have to sign in again.")
            #expect(AtomError.authentication(error).localizedDescription == "You have to sign in again.")
            #expect((AtomError.authentication(error) as NSError).localizedDescription == "You have to sign in again.")
        }
        for error: AtomError in [
            .authentication(.missingCredential(delivery: .notSent)), .response(AtomResponse(statusCode: 401)),
            .authentication(.signedOut(delivery: .notSent)),
        ] {
            #expect(error.situation == .signInRequired && error.localizedDescription == "You have to sign in.")
        }
        let sentence = SentenceForPeople(.signInRequired, again: true)
        for language in Self.languages where language != "en" {
            let text = sentence.text(in: [language])
            #expect(text != sentence.en && text != AtomError.Situation.signInRequired.description(in: [language]))
        }
    }

    @Test("An app's own table comes first, and its languages decide")
    func ownTable() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("de.lproj"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // For all languages, because on Linux Foundation looks into no other folder than that of the system's language.
        try Data("\"offline\" = \"Kein Netz.\";\n\"signInAgain\" = \"Bitte neu anmelden.\";\n".utf8)
            .write(to: folder.appendingPathComponent("AtomNetworking.strings"))
        let app = try #require(Bundle(path: folder.path))
        #expect(app.preferredLocalizations == ["de"])
        #expect(SentenceForPeople(.offline).text(for: app) == "Kein Netz.")
        #expect(SentenceForPeople(.signInRequired, again: true).text(for: app) == "Bitte neu anmelden.")
        #expect(SentenceForPeople(.signInRequired).text(for: app) == "Sie müssen sich anmelden.")
    }
}
