import Testing

@testable import AtomNetworking

@Suite("Every interleaving of callers who share exchanges", .timeLimit(.minutes(15)))
struct SharingModelTests {
    struct Settings: Sendable, CustomTestStringConvertible {
        var things: [Int]
        var signIns: Int

        var testDescription: String { "\(things.count) callers for \(things), \(signIns) sign-ins" }
    }

    @Test(
        "Keeps every rule in every state",
        arguments: [
            Settings(things: [0, 0], signIns: 1), Settings(things: [0, 0, 0], signIns: 1),
            Settings(things: [0, 0, 1], signIns: 1), Settings(things: [0, 0, 1], signIns: 2),
        ])
    func everyState(settings: Settings) async {
        let world = SharingWorld(things: settings.things, signIns: settings.signIns)
        let result = await onAThreadOfItsOwn(isPatient: true) { ModelExplorer.explore(world, limit: 1_000_000) }
        print("model: \(settings.testDescription): \(result.states) states, \(result.transitions) transitions")
        #expect(result.counterexample == nil, "\(result.counterexample ?? "")")
    }

    @Test("Finds a planted bug", arguments: PlantedSharingBug.allCases)
    func plantedBug(bug: PlantedSharingBug) async {
        let world = SharingWorld(things: [0, 0, 1], signIns: 1, bug: bug)
        let result = await onAThreadOfItsOwn(isPatient: true) { ModelExplorer.explore(world, limit: 1_000_000) }
        guard let counterexample = result.counterexample else {
            Issue.record("\(bug) is not found in \(result.states) states")
            return
        }
        let lines = counterexample.split(separator: "\n")
        print("model: \(bug) is found after \(result.states) states, by \(lines.count - 1) steps: \(lines[0])")
    }
}
