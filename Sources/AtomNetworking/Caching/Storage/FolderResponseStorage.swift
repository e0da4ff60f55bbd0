import Foundation

/// Keeps responses in a folder on a disk: in it one folder for each group, and in that one file for each value.
///
/// A file is written under another name and then renamed. Nothing waits until it is on the disk: if the power fails, a
/// file may be incomplete, which its own checksum tells, or missing, and then the response is asked for again.
///
/// When a file was used last is its time of modification. A group that has ended is an empty file in place of its
/// folder. All names in the folder have an ending of ours, so that nothing else is counted or removed if the app has
/// named a folder in which other things are.
final class FolderResponseStorage: ResponseStorage {
    private struct Room {
        /// About how many bytes there are, if they have been counted: others write, too.
        var taken: Int64?
        /// How many bytes were stored since then.
        var stored: Int64 = 0
    }

    private let place: Result<FilePlace, FolderError>
    private let capacity: Int64
    private let now: @Sendable () -> Date
    private let room = Guarded(Room())

    /// Creates a storage; nothing is read, written or checked until it is used.
    init(_ disk: ResponseCache.Disk, now: @escaping @Sendable () -> Date = { Date() }) {
        place = Result { () throws(FolderError) in try FilePlace(disk.folder) }
        capacity = max(disk.capacity, 0)
        self.now = now
    }

    /// Opened each time: the system, or the user, may remove it.
    private func open(creating: Bool) throws(FolderError) -> PrivateFolder? {
        try PrivateFolder(place.get().path, creating: creating)
    }

    // MARK: Values

    func data(named name: String, in group: String) throws -> Data? {
        guard let top = try open(creating: false), let folder = try folder(of: group, in: top),
            let file = try folder.open(name, O_RDONLY)
        else { return nil }
        let status = try PrivateFolder.status(of: file)
        guard Int64(status.st_size) <= largest, let size = Int(exactly: status.st_size) else { return nil }
        guard let data = file.read(size, at: 0) else { throw FolderError(errno, during: "read") }
        // This may fail on a read-only disk; reading is still fine.
        if abs(now().timeIntervalSince(status.modified)) > Self.minute { _ = file.setModified(now()) }
        return data
    }

    func store(_ data: Data, named name: String, in group: String) throws {
        let size = Self.space(for: Int64(data.count))
        guard size <= largest else { return try remove(named: name, in: group) }
        try makeRoom(for: size)
        var isStored = false
        try again { () throws(FolderError) in
            guard let top = try open(creating: true), try !hasEnded(group, in: top) else { return }
            let folder = try PrivateFolder(Self.name(of: group), in: top, creating: true)
            try folder?.replace(name, with: data) { file, _ in _ = file.setModified(now()) }
            isStored = folder != nil
        }
        guard isStored else { return }
        room.withLock { room in
            room.taken? += size
            room.stored += size
        }
    }

    func remove(named name: String, in group: String) throws {
        guard let top = try open(creating: false) else { return }
        try folder(of: group, in: top)?.remove(name)
    }

    /// What is larger would push out too much.
    private var largest: Int64 { capacity / 2 }

    /// A use is written down at most once in this time: each write wears the disk.
    private static let minute: TimeInterval = 60

    /// A disk gives whole blocks.
    private static func space(for size: Int64) -> Int64 { max(size, 4_096) }

    // MARK: Groups

    func move(group: String, to other: String) throws {
        guard group != other, let top = try open(creating: false) else { return }
        let (old, new) = (Self.name(of: group), Self.name(of: other))
        try again { () throws(FolderError) in
            guard top.status(of: old)?.kind == S_IFDIR else { return }
            if try hasEnded(other, in: top) { return try removeGroup(old, in: top) }
            do throws(FolderError) {
                try top.rename(old + Self.folderOnly, to: new)
            } catch  where [ENOTEMPTY, EEXIST].contains(error.code) {
                try merge(old, into: new, in: top)
            }
        }
    }

    /// Moves the files that the other group doesn't have, and removes the rest.
    private func merge(_ old: String, into new: String, in top: PrivateFolder) throws(FolderError) {
        guard let source = try PrivateFolder(old, in: top, creating: false),
            let target = try PrivateFolder(new, in: top, creating: false)
        else { throw FolderError(ENOENT, during: "open") }
        for name in try source.names() where !PrivateFolder.isUnique(name, nil, PrivateFolder.unfinished) {
            // If another process stores it just now, one of two good values stays.
            guard target.status(of: name) == nil else { continue }
            let isMoved = renameat(source.descriptor.number, name, target.descriptor.number, name) == 0
            // Another process may have moved it, or removed the group.
            try PrivateFolder.check(isMoved || errno == ENOENT, "rename")
        }
        try removeGroup(old, in: top)
    }

    func end(group: String) throws {
        // Also if there is nothing yet: what another process is about to store must find the mark.
        guard let top = try open(creating: true) else { return }
        let name = Self.name(of: group)
        var removed: [String] = []
        func close() throws(FolderError) {
            try again([EISDIR]) { () throws(FolderError) in
                if let aside = try setAside(name, in: top) { removed.append(aside) }
                // It fails with `EISDIR` if another process has created the folder again.
                _ = try top.open(name, O_WRONLY | O_CREAT)?.setModified(now())
            }
        }
        // Once more, since on a full disk there may be room now.
        for isLast in [false, true] {
            let result = Result { () throws(FolderError) in try close() }
            // What others write there just now goes, too.
            for aside in removed { try top.removeFolder(aside) }
            removed = []
            if isLast { try result.get() } else if case .success = result { return }
        }
    }

    func removeAll(except group: String?) throws {
        guard let top = try open(creating: false) else { return }
        let kept = group.map(Self.name)
        var failure: FolderError?
        for entry in try top.names() where entry != kept && top.status(of: entry)?.kind == S_IFDIR {
            do throws(FolderError) {
                if Self.isAside(entry) {
                    try top.removeFolder(entry)
                } else if Self.isGroup(entry) {
                    try removeGroup(entry, in: top)
                }
            } catch {
                failure = failure ?? error
            }
        }
        room.withLock { $0 = Room() }
        if let failure { throw failure }
    }

    /// The group's folder; `nil` if there is none, or if the group has ended.
    private func folder(of group: String, in top: PrivateFolder) throws(FolderError) -> PrivateFolder? {
        do throws(FolderError) {
            return try PrivateFolder(Self.name(of: group), in: top, creating: false)
        } catch  where error.code == ENOTDIR {
            return nil
        }
    }

    /// Whether the group has ended not long ago; an old mark is removed.
    private func hasEnded(_ group: String, in top: PrivateFolder) throws(FolderError) -> Bool {
        let name = Self.name(of: group)
        guard let status = top.status(of: name), status.kind == S_IFREG else { return false }
        if isYoung(status, Self.memory) { return true }
        try top.remove(name)
        return false
    }

    private func removeGroup(_ name: String, in top: PrivateFolder) throws(FolderError) {
        guard let aside = try setAside(name, in: top) else { return }
        try top.removeFolder(aside)
    }

    /// Renames a group's folder, so that nobody finds it; `nil` if there is none.
    private func setAside(_ name: String, in top: PrivateFolder) throws(FolderError) -> String? {
        let aside = PrivateFolder.unique(name, Self.aside)
        do throws(FolderError) {
            try top.rename(name + Self.folderOnly, to: aside)
        } catch  where [ENOENT, ENOTDIR].contains(error.code) {
            return nil
        }
        return aside
    }

    /// How long it is known that a group has ended.
    private static let memory: TimeInterval = 86_400

    /// Behind a name: a mark in place of the folder isn't renamed.
    private static let folderOnly = "/"

    /// Tries again when another process has removed or created a folder in between.
    private func again(
        _ codes: [Int32] = [ENOENT, ENOTDIR], _ attempt: () throws(FolderError) -> Void
    ) throws(FolderError) {
        for _ in 0..<Self.tries {
            do throws(FolderError) {
                return try attempt()
            } catch  where codes.contains(error.code) {
                continue
            }
        }
        try attempt()
    }

    private static let tries = 20

    // MARK: Room

    /// Removes what was used least recently if there would be too much.
    private func makeRoom(for size: Int64) throws(FolderError) {
        let isKnown = room.withLock { room in
            room.taken.map { $0 + size <= capacity && room.stored + size <= capacity / 10 } ?? false
        }
        if isKnown { return }
        let taken = try countAndEvict(for: size)
        room.withLock { $0 = Room(taken: taken) }
    }

    /// A file, as a path in the folder.
    private struct Kept {
        let path: String
        let size: Int64
        let used: Date
    }

    /// Counts what there is, removes what is no longer needed, and makes room.
    ///
    /// - Returns: How many bytes there are.
    private func countAndEvict(for size: Int64) throws(FolderError) -> Int64 {
        guard let top = try open(creating: false) else { return 0 }
        var (kept, groups): ([Kept], [String]) = ([], [])
        for entry in try top.names() {
            guard let status = top.status(of: entry) else { continue }
            if Self.isAside(entry) {
                // Its process may have been killed; otherwise both remove it.
                try? top.removeFolder(entry)
            } else if Self.isGroup(entry), status.kind == S_IFREG {
                if !isYoung(status, Self.memory) { try? top.remove(entry) }
            } else if Self.isGroup(entry), status.kind == S_IFDIR {
                groups.append(entry)
                kept += try files(of: entry, in: top)
            }
        }
        var taken = kept.reduce(0) { $0 + $1.size }
        if taken + size > capacity {
            let goal = capacity - capacity / 5 - size
            for file in kept.sorted(by: { ($0.used, $0.path) < ($1.used, $1.path) }) {
                if taken <= goal { break }
                if (try? top.remove(file.path)) != nil { taken -= file.size }
            }
        }
        guard taken + size <= capacity else { throw FolderError(ENOSPC, during: "unlink", isWriting: true) }
        // It fails if there is something in it. Whoever is about to write there creates it again.
        for group in groups { unlinkat(top.descriptor.number, group, AT_REMOVEDIR) }
        return taken
    }

    /// The files of a group, without what killed writers have left, which is removed.
    private func files(of entry: String, in top: PrivateFolder) throws(FolderError) -> [Kept] {
        let group: PrivateFolder?
        do throws(FolderError) {
            group = try PrivateFolder(entry, in: top, creating: false)
        } catch  where error.reason != nil {
            // It isn't a folder any more, or never was ours.
            return []
        }
        guard let group else { return [] }
        var kept: [Kept] = []
        for name in try group.names() {
            guard let status = group.status(of: name) else { continue }
            let isUnfinished = PrivateFolder.isUnique(name, nil, PrivateFolder.unfinished)
            // Nobody writes that long.
            if isUnfinished, !isYoung(status, Self.patience), (try? group.remove(name)) != nil { continue }
            // A time to come is that of a clock that was wrong.
            let isWrong = status.modified.timeIntervalSince(now()) > Self.minute
            kept.append(
                Kept(
                    path: "\(entry)/\(name)", size: Self.space(for: Int64(status.st_size)),
                    used: isUnfinished ? .distantFuture : isWrong ? .distantPast : status.modified))
        }
        return kept
    }

    /// How long another process may be at a write.
    private static let patience: TimeInterval = 3_600

    private func isYoung(_ status: stat, _ limit: TimeInterval) -> Bool {
        abs(now().timeIntervalSince(status.modified)) < limit
    }

    // MARK: Names

    private static let ending = ".responses"
    private static let aside = "ended"

    private static func name(of group: String) -> String { group + ending }

    private static func isGroup(_ entry: String) -> Bool { entry.hasSuffix(ending) }

    private static func isAside(_ entry: String) -> Bool {
        PrivateFolder.isUnique(entry, nil, aside) && isGroup(String(entry.dropLast(aside.utf8.count + 18)))
    }
}
