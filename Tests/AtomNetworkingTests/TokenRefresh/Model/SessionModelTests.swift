import Testing

@testable import AtomNetworking

@Suite("Every interleaving of a few requests and what can happen to them", .timeLimit(.minutes(15)))
struct SessionModelTests {
    @Test("Keeps every guarantee in every state", arguments: ModelSettings.all)
    func everyState(settings: ModelSettings) async {
        let result = await onAThreadOfItsOwn(isPatient: true) { ModelExplorer.explore(ModelWorld(settings, bug: nil)) }
        print("model: \(settings.name): \(result.states) states, \(result.transitions) transitions")
        #expect(result.counterexample == nil, "\(result.counterexample ?? "")")
    }

    @Test("Finds a planted bug", arguments: PlantedBug.allCases)
    func plantedBug(bug: PlantedBug) async {
        let result = await onAThreadOfItsOwn(isPatient: true) {
            ModelExplorer.explore(ModelWorld(bug.settings, bug: bug))
        }
        guard let counterexample = result.counterexample else {
            Issue.record("\(bug) is not found in \(result.states) states")
            return
        }
        let lines = counterexample.split(separator: "\n")
        print("model: \(bug) is found after \(result.states) states, by \(lines.count - 1) steps: \(lines[0])")
    }
}

extension ModelWorld: ModelledWorld {
    typealias Step = ModelStep
    typealias Key = ModelKey

    func isFair(_ step: ModelStep) -> Bool { step.isFair }
}
