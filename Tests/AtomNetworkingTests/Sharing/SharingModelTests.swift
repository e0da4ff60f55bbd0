import Testing

@Suite("Every interleaving of callers who share exchanges", .limited(minutes: 15))
struct SharingModelTests {
    struct Settings: Sendable, CustomTestStringConvertible {
        var things: [Int]
        var signIns: Int

        var testDescription: String { "\(things.count) callers for \(things), \(signIns) sign-ins" }
    }

    @Test(
        "Every rule of sharing holds in every state that the model reaches",
        arguments: [
            Settings(things: [0, 0], signIns: 1), Settings(things: [0, 0, 0], signIns: 1),
            Settings(things: [0, 0, 1], signIns: 1), Settings(things: [0, 0, 1], signIns: 2),
        ])
    func everyState(settings: Settings) async {
        await SharingWorld(things: settings.things, signIns: settings.signIns)
            .expectEveryRule(settings.testDescription)
    }

    @Test("The model finds each bug that is planted in it", arguments: PlantedSharingBug.allCases)
    func plantedBug(bug: PlantedSharingBug) async {
        await SharingWorld(things: [0, 0, 1], signIns: 1, bug: bug).expectBug("\(bug)")
    }
}
