import Testing

@Suite("Every interleaving of a few requests and what can happen to them", .limited(minutes: 15))
struct SessionModelTests {
    @Test("The session keeps every guarantee in every state that is visited", arguments: ModelSettings.all)
    func everyState(settings: ModelSettings) async {
        await ModelWorld(settings, bug: nil).expectEveryRule(settings.name)
    }

    @Test("A bug that is planted in the session is found", arguments: PlantedBug.inExtent)
    func plantedBug(bug: PlantedBug) async {
        await ModelWorld(bug.settings, bug: bug).expectBug(bug.rawValue)
    }
}

extension ModelWorld: ModelledWorld {
    typealias Step = ModelStep
    typealias Key = ModelKey

    func isFair(_ step: ModelStep) -> Bool { step.isFair }
}
