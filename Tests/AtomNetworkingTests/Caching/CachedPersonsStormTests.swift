import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Two people sign in and out, while thousands of requests are answered by a server and a cache.
///
/// The server answers with the access token that it was sent, and each sign-in brings another one. So each response
/// says whose it is.
@Suite("Two people and one cache", .limited)
struct CachedPersonsStormTests {
    private static let requests = TestExtent.isUnderThreadSanitizer ? 2_000 : 10_000

    @Test("Nobody gets what somebody else has asked for", arguments: [1, 2] as [UInt64])
    func oneService(seed: UInt64) async throws {
        let desk = try Desk(seed: seed, cache: ResponseCache())
        await desk.serve(Self.requests, seed: seed) { number in .issued(number, life: 1e6) }
        await desk.check()
    }

    @Test("Nor does it happen where two services have a folder in common, in which both keep what is signed")
    func oneFolder() async throws {
        let folder = try TransferFolder()
        let disk = ResponseCache.Disk(
            folder: folder.url.appendingPathComponent("responses"), capacity: 1 << 20, keepsSignedResponses: true)
        // As in two processes: neither hears of the other's sign-outs. The second one reads everything from the disk.
        let desks = [
            try Desk(
                seed: 3, cache: ResponseCache(disk: disk), store: InMemoryTokenCredentialStore(.issued(0, life: 1e6))),
            try Desk(
                seed: 4, cache: ResponseCache(memory: 0, disk: disk),
                store: InMemoryTokenCredentialStore(.issued(0, life: 1e6))),
        ]
        // Both have the same tokens one after the other, and at times at once.
        await withTaskGroup(of: Void.self) { group in
            for (index, desk) in desks.enumerated() {
                group.addTask {
                    await desk.serve(Self.requests / 2, seed: 5 + UInt64(index)) { .issued($0 / 2, life: 1e6) }
                }
            }
        }
        for desk in desks { await desk.check() }
        withExtendedLifetime(folder) {}
    }
}

/// A service, the people who sign in there, and the callers.
private final class Desk: Sendable {
    /// Who was signed in when, by the number of the token; `nil` for nobody.
    private struct People {
        var tokens: [Int?] = [0]
        /// The last change that has been made: later ones are under way.
        var last = 0
    }

    private struct Tally {
        var answered = 0
        /// With a signature, and so of one person: without a question, and after one.
        var kept = 0
        var confirmed = 0
        var streamed = 0
        var refused = 0
        var failed = 0
    }

    /// A request, and who was signed in before it was begun.
    private struct Asked {
        let endpoint: PersonalEndpoint
        let call: Call
        let before: Int
        /// Whether nobody signed in or out while it was begun.
        let isOfOne: Bool
        let wasCancelled: Bool
    }

    private let session: SessionFixture
    private let people = Locked(People())
    private let tally = Locked(Tally())
    private let wrong = Locked<[String]>([])

    init(seed: UInt64, cache: ResponseCache, store: (any TokenCredentialStore)? = nil) throws {
        let chance = Locked(SeededGenerator(seed: seed))
        session = try SessionFixture(
            lifetime: 1e6, exchangesPerOrigin: 8, store: store,
            script: { exchange in
                let number = chance.with { Int.random(in: 0..<100, using: &$0) }
                DispatchQueue.global().async { Self.answer(exchange, number) }
            },
            change: { $0.cache = cache })
    }

    /// The server: all responses have the same validator, so that one to somebody else would be confirmed as well.
    private static func answer(_ exchange: ScriptedExchange, _ chance: Int) {
        let isAsked = exchange.request["If-None-Match"] != nil
        switch chance {
        case 0..<4: return exchange.fail(.networkConnectionLost)
        case 4..<8: return exchange.answer(status: 503)
        case 8..<70 where isAsked: return exchange.answer(status: 304, headers: [("ETag", "\"v\"")])
        default: break
        }
        let lifetimes = ["max-age=5", "max-age=600", "no-cache", "max-age=0, stale-while-revalidate=600", "no-store"]
        let fields = HeaderFields([
            HeaderItem(name: "Cache-Control", value: lifetimes[chance % lifetimes.count]),
            HeaderItem(name: "ETag", value: "\"v\""),
        ])
        let part = Data("\(exchange.token ?? "nobody") ".utf8)
        exchange.send(.response(TransportResponse(statusCode: 200, headerFields: fields)))
        exchange.send(.data(part))
        exchange.send(.data(part))
        exchange.send(.finished)
    }

    // MARK: People

    private func change(by chance: inout SeededGenerator, _ issue: (Int) -> TokenCredential) async {
        let number = people.with { $0.tokens.count }
        let credential = Int.random(in: 0..<3, using: &chance) == 0 ? nil : issue(number)
        people.with { $0.tokens.append(credential.flatMap { Int($0.accessToken.dropFirst()) }) }
        do {
            if let credential {
                try await session.atom.signIn(with: credential)
            } else {
                try await session.atom.signOut()
            }
        } catch {
            report("a change has failed: \(error)")
        }
        people.with { $0.last = number }
        session.time.advance(by: .seconds(2))
    }

    // MARK: Callers

    /// Sends requests on four lanes, in one of which people sign in and out.
    func serve(_ requests: Int, seed: UInt64, _ issue: @escaping @Sendable (Int) -> TokenCredential) async {
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask { [self] in
                    var chance = SeededGenerator(seed: seed * 10 + UInt64(lane))
                    var asked: [Asked] = []
                    for number in 0..<requests / 4 {
                        if lane == 0, number % 16 == 0 { await change(by: &chance, issue) }
                        if number % 8 == 0 {
                            await stream(by: &chance)
                        } else {
                            asked.append(ask(by: &chance))
                        }
                        if number % 8 == 7 {
                            for asked in asked { await hear(asked) }
                            asked = []
                        }
                    }
                    for asked in asked { await hear(asked) }
                }
            }
        }
    }

    private func ask(by chance: inout SeededGenerator) -> Asked {
        let endpoint = PersonalEndpoint(by: &chance)
        let before = people.with { $0.last }
        let call = session.atom.call(endpoint)
        let isOfOne = people.with { $0.last == before && $0.tokens.count == before + 1 }
        let isCancelled = Int.random(in: 0..<16, using: &chance) == 0
        if isCancelled { call.cancel() }
        return Asked(endpoint: endpoint, call: call, before: before, isOfOne: isOfOne, wasCancelled: isCancelled)
    }

    private func hear(_ asked: Asked) async {
        switch await asked.call.outcome() {
        case .success(let response):
            tally.with { tally in
                tally.answered += 1
                guard asked.endpoint.requiresAuthorization else { return }
                switch response.source {
                case .cache: tally.kept += 1
                case .revalidatedCache: tally.confirmed += 1
                case .server: break
                @unknown default: break
                }
            }
            guard asked.endpoint.requiresAuthorization else {
                if !response.body.hasPrefix("nobody") { report("\(asked.endpoint) got \(response.body)") }
                return
            }
            check(response.body, since: asked.before, "\(asked.endpoint), \(response.source)")
            // What is begun for somebody is never answered for somebody else. Without a cache a request that waits for
            // a slot is signed for whoever is there then.
            guard asked.isOfOne, asked.endpoint.caching != .disabled else { return }
            let token = people.with { $0.tokens[asked.before] }
            if response.body != token.map({ "A\($0) A\($0) " }) {
                report("\(asked.endpoint) of \(token ?? -1) got \(response.body) by \(response.source)")
            }
        case .failure(.cancelled) where asked.wasCancelled: break
        case .failure(.authentication): tally.with { $0.refused += 1 }
        case .failure(.session), .failure(.response): tally.with { $0.failed += 1 }
        case .failure(let error): report("\(asked.endpoint): \(error)")
        }
        if asked.call.count != 1 { report("\(asked.endpoint) was told \(asked.call.count) times") }
    }

    private func stream(by chance: inout SeededGenerator) async {
        let endpoint = PersonalEndpoint(by: &chance, isSigned: true)
        var before = people.with { $0.last }
        do throws(AtomError) {
            var parts = try await session.atom.enqueue(endpoint).bytes().makeAsyncIterator()
            while let part = try await parts.next() {
                check(String(decoding: part, as: UTF8.self), since: before, "a stream of \(endpoint)")
                // A reader gets nothing more of somebody who has gone.
                before = people.with { $0.last }
            }
            tally.with { $0.streamed += 1 }
        } catch {
            tally.with { $0.failed += 1 }
        }
    }

    // MARK: Findings

    /// Whether a text is of somebody who was there since then.
    private func check(_ text: String, since before: Int, _ what: @autoclosure () -> String) {
        let tokens = people.with { $0.tokens[before...] }
        let there = Set(tokens.compactMap { $0.map { "A\($0)" } })
        let told = Set(text.split(separator: " ").map(String.init))
        if told.count != 1 || !told.isSubset(of: there) { report("\(what()) got \(text), not \(there.sorted())") }
    }

    private func report(_ text: String) { wrong.with { $0.append(text) } }

    func check() async {
        await session.configuration.cache?.settle()
        let found = wrong.value
        #expect(found.isEmpty, "\(found.count), such as \(found.prefix(5))")
        // All of it has happened.
        let tally = tally.value
        let counts = [tally.answered, tally.kept, tally.confirmed, tally.streamed, tally.refused, tally.failed]
        #expect(counts.allSatisfy { $0 > 0 }, "\(tally)")
        #expect(await eventually { self.session.atom.manager.slots.counts == (0, 0) })
        #expect(await eventually { self.session.atom.sharing.counts == (0, 0) })
    }
}

private struct PersonalEndpoint: Requestable {
    var pathText: String
    var method = HTTPMethod.get
    var requiresAuthorization: Bool
    var sharesIdenticalRequests: Bool
    var caching: ResponseCaching

    init(by chance: inout SeededGenerator, isSigned: Bool? = nil) {
        pathText = "/\(Int.random(in: 0..<4, using: &chance))"
        requiresAuthorization = isSigned ?? (Int.random(in: 0..<8, using: &chance) > 0)
        sharesIdenticalRequests = Bool.random(using: &chance)
        let all: [ResponseCaching] = [
            .disabled, .revalidatingWithService, .whileCacheFresh, .onlyIfCached(maxStale: .seconds(600)),
            .whileCacheFresh(staleWhileRevalidate: .seconds(60), staleIfError: .seconds(600)),
            .whileCacheFresh(staleIfError: .seconds(600), ignoringMustRevalidate: true),
        ]
        caching = all[Int.random(in: 0..<all.count, using: &chance)]
        // It changes what the caches have.
        if isSigned == nil, Int.random(in: 0..<32, using: &chance) == 0 { method = .delete }
    }

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
}
