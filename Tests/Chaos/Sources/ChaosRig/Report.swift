import Foundation

/// What a client tells the process that keeps the books, a line at a time.
enum Report {
    private static let lock = NSLock()

    static func line(_ fields: String...) {
        let text = fields.joined(separator: "\t").replacingOccurrences(of: "\n", with: " ") + "\n"
        lock.withLock { FileHandle.standardOutput.write(Data(text.utf8)) }
    }

    /// Something that must not be.
    static func violation(_ text: String) { line("V", text) }

    /// Something that the account counts.
    static func count(_ event: String) { line("C", event) }
}

/// What this process has.
enum Usage {
    static var residentBytes: Int {
        let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
        return (pages.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Without the one that reads the folder.
    static var descriptors: Int { count("/proc/self/fd") - 1 }
    /// Those that Dispatch doesn't keep in its pools.
    static var ownThreads: Int { threadNames.count { !$0.contains("-qos") } }

    private static func count(_ folder: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
    }

    static var threadNames: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return names.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
            .map { $0.trimmingCharacters(in: .newlines) }.sorted()
    }

    /// What the descriptors are, for a story.
    static var openFiles: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .sorted().joined(separator: ", ")
    }
}
