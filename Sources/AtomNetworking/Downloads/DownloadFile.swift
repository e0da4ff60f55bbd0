import Foundation

/// The file that a download is written to, beside its destination.
///
/// Unless it has been moved, it is closed or removed when it is released.
final class DownloadFile: Sendable {
    private struct State {
        var size: Int64
        var isWriting = false
        /// Whether nothing more is written: another download may.
        var isOver = false
        /// Whether it is removed then.
        var isUseless = false
        /// Whoever has given it up while it was written.
        var waiting: DispatchSemaphore?
    }

    /// How long whoever gives it up waits for what is being written: it may be the main actor, and the disk may stall.
    private static let patience = DispatchTimeInterval.milliseconds(50)

    private let path: String
    private let descriptor: Descriptor
    private let state: Guarded<State>
    /// Whether a later download may go on with it.
    let isKept: Bool

    /// The bytes that have been written.
    var size: Int64 { state.withLock { $0.size } }

    /// Opens the file to go on, or creates it.
    ///
    /// - Parameters:
    ///   - size: Where to go on; what follows is cut off.
    ///   - isKept: Whether a later download may go on with it, by the same name.
    ///   - prepare: Called before it is changed, when no other download can use it.
    init(
        _ path: String, size: Int64, isKept: Bool, mode: mode_t, prepare: () throws(AtomError) -> Void
    ) throws(AtomError) {
        // What was there before has been removed, unless another download writes it.
        let descriptor = Descriptor(path, O_RDWR | (size > 0 ? 0 : O_CREAT | O_EXCL), mode: mode)
        if descriptor == nil, !isKept || errno != EEXIST {
            throw Self.failure(errno, size > 0 ? "opened" : "created", path)
        }
        // Until it was locked, another download may have moved or removed it.
        guard let descriptor, !isKept || descriptor.tryLock() || errno != EWOULDBLOCK, Self.isNamed(path, descriptor)
        else {
            throw DownloadPlace.unusable(
                "another download writes “\(DownloadPlace.name(of: path))”", delivery: .answered)
        }
        guard descriptor.size.map({ $0 >= size }) == true else { throw Self.changed(path) }
        try prepare()
        guard descriptor.truncate(to: size) else { throw Self.failure(errno, "written", path) }
        self.path = path
        self.descriptor = descriptor
        self.isKept = isKept
        state = Guarded(State(size: size))
    }

    deinit { giveUp() }

    /// Adds a part, unless the file has been given up.
    func append(_ part: Data) throws(AtomError) {
        let offset = state.withLock { state -> Int64? in
            guard !state.isOver else { return nil }
            state.isWriting = true
            return state.size
        }
        guard let offset else { return }
        // Only the name of a partial file is known to others.
        let isIntact = !isKept || descriptor.size == offset
        let code = !isIntact || descriptor.write(part, at: offset) ? 0 : errno
        let waiting = state.withLock { state in
            state.isWriting = false
            if code == 0, isIntact { state.size += Int64(part.count) }
            if !isIntact { state.isUseless = true }
            if state.isOver { letGo(state) }
            return state.waiting.take()
        }
        waiting?.signal()
        guard isIntact else { throw Self.changed(path) }
        guard code == 0 else { throw Self.failure(code, "written", path) }
    }

    /// Somebody has cut it, and what follows would stand behind a hole, or has put something else in its place.
    static func changed(_ path: String) -> AtomError {
        DownloadPlace.unusable("“\(DownloadPlace.name(of: path))” was changed during the request", delivery: .answered)
    }

    /// Whether the file has these bytes at this place.
    func holds(_ part: Data, at offset: Int64) -> Bool {
        descriptor.read(part.count, at: offset) == part
    }

    /// Leaves the file for a later download, or removes it; returns whether it was left, now or before.
    @discardableResult
    func giveUp(isUseless: Bool = false) -> Bool {
        let (remains, waiting) = state.withLock { state -> (Bool, DispatchSemaphore?) in
            guard !state.isOver else { return (true, nil) }
            state.isOver = true
            state.isUseless =
                (isUseless || state.isUseless || !isKept || state.size == 0) && Self.isNamed(path, descriptor)
            if state.isWriting { state.waiting = DispatchSemaphore(value: 0) } else { letGo(state) }
            return (!state.isUseless, state.waiting)
        }
        _ = waiting?.wait(timeout: .now() + Self.patience)
        return remains
    }

    private func letGo(_ state: State) {
        // The app may have removed it, and another download may have made its own.
        if state.isUseless, Self.isNamed(path, descriptor) { unlink(path) }
        descriptor.unlock()
    }

    /// Moves the file to its destination, in place of what is there; without a mode
    /// it stays for those who may use it already.
    func move(to destination: String, mode: mode_t?) throws(AtomError) {
        guard descriptor.size == size else {
            state.withLock { $0.isUseless = true }
            throw Self.changed(path)
        }
        let code = state.withLock { state -> Int32 in
            guard !state.isOver else { return ECANCELED }
            guard Self.isNamed(path, descriptor) else { return ENOENT }
            // A file system without modes refuses it, and nobody misses them there.
            if let mode { _ = fchmod(descriptor.number, mode) }
            guard rename(path, destination) == 0 else { return errno }
            state.isOver = true
            return 0
        }
        guard code == 0 else { throw Self.failure(code, "moved to its destination", path) }
    }

    /// Whether the path still names the open file.
    private static func isNamed(_ path: String, _ descriptor: Descriptor) -> Bool {
        var named = stat()
        guard lstat(path, &named) == 0, let opened = descriptor.status() else { return false }
        return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
    }

    static func failure(_ code: Int32, _ action: String, _ path: String) -> AtomError {
        .transfer(TransferError("The file “\(DownloadPlace.name(of: path))” could not be \(action)", writing: code))
    }
}
