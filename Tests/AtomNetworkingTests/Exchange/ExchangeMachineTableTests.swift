import Foundation
import Testing

@testable import AtomNetworking

@Suite("What an exchange does on each event in each state", .limited)
struct ExchangeMachineTableTests {
    /// The table has a cell for each event that is no matter of course: others
    /// change nothing, and undo what came too late.
    @Test("The table has a cell for what isn't trivial", arguments: ExchangeSample.allCases)
    func cells(sample: ExchangeSample) throws {
        var cells: [String: String] = [:]
        let row = try #require(ExchangeTable.rows[sample], "no row for \(sample)")
        for line in row.replacing(",\n", with: ",").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            for name in parts[0].split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                #expect(cells.updateValue(parts[1], forKey: name) == nil, "\(name) stands twice in \(sample)")
            }
        }
        for event in ExchangeEvent.allCases {
            var machine = try sample.machine()
            let trivial = ([ExchangeTable.describe(machine)] + [ExchangeTable.remedy(event)].compactMap { $0 })
                .joined(separator: ", ")
            let actual = ExchangeTable.describe(event.handled(by: &machine), machine)
            #expect(actual == cells.removeValue(forKey: event.rawValue) ?? trivial, "\(event) in \(sample)")
        }
        #expect(cells.isEmpty, "\(sample) has cells for what is no event")
    }
}
