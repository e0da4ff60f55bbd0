import Foundation

/// Runs suites, and compares what comes out with the exceptions that are expected.
///
///     conformance FOLDER EXPECTED suite…
@main struct Conformance {
    static let suites: [(name: String, run: @Sendable (Folder) async throws -> [Case])] = [
        ("cookies", cookies), ("dates", dates), ("urls", urls), ("setters", setters), ("responses", responses),
        ("lengths", lengths), ("media-types", mediaTypes), ("events", events), ("certificates", certificates),
        ("caching", caching),
    ]

    /// A folder with the unpacked projects.
    struct Folder {
        let url: URL

        func file(_ path: String) -> URL { url.appendingPathComponent(path) }

        func bytes(_ path: String) throws -> Data {
            do { return try Data(contentsOf: file(path)) } catch { throw Missing(path: file(path).path) }
        }

        func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

        /// The objects of a list in JSON, between which there may be texts.
        func list(_ path: String) throws -> [[String: Any]] {
            // A comment is no JSON.
            let text = try text(path).split(separator: "\n").filter { !$0.hasPrefix("//") }.joined(separator: "\n")
            let list = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any]
            return (list ?? []).compactMap { $0 as? [String: Any] }
        }
    }

    struct Missing: Error { let path: String }

    /// One case, and what is wrong with the result, if anything is.
    struct Case {
        let id: String
        let title: String
        let problem: String?

        /// The id says which case of the file it is, and doesn't change when others are added.
        init(_ file: String = "", _ title: String, problem: String?) {
            // FNV-1a.
            let digest = title.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
            id = file + (file.isEmpty ? "" : "/") + String(digest >> 24, radix: 16)
            self.title = "\(file) \(title.debugDescription)"
            self.problem = problem
        }

        init(id: String, problem: String?) {
            self.id = id
            title = ""
            self.problem = problem
        }

        static func difference<T: Equatable>(_ expected: T, _ actual: T) -> String? {
            expected == actual ? nil : "expected \(expected), got \(actual)"
        }
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count >= 2 else { return fail("usage: conformance FOLDER EXPECTED suite…") }
        let folder = Folder(url: URL(fileURLWithPath: arguments[1]))
        var (total, failures) = (0, 0)
        for name in arguments.dropFirst(2) {
            guard let suite = suites.first(where: { $0.name == name }) else { return fail("no suite \(name)") }
            var cases: [Case] = []
            do {
                // A suite may have a case more than once.
                for item in try await suite.run(folder) where !cases.contains(where: { $0.id == item.id }) {
                    cases.append(item)
                }
            } catch let missing as Missing {
                return fail("\(name): there is no \(missing.path)")
            }
            let expected = URL(fileURLWithPath: arguments[2]).appendingPathComponent("\(name).txt")
            total += cases.count
            failures += report(cases, of: name, expected: try exceptions(expected))
        }
        if failures > 0 { fail("\(failures) results are not as expected") }
        print("\(total) cases, all as expected")
    }

    /// The reasons of the exceptions, by the ids of their cases; there may be no file.
    private static func exceptions(_ url: URL) throws -> [String: String] {
        guard FileManager.default.fileExists(atPath: url.path) else { return [:] }
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
        return Dictionary(
            lines.map { line in
                let parts = line.split(separator: "\t", maxSplits: 1)
                return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Prints what isn't as expected, and returns how much that is.
    private static func report(_ cases: [Case], of suite: String, expected: [String: String]) -> Int {
        var exceptions = expected
        var counts = (passed: 0, excepted: 0, wrong: 0)
        func complain(_ text: String) {
            counts.wrong += 1
            print("    \(text)")
        }
        if cases.isEmpty { complain("no case was found") }
        for item in cases {
            let reason = exceptions.removeValue(forKey: item.id)
            switch (item.problem, reason) {
            case (nil, nil): counts.passed += 1
            case (nil, _?): complain("passes, and is an exception: \(item.id) \(item.title)")
            case (_?, let reason?):
                counts.excepted += 1
                if reason.isEmpty { complain("has no reason: \(item.id)") }
            case (let problem?, nil): complain("FAILED \(item.id) \(item.title): \(problem)")
            }
        }
        for id in exceptions.keys.sorted() { complain("is an exception, and no case: \(id)") }
        print(
            "\(suite): \(cases.count) cases, \(counts.passed) passed, \(counts.excepted) excepted, \(counts.wrong) failed"
        )
        return counts.wrong
    }

    private static func fail(_ text: String) {
        FileHandle.standardError.write(Data("error: \(text)\n".utf8))
        exit(1)
    }
}
