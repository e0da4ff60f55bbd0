import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited(minutes: 10)) struct TransportContractTests {
    @Test("The default transport meets the contract")
    func sound() async throws {
        let report = await TransportContract.check(patience: .seconds(120)) {
            ServiceConfiguration().makeDefaultTransport()
        }
        try report.get()
        #expect(report.findings.count == TransportContract.Check.allCases.count)
    }

    @Test("Each planted fault is found by its check", arguments: FaultyTransport.Fault.allCases)
    func planted(fault: FaultyTransport.Fault) async {
        func check() async -> ContractReport {
            await TransportContract.check([fault.check], patience: fault.patience) { FaultyTransport(fault) }
        }
        var report = await check()
        // On a busy machine these may be too late for what they are compared with.
        let isChance = [.streamsAreReadOnDemand, .pauseHoldsBack].contains(fault.check)
        for _ in 0..<4 where isChance && report.failures.isEmpty { report = await check() }
        #expect(report.failures.map(\.name) == [fault.check.rawValue])
    }

    @Test("What URLSession adds on Apple platforms may be added")
    func addedByTheSystem() async throws {
        try await TransportContract.check([.headerFieldsAreNotAdded], patience: .seconds(120)) {
            AddingTransport(fields: [
                ("Accept-Language", "en"), ("Upload-Draft-Interop-Version", "6"), ("Upload-Complete", "?1"),
                ("Upload-Length", "1"),
            ])
        }.get()
    }

    @Test("A report reads well")
    func description() async {
        let report = await TransportContract.check([.cookiesAreNotKept, .targetsAreExact], patience: .seconds(120)) {
            FaultyTransport(.keepsCookies)
        }
        let expected = """
            Transport: 1 of 2 checks failed
            ✘ cookiesAreNotKept: A transport never stores a cookie.
                a cookie was sent back
            """
        #expect(report.description == expected)
        #expect(throws: ContractReport.Violation.self) { try report.get() }
        do { try report.get() } catch { #expect("\(error)" == expected) }
    }
}

/// Adds header fields to each request.
private struct AddingTransport: Transport {
    let fields: [(String, String)]
    private let base = ServiceConfiguration().makeDefaultTransport()

    init(fields: [(String, String)]) { self.fields = fields }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        var all = request.headerFields
        for (name, value) in fields { all.append(name: name, value: value) }
        return base.start((try? request.replacing(headerFields: all)) ?? request, receive: receive)
    }
}
