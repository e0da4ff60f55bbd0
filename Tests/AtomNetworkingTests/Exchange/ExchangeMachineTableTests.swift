import Foundation
import Testing

@testable import AtomNetworking

@Suite("What an exchange does on each event in each state")
struct ExchangeMachineTableTests {
    @Test("The table has a cell for each state and event", arguments: ExchangeSample.allCases)
    func cells(sample: ExchangeSample) throws {
        let row = try #require(ExchangeTable.rows[sample], "no row for \(sample)")
        var cells: [String: String] = [:]
        for line in row.replacing(",\n", with: ",").split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            for name in parts[0].split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) {
                #expect(cells.updateValue(parts[1], forKey: name) == nil, "\(name) stands twice in \(sample)")
            }
        }
        for event in ExchangeEvent.allCases {
            var machine = try sample.machine()
            let step = event.handled(by: &machine)
            let actual = ExchangeTable.describe(step, machine)
            guard let expected = cells.removeValue(forKey: event.rawValue) else {
                Issue.record("\(sample) has no cell for \(event), which does “\(actual)”")
                continue
            }
            #expect(actual == expected, "\(event) in \(sample)")
        }
        #expect(cells.isEmpty, "\(sample) has cells for what is no event")
    }
}
