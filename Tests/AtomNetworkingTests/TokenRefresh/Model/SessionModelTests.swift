import Testing

@Suite("Every interleaving of a few requests and what can happen to them", .limited(minutes: 15))
struct SessionModelTests {
    @Test("Keeps every guarantee in every state that is walked", arguments: ModelSettings.all)
    func everyState(settings: ModelSettings) async {
        await ModelWorld(settings, bug: nil).expectEveryRule(settings.name)
    }

    @Test("Finds a planted bug", arguments: PlantedBug.inExtent)
    func plantedBug(bug: PlantedBug) async {
        await ModelWorld(bug.settings, bug: bug).expectBug(bug.rawValue)
    }
}

extension ModelWorld: ModelledWorld {
    typealias Step = ModelStep
    typealias Key = ModelKey

    func isFair(_ step: ModelStep) -> Bool { step.isFair }
}
