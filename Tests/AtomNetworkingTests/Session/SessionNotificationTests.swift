import Foundation
import Testing

@testable import AtomNetworking

/// The two notifications that Atom's apps listen to.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SessionNotificationTests {
    @Test func aFailedRefreshIsAnnouncedOnceAfterItsWaitersWereTold() async throws {
        let session = try SessionFixture(lifetime: 0)
        let calls = (0..<10).map { session.call("/\($0)") }
        let told = Locked<[Int]>([])
        let observation = Observation(of: Atom.didFailToRefreshAccessToken) { error in
            guard case .authentication(.refreshRejected(let oauth, _)) = error, oauth.code == "invalid_grant",
                oauth.explanation == "for the notification test"
            else { return }
            told.with { $0.append(calls.count { $0.count == 1 }) }
        }
        defer { observation.end() }
        await session.refresh().answer(
            #"{"error":"invalid_grant","error_description":"for the notification test"}"#, status: 400)
        for call in calls { _ = await call.outcome() }
        await session.drainCompletions()
        await session.drainCompletions()
        #expect(told.value == [10])
    }

    @Test func eachRequestWhoseFinalAnswerIsUnauthorizedIsAnnouncedOnce() async throws {
        let session = try SessionFixture()
        let heard = Locked(0)
        let observation = Observation(of: Atom.didFailToAuthorizeRequest) { error in
            if case .response(let response) = error, response.data == Data("notify".utf8) { heard.with { $0 += 1 } }
        }
        defer { observation.end() }
        let call = session.call("/a", signed: false)
        session.sent[0].answer("notify", status: 401)
        _ = await call.outcome()
        await session.drainCompletions()
        await session.drainCompletions()
        #expect(heard.value == 1)

        let task = Task { try await session.atom.enqueue(PathEndpoint(requiresAuthorization: false)).resume() }
        await session.transport.exchange(1).answer("notify", status: 401)
        _ = await task.result
        await session.drainCompletions()
        #expect(heard.value == 2)
    }
}

extension SessionFixture {
    /// Comes back when everything dispatched so far on the completions' queue has run.
    fileprivate func drainCompletions() async {
        await withCheckedContinuation { continuation in
            configuration.dispatchQueue.async { continuation.resume() }
        }
    }
}

private final class Observation: @unchecked Sendable {
    // Written once, before anybody else sees this.
    private var token: (any NSObjectProtocol)?

    init(of name: Notification.Name, _ body: @escaping @Sendable (AtomError) -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
            if let error = notification.userInfo?["error"] as? AtomError { body(error) }
        }
    }

    func end() {
        if let token { NotificationCenter.default.removeObserver(token) }
    }
}
