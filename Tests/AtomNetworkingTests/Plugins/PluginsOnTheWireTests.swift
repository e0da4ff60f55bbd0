import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Plugins on the wire", .limited)
struct PluginsOnTheWireTests {
    private static let events = [("Content-Type", "text/event-stream")]

    /// Answers only those who have a proof.
    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            guard request["X-App-Proof"] == "7" else { return .text("no proof", status: 403) }
            return request.path == "/events"
                ? .chunked([Data("data: one\n\n".utf8)], headers: Self.events) : .text("one\ntwo\n")
        }
    }

    private func atom(_ transport: TransportUnderTest, _ plugins: any AtomPlugin...) -> Atom {
        Atom.forTest(over: transport) { $0.plugins = plugins }
    }

    private var attesting: AttestingPlugin {
        AttestingPlugin {
            await Task.yield()
            return "7"
        }
    }

    @Test("Requests, downloads and streams carry what a plugin has waited for", arguments: TransportUnderTest.all)
    func attested(over transport: TransportUnderTest) async throws {
        let server = try server()
        defer { server.stop() }
        let atom = atom(transport, attesting)
        let service = atom.enqueue(server.endpoint("/x"))
        #expect(try await service.resume(expecting: String.self) == "one\ntwo\n")

        let folder = try TransferFolder()
        let file = try folder.file("x")
        let response = try await service.download(to: file)
        #expect(response.statusCode == 200 && response.data.isEmpty)
        #expect(try Data(contentsOf: file) == Data("one\ntwo\n".utf8))
        let second = try folder.file("y")
        let isTold = Signal()
        service.download(to: second) { result in
            #expect((try? result.get())?.statusCode == 200)
            isTold.raise()
        }
        await isTold.wait()
        #expect(folder.names == ["x", "y"])

        var lines: [String] = []
        for try await line in try await service.lines() { lines.append(line) }
        #expect(lines == ["one", "two"])
        var events: [String] = []
        for try await event in try await atom.enqueue(server.endpoint("/events")).serverSentEvents() {
            events.append(event.data)
        }
        #expect(events == ["one"])
        #expect(server.requests.count == 5)
    }

    @Test("What a plugin throws is the error of a download and of a stream", arguments: TransportUnderTest.all)
    func refused(over transport: TransportUnderTest) async throws {
        let server = try server()
        defer { server.stop() }
        let atom = atom(transport, ScriptedPlugin { (_, _) throws(AtomError) in throw .unexpected })
        let service = atom.enqueue(server.endpoint("/x"))
        let folder = try TransferFolder()
        let file = try folder.file("x")
        await #expect(throws: AtomError.self) { try await service.download(to: file) }
        await #expect(throws: AtomError.self) { try await service.bytes() }
        await #expect(throws: AtomError.self) { try await service.serverSentEvents() }
        #expect(folder.names.isEmpty && server.requests.isEmpty)
    }

    @Test("A plugin can't answer a download or a stream by itself")
    func answered() async throws {
        let transport = try #require(TransportUnderTest.all.first)
        let atom = atom(transport, ScriptedPlugin { (_, _) throws(AtomError) in .success })
        let service = atom.enqueue(PathEndpoint())
        let folder = try TransferFolder()
        let file = try folder.file("x")
        func reason(_ body: () async throws(AtomError) -> Void) async -> (TransferError.Reason, AtomError.Delivery)? {
            do throws(AtomError) { try await body() } catch {
                if case .transfer(let failure) = error { return (failure.reason, failure.delivery) }
            }
            return nil
        }
        let reasons = await [
            reason { () throws(AtomError) in _ = try await service.download(to: file) },
            reason { () throws(AtomError) in _ = try await service.bytes() },
            reason { () throws(AtomError) in _ = try await service.serverSentEvents() },
        ]
        for reason in reasons { #expect(reason?.0 == .answeredByPlugin && reason?.1 == .notSent) }
        #expect(folder.names.isEmpty)
    }

    @Test("A status that isn't acceptable is the error of a download and of a stream, for the plugin too")
    func status() async throws {
        let server = try server()
        defer { server.stop() }
        let transport = try #require(TransportUnderTest.all.first)
        let seen = Locked<[Int?]>([])
        let atom = atom(
            transport,
            ScriptedPlugin { (requestable, next) throws(AtomError) in
                do throws(AtomError) { return try await next(requestable) } catch {
                    seen.with { $0.append(error.response?.statusCode) }
                    throw error
                }
            })
        let service = atom.enqueue(server.endpoint("/x"))
        let folder = try TransferFolder()
        let file = try folder.file("x")
        for _ in 0..<2 {
            do throws(AtomError) {
                try await service.download(to: file)
                Issue.record("no error")
            } catch {
                guard case .response(let response) = error else { return #expect(Bool(false), "\(error)") }
                #expect(response.body == "no proof")
            }
        }
        await #expect(throws: AtomError.self) { try await service.bytes() }
        #expect(seen.value == [403, 403, 403])
        #expect(folder.names.isEmpty)
    }

    @Test("A download that is cancelled leaves nothing behind", arguments: TransportUnderTest.all)
    func cancelled(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .drip([Data("one".utf8), Data("two".utf8)], gate: gate) }
        defer { server.stop() }
        let atom = atom(transport, CountingPlugin())
        let folder = try TransferFolder()
        let file = try folder.file("x")
        let call = Call()
        let task = atom.enqueue(server.endpoint("/x")).download(to: file) { call.heard($0) }
        #expect(await eventually { folder.names.count == 1 })
        task.cancel()
        #expect(await call.error()?.isCancelled == true)
        #expect(folder.names.isEmpty)
        gate.open()
        #expect(call.count == 1)
    }

    @Test("A stream that is released is closed, also if its plugin goes on", arguments: TransportUnderTest.all)
    func released(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .streamed([.write(text: "one"), .hang]) }
        defer { server.stop() }
        let goesOn = Signal()
        let hasHead = Signal()
        let atom = atom(
            transport,
            ScriptedPlugin { (requestable, next) throws(AtomError) in
                let response = try await next(requestable)
                hasHead.raise()
                await goesOn.wait(seconds: nil)
                return response
            })
        let task = Task { try await atom.enqueue(server.endpoint("/x")).bytes() }
        await hasHead.wait()
        task.cancel()
        await #expect(throws: AtomError.self) { try await task.value }
        #expect(await server.waitForOpenConnections(atMost: 0))
        goesOn.raise()
    }
}
