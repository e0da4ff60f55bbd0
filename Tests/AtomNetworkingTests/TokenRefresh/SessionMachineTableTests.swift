import Foundation
import Testing

@testable import AtomNetworking

@Suite("The session machine, every phase by every event", .limited)
struct SessionMachineTableTests {
    @Test(
        "The session does in each phase what the table says, and nothing where it says nothing",
        arguments: MachinePhase.allCases)
    func row(of phase: MachinePhase) throws {
        let table = MachineTable.expected[phase.rawValue] ?? [:]
        for event in MachineEvent.allCases {
            var fixture = phase.fixture
            let nothing = "\(event.nothing) → \(fixture.phase)"
            let outcome = event.happen(to: &fixture)
            let actual = "\(outcome) → \(fixture.phase)"
            let expected = table[event.rawValue]
            #expect(actual == expected ?? nothing, "\(phase.rawValue) × \(event.rawValue)")
            #expect(expected != nothing, "\(phase.rawValue) × \(event.rawValue): the table need not say that")
        }
        #expect(Set(MachineEvent.allCases.map(\.rawValue)).isSuperset(of: table.keys), "a cell is no event's")
    }

    @Test("The table has no row for a phase that there isn't")
    func rows() {
        #expect(Set(MachineTable.expected.keys) == Set(MachinePhase.allCases.map(\.rawValue)))
    }
}

/// The expected outcomes, read from the text of the tables.
///
/// An event that a phase doesn't list changes nothing there.
enum MachineTable {
    static let expected: [String: [String: String]] = {
        var table: [String: [String: String]] = [:]
        var phase = ""
        for line in [withoutRefresh, whileRefreshing, afterwards, inStore, acquired].joined(separator: "\n").split(
            separator: "\n")
        {
            if line.hasPrefix("  ") {
                guard let colon = line.firstRange(of: ": ") else { continue }
                let event = String(line[..<colon.lowerBound].dropFirst(2))
                table[phase, default: [:]][event] = String(line[colon.upperBound...])
            } else {
                phase = String(line)
            }
        }
        return table
    }()
}
