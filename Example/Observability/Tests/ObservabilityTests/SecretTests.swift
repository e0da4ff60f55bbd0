import AtomNetworking
import AtomNetworkingTesting
import Foundation
import MetricsTestKit
import Observability
import Testing

/// No secret of a request, a response or an error is in what is written.
@Suite(.limited) struct SecretTests {
    private struct Cause: Error, CustomStringConvertible {
        var description: String { "cause-s3cret" }
    }

    private struct Refusing: RequestSigner {
        func sign(_ request: inout SignableRequest) throws { throw Cause() }
    }

    /// Everything that the observers of a station have written.
    private func written(by station: Station) -> [String] {
        var texts: [String] = []
        for entry in station.log.entries { texts += ["\(entry.message)", "\(entry.metadata)"] }
        for span in station.tracer.finishedSpans {
            texts += [span.operationName, "\(span.texts)", "\(span.events)", "\(span.errors)"]
            texts.append("\(span.status?.message ?? "")")
        }
        for timer in station.metrics.timers { texts.append("\(timer.label) \(timer.dimensions)") }
        for recorder in station.metrics.recorders { texts.append("\(recorder.label) \(recorder.dimensions)") }
        for meter in station.metrics.meters { texts.append("\(meter.label) \(meter.dimensions)") }
        return texts
    }

    @Test func nothingIsWrittenOut() async throws {
        let station = try Station(
            recordsRequests: true,
            [
                "/account": { request in
                    request["Authorization"] == "Bearer access-s3cret-2"
                        ? .json(#"{"field": "body-s3cret"}"#, headers: [("Set-Cookie", "sid=cookie-s3cret")])
                        : .text("body-s3cret", status: 401, headers: [("WWW-Authenticate", "Bearer r=\"auth-s3cret\"")])
                },
                "POST /token": { _ in
                    .json(
                        #"{"access_token": "access-s3cret-2", "token_type": "Bearer", "refresh_token": "#
                            + #""refresh-s3cret-2", "expires_in": 900}"#)
                },
                "/moved": { request in
                    let port = request["Host"]?.split(separator: ":").last ?? "0"
                    let target = "http://user:userinfo-s3cret@127.0.0.1:\(port)/bad?token=location-s3cret"
                    return .empty(302, headers: [("Location", target)])
                },
                "/bad": { _ in .text("problem-s3cret", status: 400, headers: [("X-Detail", "detail-s3cret")]) },
            ])
        let atom = try station.signedIn(
            TokenCredential(
                accessToken: "access-s3cret-1", expiresAt: .now + 900, refreshToken: "refresh-s3cret-1"))
        let endpoint = station.endpoint("/account").with { endpoint in
            endpoint.methodText = "POST"
            endpoint.requiresAuthorization = true
            endpoint.headerItems = ["X-Api-Key": "header-s3cret"]
            endpoint.queryItems = ["key": "query-s3cret"]
            endpoint.body = .form(["field": "sent-s3cret"])
        }
        _ = try await atom.enqueue(endpoint).resume()
        let moved = endpoint.with { $0.pathText = "/moved" }
        await #expect(throws: AtomError.self) { try await atom.enqueue(moved).resume() }
        var refusing = station
        refusing.configuration.signers.append(Refusing())
        let refused = refusing.atom
        await #expect(throws: AtomError.self) {
            try await refused.enqueue(station.endpoint("/bad")).resume()
        }
        // The secrets did travel.
        #expect(station.server.requests.contains { $0.query?.contains("query-s3cret") == true })
        #expect(station.server.requests.contains { $0.query?.contains("location-s3cret") == true })
        #expect(station.server.requests.contains { $0["X-Api-Key"] == "header-s3cret" })
        let texts = written(by: station)
        #expect(texts.count > 40)
        #expect(texts.contains { $0.contains("401") } && texts.contains { $0.contains("/bad") })
        #expect(texts.filter { $0.contains("s3cret") } == [])
    }

    @Test func namesAreThoseOfTheList() async throws {
        let station = try Station(template: { _ in "/bad" }, ["/bad": { _ in .text("", status: 500) }])
        await #expect(throws: AtomError.self) {
            try await station.atom.enqueue(station.endpoint("/bad").with { $0.methodText = "MKCOL" }).resume()
        }
        let names = Set(AttributeName.all)
        for span in station.spans { #expect(names.isSuperset(of: span.texts.keys)) }
        for timer in station.metrics.timers { #expect(names.isSuperset(of: timer.dimensions.map(\.0))) }
    }
}
