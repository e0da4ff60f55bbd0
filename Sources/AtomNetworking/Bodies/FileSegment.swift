import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A file in a body, as it was when the request was prepared.
///
/// It is not held open, so a body may have more files than a process can open.
struct FileSegment: Sendable {
    let path: String

    /// The file's name for messages, without its folder.
    let name: String

    let state: State

    /// How it is opened, which tests make slow.
    var open: @Sendable (_ path: String) -> OpenFile? = { OpenFile($0) }

    var length: Int64 { state.length }

    /// What must stay the same until the file is sent.
    ///
    /// The device and the number of the file are not part of it: some file
    /// systems of networks and virtual machines give a file a new number each
    /// time.
    struct State: Hashable, Sendable {
        let length: Int64
        private let seconds: Int64
        private let nanoseconds: Int64

        /// - Returns: `nil` unless it is the status of a regular file.
        init?(_ status: stat) {
            guard status.st_mode & S_IFMT == S_IFREG else { return nil }
            length = Int64(status.st_size)
            #if canImport(Darwin)
                let time = status.st_mtimespec
            #else
                let time = status.st_mtim
            #endif
            seconds = Int64(time.tv_sec)
            nanoseconds = Int64(time.tv_nsec)
        }
    }

    /// Checks a file that is to be sent, and notes its length.
    ///
    /// A symbolic link is followed.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` with
    ///   ``RequestableError/invalidBody(_:)`` if this isn't a regular file that
    ///   can be read.
    init(url: URL) throws(AtomError) {
        do {
            path = try Self.path(of: url)
            state = try Self.state(of: path)
        } catch {
            throw .requestable(.invalidBody(.init(subject: url.lastPathComponent, reason: error.reason)))
        }
        name = Redaction.name(url.lastPathComponent)
    }

    private static func path(of url: URL) throws(Refusal) -> String {
        guard url.isFileURL else {
            throw Refusal(reason: "this is not the URL of a file; create it with URL(fileURLWithPath:)")
        }
        let path = url.path
        guard !path.isEmpty else { throw Refusal(reason: "the URL has no path") }
        // The system would stop reading the path there, and open another file.
        guard !path.utf8.contains(0) else { throw Refusal(reason: "the path contains a NUL character") }
        return path
    }

    private static func state(of path: String) throws(Refusal) -> State {
        // Opening a pipe or a device can have effects, so look first.
        var status = stat()
        guard stat(path, &status) == 0 else { throw Refusal(code: errno) }
        guard State(status) != nil else { throw Refusal(type: status.st_mode & S_IFMT) }
        guard let file = OpenFile(path), file.readStatus(&status) else { throw Refusal(code: errno) }
        guard let state = State(status) else { throw Refusal(type: status.st_mode & S_IFMT) }
        return state
    }

    private struct Refusal: Error {
        let reason: String

        init(reason: String) {
            self.reason = reason
        }

        init(code: Int32) {
            switch code {
            case ENOENT, ENOTDIR: reason = "there is no such file"
            case EACCES, EPERM:
                #if canImport(Darwin)
                    reason = """
                        the app may not read this file; if the user picked it, \
                        call startAccessingSecurityScopedResource() before the request
                        """
                #else
                    reason = "this process may not read the file"
                #endif
            default: reason = "the file can't be opened: \(String(cString: strerror(code)))"
            }
        }

        init(type: mode_t) {
            switch type {
            case S_IFDIR: reason = "this is a folder; send the files in it, or an archive of it"
            case S_IFIFO, S_IFSOCK:
                reason = "this is a pipe or a socket, whose length isn't known; send a regular file or the data itself"
            default: reason = "this is a device; only a regular file can be sent"
            }
        }
    }
}

/// A file that is being read; it is closed when the last reference is released.
final class OpenFile {
    private let number: Int32

    /// Opens a file to read it.
    ///
    /// A child process doesn't inherit the descriptor.
    ///
    /// - Returns: `nil` with `errno` set on failure.
    init?(_ path: String) {
        // The path may have become a pipe, which must not wait for its other
        // end, or a terminal, which must not become that of this process.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        var number: Int32
        repeat {
            number = openat(AT_FDCWD, path, flags, 0)
        } while number < 0 && errno == EINTR
        guard number >= 0 else { return nil }
        self.number = number
    }

    deinit {
        // Nothing was written, so there is no error to lose.
        _ = close(number)
    }

    /// - Returns: `false` with `errno` set on failure.
    func readStatus(_ status: inout stat) -> Bool { fstat(number, &status) == 0 }

    /// Reads the next bytes.
    ///
    /// - Returns: How many, 0 at the end, or -1 with `errno` set.
    func read(_ count: Int, to destination: UnsafeMutableRawPointer) -> Int {
        while true {
            // The systems refuse to read more than this at once.
            let result = systemRead(number, destination, min(count, Int(Int32.max)))
            if result != -1 || errno != EINTR { return result }
        }
    }
}

/// The system's function, whose name is hidden in a type that has a method of
/// this name.
private func systemRead(_ number: Int32, _ destination: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(number, destination, count)
}
