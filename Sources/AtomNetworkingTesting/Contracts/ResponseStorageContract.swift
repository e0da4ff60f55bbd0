import AtomNetworking
import Foundation

/// Checks whether a `ResponseStorage` does what its documentation demands.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// func checkStorage(_ open: @escaping @Sendable (_ place: String) throws -> any ResponseStorage) async throws {
///     try await checkResponseStorage(open).get()
/// }
/// ```
///
/// It checks neither what happens if there is no room, nor when a process is killed, nor that a group that has ended
/// can be used again after a day.
///
/// - Parameter make: Makes an object for a place, which is a name without meaning: a part of a file's name, or of a
///   key. Two objects of one place have the same values, because the second one stands for another process. Each place
///   is empty at first, and has room for a megabyte.
/// - Returns: What each check has found. Its `get()` throws if one has failed.
public func checkResponseStorage(
    _ make: @escaping @Sendable (_ place: String) throws -> any ResponseStorage
) async -> ContractReport {
    var findings: [ContractReport.Finding] = []
    for check in StorageTrial.Check.allCases {
        let trial = StorageTrial(make: make)
        // A storage may block its thread.
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "AtomNetworkingTesting.storage").async {
                do { try trial.run(check) } catch { trial.findings.note("the storage failed: \(error)") }
                continuation.resume()
            }
        }
        findings.append(trial.findings.finding(check.rawValue, check.requirement))
    }
    return ContractReport(subject: "ResponseStorage", findings: findings)
}

/// One run of one check: the place of its storage, and what it has seen.
private final class StorageTrial: Sendable {
    enum Check: String, CaseIterable {
        case emptyAtFirst, returnsWhatWasStored, storeReplaces, removesOneValue, movesGroups, endsGroups
        case removesOtherGroups, objectsShareValues, readersGetWholeValues

        var requirement: String {
            switch self {
            case .emptyAtFirst: "`data` returns `nil` if there is nothing, and removing nothing is no error."
            case .returnsWhatWasStored: "`data` returns what `store` has stored, by its name and its group."
            case .storeReplaces: "`store` replaces an earlier value."
            case .removesOneValue: "`remove` removes one value."
            case .movesGroups: "`move` gives a group another name, and the values there already stay."
            case .endsGroups: "`end` removes a group, and what is stored in it later is dropped without an error."
            case .removesOtherGroups: "`removeAll` removes all groups but one, and they can be used again."
            case .objectsShareValues: "All objects of one place see the same values, and which groups have ended."
            case .readersGetWholeValues: "Whoever reads while a value is replaced gets one of both, or nothing."
            }
        }
    }

    let findings = Findings()
    private let make: @Sendable (String) throws -> any ResponseStorage
    private let place = UUID().uuidString.lowercased()

    init(make: @escaping @Sendable (String) throws -> any ResponseStorage) { self.make = make }

    /// Another object of the same place: another process, as far as one process can stand for two.
    private func storage() throws -> any ResponseStorage { try make(place) }

    /// A value that can be told from all others.
    private static func value(_ number: Int, size: Int = 300) -> Data {
        Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &+ number) })
    }

    private func expect(
        _ number: Int?, _ name: String, in group: String, of storage: any ResponseStorage, _ when: String
    ) throws {
        func words(_ number: Int?) -> String { number.map { "value \($0)" } ?? "nothing" }
        let data = try storage.data(named: name, in: group)
        let found = data.map { data in
            (1...9).first { Self.value($0) == data }.map { words($0) } ?? "something else"
        }
        findings.expect(
            data == number.map { Self.value($0) },
            "\(when), “\(name)” in “\(group)” was \(found ?? words(nil)) instead of \(words(number))")
    }

    private func store(_ number: Int, _ name: String, in group: String, of storage: any ResponseStorage) throws {
        try storage.store(Self.value(number), named: name, in: group)
    }

    func run(_ check: Check) throws {
        let storage = try storage()
        switch check {
        case .emptyAtFirst:
            try expect(nil, "a", in: "one", of: storage, "at first")
            try storage.remove(named: "a", in: "one")
            try storage.move(group: "one", to: "two")
            try storage.removeAll(except: "one")
            try storage.removeAll(except: nil)
            try expect(nil, "a", in: "two", of: storage, "after nothing was moved")
        case .returnsWhatWasStored: try returnsWhatWasStored(storage)
        case .storeReplaces:
            for number in 1...3 {
                try store(number, "a", in: "one", of: storage)
                try expect(number, "a", in: "one", of: storage, "after write \(number)")
            }
            try storage.store(Self.value(4, size: 3), named: "a", in: "one")
            findings.expect(
                try storage.data(named: "a", in: "one") == Self.value(4, size: 3),
                "a short value didn't replace a long one")
        case .removesOneValue:
            for (name, group) in [("a", "one"), ("b", "one"), ("a", "two")] {
                try store(1, name, in: group, of: storage)
            }
            for _ in 0..<2 { try storage.remove(named: "a", in: "one") }
            try expect(nil, "a", in: "one", of: storage, "after its removal")
            try expect(1, "b", in: "one", of: storage, "after the removal of another one")
            try expect(1, "a", in: "two", of: storage, "after the removal of one in another group")
            try store(2, "a", in: "one", of: storage)
            try expect(2, "a", in: "one", of: storage, "when it was stored again")
        case .movesGroups: try movesGroups(storage)
        case .endsGroups: try endsGroups(storage)
        case .removesOtherGroups: try removesOtherGroups(storage)
        case .objectsShareValues: try objectsShareValues(storage)
        case .readersGetWholeValues: try readersGetWholeValues(storage)
        }
    }

    private func returnsWhatWasStored(_ storage: any ResponseStorage) throws {
        let long = String(repeating: "0123456789abcdef", count: 4)
        let names = ["0", "a", "a-", "b-1", long, long.dropLast() + "0"]
        var stored: [(name: String, group: String, value: Data)] = []
        for group in names {
            for name in names {
                let number = stored.count + 1
                let sizes = [700, 1_400, 2_100, 2_800, 3_500, 4_200, 4_900, 5_600, 6_300]
                stored.append((name, group, Self.value(number, size: number == 1 ? 1 : sizes[number % sizes.count])))
            }
        }
        stored.append((long, "large", Self.value(1, size: 100_000)))
        for each in stored { try storage.store(each.value, named: each.name, in: each.group) }
        for each in stored {
            findings.expect(
                try storage.data(named: each.name, in: each.group) == each.value,
                "“\(each.name)” in “\(each.group)” wasn't what was stored")
        }
    }

    private func movesGroups(_ storage: any ResponseStorage) throws {
        try store(1, "a", in: "one", of: storage)
        try store(2, "b", in: "one", of: storage)
        try storage.move(group: "one", to: "two")
        try expect(nil, "a", in: "one", of: storage, "after the move")
        try expect(1, "a", in: "two", of: storage, "after the move")
        try expect(2, "b", in: "two", of: storage, "after the move")
        try storage.move(group: "one", to: "two")
        try storage.move(group: "two", to: "two")
        try expect(1, "a", in: "two", of: storage, "after moves of nothing, and to the same name")
        for (number, name) in [(3, "a"), (4, "c")] { try store(number, name, in: "one", of: storage) }
        try storage.move(group: "one", to: "two")
        for (number, name) in [(1, "a"), (2, "b"), (4, "c")] {
            try expect(number, name, in: "two", of: storage, "after a move to a group with values")
        }
        for name in ["a", "c"] {
            try expect(nil, name, in: "one", of: storage, "after a move to a group with values")
        }
        try store(5, "a", in: "one", of: storage)
        try expect(5, "a", in: "one", of: storage, "when it was stored after the move")
    }

    private func endsGroups(_ storage: any ResponseStorage) throws {
        for group in ["one", "two"] { try store(1, "a", in: group, of: storage) }
        // The second one has had nothing in it, and the third time changes nothing.
        for group in ["one", "three", "one"] { try storage.end(group: group) }
        for group in ["one", "three"] {
            try expect(nil, "a", in: group, of: storage, "after its end")
            try store(2, "a", in: group, of: storage)
            try expect(nil, "a", in: group, of: storage, "when it was stored after the end")
        }
        try storage.remove(named: "a", in: "one")
        try expect(1, "a", in: "two", of: storage, "after the end of another group")
        try storage.move(group: "two", to: "one")
        try expect(nil, "a", in: "one", of: storage, "after a move to a group that has ended")
        try expect(nil, "a", in: "two", of: storage, "after its move to a group that has ended")
        try store(3, "a", in: "four", of: storage)
        try storage.move(group: "one", to: "four")
        try expect(3, "a", in: "four", of: storage, "after a move of a group that has ended")
        try storage.removeAll(except: nil)
        try store(4, "a", in: "one", of: storage)
        try expect(nil, "a", in: "one", of: storage, "when it was stored after the end and `removeAll`")
    }

    private func removesOtherGroups(_ storage: any ResponseStorage) throws {
        for group in ["one", "two", "three"] { try store(1, "a", in: group, of: storage) }
        try storage.removeAll(except: "two")
        try expect(1, "a", in: "two", of: storage, "when all others were removed")
        for group in ["one", "three"] {
            try expect(nil, "a", in: group, of: storage, "after its removal")
            try store(2, "a", in: group, of: storage)
            try expect(2, "a", in: group, of: storage, "when it was stored after the removal")
        }
        try storage.removeAll(except: nil)
        for group in ["one", "two", "three"] {
            try expect(nil, "a", in: group, of: storage, "after the removal of all")
        }
    }

    private func objectsShareValues(_ storage: any ResponseStorage) throws {
        let other = try self.storage()
        for number in 1...2 {
            try store(number, "a", in: "one", of: storage)
            try expect(number, "a", in: "one", of: other, "stored by another object")
        }
        try other.move(group: "one", to: "two")
        try expect(nil, "a", in: "one", of: storage, "moved by another object")
        try expect(2, "a", in: "two", of: storage, "moved by another object")
        try other.end(group: "two")
        try store(3, "a", in: "two", of: storage)
        for each in [storage, other, try self.storage()] {
            try expect(nil, "a", in: "two", of: each, "stored after the end by another object")
        }
        try store(4, "a", in: "three", of: storage)
        try other.removeAll(except: nil)
        try expect(nil, "a", in: "three", of: storage, "removed by another object")
    }

    private func readersGetWholeValues(_ storage: any ResponseStorage) throws {
        let values = [Self.value(1, size: 40_000), Self.value(2, size: 30_000)]
        let writer = try self.storage()
        let isWritten = Guarded(false)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue(label: "AtomNetworkingTesting.storage.writer").async { [findings] in
            do {
                for round in 0..<200 { try writer.store(values[round % 2], named: "a", in: "one") }
            } catch {
                findings.note("`store` failed while another object reads: \(error)")
            }
            isWritten.withLock { $0 = true }
            done.signal()
        }
        defer { done.wait() }
        while !isWritten.withLock({ $0 }) {
            guard let found = try storage.data(named: "a", in: "one") else { continue }
            findings.expect(values.contains(found), "a reader got something else while a value was replaced")
        }
    }
}
