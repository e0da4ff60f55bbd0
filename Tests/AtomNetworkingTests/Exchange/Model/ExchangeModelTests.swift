import Testing

@Suite("Every interleaving of two exchanges over one slot", .limited(minutes: 15))
struct ExchangeModelTests {
    @Test("Two exchanges keep every rule in every state that is walked", arguments: ExchangeModelSettings.all)
    func everyState(settings: ExchangeModelSettings) async throws {
        try await ExchangeWorld(settings).expectEveryRule(settings.name)
    }

    @Test("A planted bug is found", arguments: PlantedExchangeBug.inExtent)
    func plantedBug(bug: PlantedExchangeBug) async throws {
        try await ExchangeWorld(bug.settings, bug: bug).expectBug(bug.name)
    }

    @Test("Each command is left out, doubled and done late where that does harm")
    func everyCommand() { #expect(PlantedExchangeBug.missing == []) }
}
