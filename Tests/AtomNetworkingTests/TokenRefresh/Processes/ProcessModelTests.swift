import Testing

@Suite(
    "Every interleaving of a few processes that share a store, with crashes and lost answers",
    .limited(minutes: 15))
struct ProcessModelTests {
    @Test("Keeps every guarantee in every state that is walked", arguments: ProcessSettings.all)
    func everyState(settings: ProcessSettings) async {
        await ProcessWorld(settings).expectEveryRule(settings.name)
    }

    @Test("Finds a planted bug", arguments: ProcessBug.inExtent)
    func plantedBug(bug: ProcessBug) async {
        await ProcessWorld(bug.settings, bug: bug).expectBug(bug.rawValue)
    }
}
