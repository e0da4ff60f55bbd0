import Testing

@Suite(
    "Every interleaving of a few processes that share a store, with crashes and lost answers",
    .limited(minutes: 15))
struct ProcessModelTests {
    @Test(
        "Processes that share a store keep every guarantee in every state that is visited",
        arguments: ProcessSettings.all)
    func everyState(settings: ProcessSettings) async {
        await ProcessWorld(settings).expectEveryRule(settings.name)
    }

    @Test("A bug that is planted in one of the processes is found", arguments: ProcessBug.inExtent)
    func plantedBug(bug: ProcessBug) async {
        await ProcessWorld(bug.settings, bug: bug).expectBug(bug.rawValue)
    }
}
