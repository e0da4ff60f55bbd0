import Foundation
import Testing

@testable import AtomNetworking
@testable import AtomNetworkingExports

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Secrets are planted everywhere, and looked for in all that observers, the
/// commands and the file show.
@Suite(.limited) struct ExportedSecretsTests {
    /// In everything that is a credential by its name.
    private static let credential = "planted-credential"
    /// In everything else that may be secret.
    private static let value = "planted-value"

    private let observer = RecordingObserver()
    private let recorder = HARRecorder()
    private let saferRecorder = HARRecorder(showing: .allButCredentials)

    private func session() throws -> SessionFixture {
        let tokens = RecordingTokens(
            TokenCredential(
                accessToken: "\(Self.credential)-a0", expiresAt: .distantFuture, refreshToken: "\(Self.credential)-r0"))
        return try SessionFixture(tokens: tokens)
    }

    private func atom(_ session: SessionFixture) -> Atom {
        var configuration = session.configuration
        configuration.observers = [observer, recorder, saferRecorder]
        return Atom(configuration, time: session.time, random: { 0.5 })
    }

    private func call(_ atom: Atom, body: RequestBody? = nil) -> Call {
        let endpoint = RecordingEndpoint(
            path: "/x", method: .post,
            headerItems: [
                "X-Anything": "\(Self.value)-h", "X-Api-Key": "\(Self.credential)-h", "Cookie": "a=\(Self.credential)",
            ],
            queryItems: ["q": "\(Self.value)-q", "api_key": "\(Self.credential)-q"],
            body: body ?? .form(["name": "\(Self.value)-b", "password": "\(Self.credential)-b"]))
        let call = Call()
        call.keep(atom.enqueue(endpoint).resume { call.heard($0) })
        return call
    }

    /// What is shown at each level of the exports.
    private func expectNoSecret(commands count: Int, location: SourceLocation = #_sourceLocation) {
        var shown: [String] = []
        var harmless: [String] = [String(decoding: recorder.har(), as: UTF8.self)]
        shown += everyRendering(of: recorder) + everyRendering(of: saferRecorder)
        var sent: [SentRequest] = []
        for event in observer.events {
            harmless += everyRendering(of: event) + event.everyProperty
            if case .sent(let request) = event.kind { sent.append(request) }
        }
        #expect(sent.count == count, sourceLocation: location)
        harmless += sent.map { $0.curlCommand(showing: .onlyHarmless) }
        shown += sent.map { $0.curlCommand() } + [String(decoding: saferRecorder.har(), as: UTF8.self)]
        // They have all been planted, and the texts aren't empty.
        let all = sent.map { $0.curlCommand(showing: .everything) }.joined()
        #expect(all.contains(Self.credential) && all.contains(Self.value), sourceLocation: location)
        #expect(shown.contains { $0.contains(Self.value) }, sourceLocation: location)
        #expect(harmless.contains { $0.contains("HIDDEN") }, sourceLocation: location)
        expectNone(of: shown + harmless, toContain: Self.credential, location: location)
        expectNone(of: harmless, toContain: Self.value, location: location)
    }

    @Test("Nothing leaks with a 401, a refresh and a redirect")
    func refreshAndRedirect() async throws {
        let session = try session()
        let call = call(atom(session))
        session.sent[0].answer(
            "\(Self.value) \(Self.credential)", status: 401,
            headers: [
                ("WWW-Authenticate", "Bearer realm=\"\(Self.value)\""), ("Set-Cookie", "s=\(Self.credential)"),
                ("X-Anything", Self.value),
            ])
        await session.refresh().answer(
            #"{"access_token":"\#(Self.credential)-a1","expires_in":3600,"refresh_token":"\#(Self.credential)-r1"}"#)
        let second = await session.transport.exchange(2)
        second.redirect(
            307,
            to:
                "https://\(Self.credential):\(Self.credential)@api.example.com/y?q=\(Self.value)&code=\(Self.value)&sig=\(Self.credential)"
        )
        let third = await session.transport.exchange(3)
        third.answer("\(Self.value) \(Self.credential)", status: 500, headers: [("Location", Self.value)])
        _ = await call.outcome()
        expectNoSecret(commands: 4)
    }

    @Test("Nothing of an error leaks")
    func errors() async throws {
        struct Planted: Error, CustomStringConvertible, LocalizedError {
            var description: String { "\(ExportedSecretsTests.credential) \(ExportedSecretsTests.value)" }
            var errorDescription: String? { description }
        }
        let session = try session()
        let atom = atom(session)
        let call = call(atom)
        session.sent[0].send(.failed(TransportFailure(Planted())))
        _ = await call.outcome()
        let again = self.call(atom, body: .json(["password": Self.credential, "name": Self.value]))
        let url = try #require(URL(string: "https://h/?\(Self.value)=\(Self.credential)"))
        session.sent[1].send(
            .failed(
                TransportFailure(
                    URLError(.badServerResponse, userInfo: [NSURLErrorFailingURLErrorKey: url]), delivery: .maybeSent)))
        _ = await again.outcome()
        expectNoSecret(commands: 2)
    }

    @Test("Nothing of a refused refresh leaks")
    func refusedRefresh() async throws {
        let session = try session()
        let call = call(atom(session))
        session.sent[0].answer("", status: 401)
        await session.refresh().answer(
            #"{"error":"invalid_grant","error_description":"\#(Self.credential)-r0","refresh_token":"\#(Self.credential)"}"#,
            status: 400)
        _ = await call.outcome()
        expectNoSecret(commands: 2)
    }
}

extension RequestEvent {
    /// The text of every public property, which no mirror shows.
    fileprivate var everyProperty: [String] {
        var texts = ["\(self)", "\(purpose)", "\(date)", "\(elapsed)", "\(kind)", endpoint ?? ""]
        func shown(_ request: DescribedRequest) -> [String] {
            everyRendering(of: request) + [request.method, request.url, request.host, request.description]
        }
        if let request { texts += shown(request) }
        func fields(_ fields: HeaderFields) -> [String] { fields.map { "\($0.name): \($0.value)" } }
        switch kind {
        case .refused(let failure): texts += everyRendering(of: failure)
        case .sent(let sent):
            texts += everyRendering(of: sent) + shown(sent.request) + [sent.traceParent ?? ""]
            texts += fields(sent.headerFields)
        case .answered(let head), .cached(let head, _): texts += everyRendering(of: head) + fields(head.headerFields)
        case .redirected(let address): texts.append(address)
        case .retried(let failure, _, _): texts += everyRendering(of: failure)
        case .measured(let metrics, _): texts += everyRendering(of: metrics)
        case .finished(let summary):
            texts += everyRendering(of: summary)
            if let failure = summary.failure { texts += everyRendering(of: failure) + [failure.description] }
        case .refreshed(let failure): texts += everyRendering(of: failure as Any)
        case .sessionEnded(let failure): texts += everyRendering(of: failure)
        case .described, .joined, .queued, .admitted: break
        }
        return texts
    }
}
