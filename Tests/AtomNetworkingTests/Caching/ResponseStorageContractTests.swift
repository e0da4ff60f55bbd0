import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// A storage in memory that may have a planted fault; two of one place have the same values.
private final class MemoryStorage: ResponseStorage {
    enum Fault: String, CaseIterable, Sendable {
        case isNotEmpty, failsAtNothing
        case mixesGroups, mixesNames, cutsOff
        case keepsTheFirst, keepsTheEnd
        case removesTheGroup, keepsRemoved
        case copies, overwrites, losesTheRest, removesAtNoMove
        case staysOpen, throwsAtEnd, endsAll, movesToEnded, movesTheMark, forgetsEnds
        case removesAll, removesNone, staysClosed
        case isNotShared, endsForItself
        case writesInParts

        /// The check that finds it.
        var check: String {
            switch self {
            case .isNotEmpty, .failsAtNothing: "emptyAtFirst"
            case .mixesGroups, .mixesNames, .cutsOff: "returnsWhatWasStored"
            case .keepsTheFirst, .keepsTheEnd: "storeReplaces"
            case .removesTheGroup, .keepsRemoved: "removesOneValue"
            case .copies, .overwrites, .losesTheRest, .removesAtNoMove: "movesGroups"
            case .staysOpen, .throwsAtEnd, .endsAll, .movesToEnded, .movesTheMark, .forgetsEnds: "endsGroups"
            case .removesAll, .removesNone, .staysClosed: "removesOtherGroups"
            case .isNotShared, .endsForItself: "objectsShareValues"
            case .writesInParts: "readersGetWholeValues"
            }
        }
    }

    final class Place: Sendable {
        let groups = Locked<[String: [String: Data]]>([:])
        let ended = Locked<Set<String>>([])
    }

    private struct Planned: Error {}

    private let fault: Fault?
    private let place: Place
    private let ended: Locked<Set<String>>

    init(_ place: Place, _ fault: Fault?) {
        self.fault = fault
        self.place = fault == .isNotShared ? Place() : place
        ended = fault == .endsForItself ? Locked([]) : place.ended
    }

    private func name(_ name: String) -> String { fault == .mixesNames ? String(name.prefix(63)) : name }

    private func key(_ group: String) -> String { fault == .mixesGroups ? "all" : group }

    func data(named name: String, in group: String) throws -> Data? {
        let found = place.groups.value[key(group)]?[self.name(name)]
        return fault == .isNotEmpty ? found ?? Data("x".utf8) : found
    }

    func store(_ data: Data, named name: String, in group: String) throws {
        if ended.value.contains(group), fault != .staysOpen {
            if fault == .throwsAtEnd { throw Planned() }
            return
        }
        let (name, group) = (self.name(name), key(group))
        if fault == .writesInParts {
            place.groups.with { $0[group, default: [:]][name] = data.prefix(data.count / 2) }
            // Whoever reads has time to.
            for _ in 0..<1_000 { sched_yield() }
        }
        place.groups.with { groups in
            let old = groups[group]?[name]
            if fault == .keepsTheFirst, old != nil { return }
            var data = fault == .cutsOff ? data.prefix(65_536) : data
            if fault == .keepsTheEnd, let old, old.count > data.count { data += old.dropFirst(data.count) }
            groups[group, default: [:]][name] = data
        }
    }

    func remove(named name: String, in group: String) throws {
        if fault == .failsAtNothing, try data(named: name, in: group) == nil { throw Planned() }
        if fault == .keepsRemoved { return }
        place.groups.with { groups in
            groups[key(group)]?[self.name(name)] = nil
            if fault == .removesTheGroup { groups[key(group)] = nil }
        }
    }

    func move(group: String, to other: String) throws {
        if fault == .movesTheMark, ended.value.contains(group) {
            ended.with { _ = $0.insert(other) }
            place.groups.with { $0[other] = nil }
        }
        if group == other, fault != .removesAtNoMove { return }
        place.groups.with { groups in
            let moved = groups[group] ?? [:]
            if fault != .copies { groups[group] = nil }
            if ended.value.contains(other), fault != .movesToEnded { return }
            if fault == .losesTheRest, groups[other] != nil { return }
            if fault == .removesAtNoMove, group == other { return }
            groups[other, default: [:]].merge(moved) { fault == .overwrites ? $1 : $0 }
        }
    }

    func end(group: String) throws {
        ended.with { _ = $0.insert(group) }
        place.groups.with { groups in
            groups[group] = nil
            if fault == .endsAll { groups = [:] }
        }
    }

    func removeAll(except group: String?) throws {
        if fault == .forgetsEnds { ended.set([]) }
        place.groups.with { groups in
            if fault == .staysClosed { ended.with { $0.formUnion(groups.keys.filter { $0 != group }) } }
            if fault == .removesNone, group != nil { return }
            groups = groups.filter { $0.key == group && fault != .removesAll }
        }
    }
}

@Suite("The contract of a storage", .limited)
struct ResponseStorageContractTests {
    private func report(_ fault: MemoryStorage.Fault?) async -> ContractReport {
        let places = Locked<[String: MemoryStorage.Place]>([:])
        return await checkResponseStorage { name in
            let place = places.with { places in
                let place = places[name] ?? MemoryStorage.Place()
                places[name] = place
                return place
            }
            return MemoryStorage(place, fault)
        }
    }

    @Test("A storage in memory meets it")
    func memory() async throws {
        let report = try await report(nil).get()
        #expect(report.findings.count == 9 && report.findings.allSatisfy { $0.outcome == .met })
    }

    @Test("Each planted fault is found by its check", arguments: MemoryStorage.Fault.allCases)
    fileprivate func planted(fault: MemoryStorage.Fault) async {
        let failures = await report(fault).failures.map(\.name)
        #expect(failures.contains(fault.check), "\(failures)")
    }

    @Test("A storage that can't be made, or fails, is reported by each check")
    func failing() async {
        struct Planned: Error {}
        let report = await checkResponseStorage { _ in throw Planned() }
        #expect(report.failures.count == report.findings.count)
    }
}
