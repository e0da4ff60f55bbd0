import Testing

@testable import AtomNetworking

@Suite("Every interleaving of two exchanges over one slot", .timeLimit(.minutes(15)))
struct ExchangeModelTests {
    @Test("Keeps every rule in every state", arguments: ExchangeModelSettings.all)
    func everyState(settings: ExchangeModelSettings) async throws {
        let world = try ExchangeWorld(settings)
        let result = await onAThreadOfItsOwn(isPatient: true) { ModelExplorer.explore(world, limit: 300_000) }
        print("model: \(settings.name): \(result.states) states, \(result.transitions) transitions")
        #expect(result.counterexample == nil, "\(result.counterexample ?? "")")
    }

    @Test("Finds a planted bug", arguments: PlantedExchangeBug.allCases)
    func plantedBug(bug: PlantedExchangeBug) async throws {
        let world = try ExchangeWorld(bug.settings, bug: bug)
        let result = await onAThreadOfItsOwn(isPatient: true) { ModelExplorer.explore(world, limit: 300_000) }
        guard let counterexample = result.counterexample else {
            Issue.record("\(bug) is not found in \(result.states) states")
            return
        }
        let lines = counterexample.split(separator: "\n")
        print("model: \(bug) is found after \(result.states) states, by \(lines.count - 1) steps: \(lines[0])")
    }
}
