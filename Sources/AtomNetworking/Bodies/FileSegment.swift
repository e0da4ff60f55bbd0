import Foundation

/// A file in a body, as it was when the request was prepared; it is not held open.
struct FileSegment: Sendable {
    let path: String

    /// The file's name for messages, without its folder.
    let name: String

    let state: State

    /// How it is opened, which tests make slow.
    var open: @Sendable (_ path: String) -> Descriptor? = { Descriptor($0, O_RDONLY, followsLink: true) }

    var length: Int64 { state.length }

    /// What must stay the same until the file is sent, but its number: some file systems give it a new one each time.
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

    /// Checks that this is a regular file that can be read, also by a symbolic link, and notes its length.
    init(url: URL) throws(AtomError) {
        func refused(_ reason: String) -> AtomError {
            .refused(RequestableError.invalidBody, url.lastPathComponent, because: reason, means: .fileProblem)
        }
        guard url.isFileURL else {
            throw refused("this is not the URL of a file; create it with URL(fileURLWithPath:)")
        }
        path = url.path
        guard !path.isEmpty else { throw refused("the URL has no path") }
        // The system would stop reading the path there, and open another file.
        guard !path.utf8.contains(0) else { throw refused("the path contains a NUL character") }
        // Opening a pipe or a device can have effects, so look first.
        var status = stat()
        guard stat(path, &status) == 0 else { throw refused(Self.reason(errno, path)) }
        guard State(status) != nil else { throw refused(Self.reason(ofType: status)) }
        guard let opened = Descriptor(path, O_RDONLY, followsLink: true)?.status() else {
            throw refused(Self.reason(errno, path))
        }
        guard let state = State(opened) else { throw refused(Self.reason(ofType: opened)) }
        self.state = state
        name = Redaction.name(url.lastPathComponent)
    }

    private static func reason(_ code: Int32, _ path: String) -> String {
        switch code {
        // A tool is often in another folder than it seems.
        case ENOENT, ENOTDIR: return "there is no such file: “\(Redaction.file(path))”"
        case EACCES, EPERM:
            #if canImport(Darwin)
                return """
                    the app may not read this file; if the user picked it, \
                    call startAccessingSecurityScopedResource() before the request
                    """
            #else
                return "this process may not read the file"
            #endif
        default: return "the file can't be opened: \(String(cString: strerror(code)))"
        }
    }

    private static func reason(ofType status: stat) -> String {
        switch status.st_mode & S_IFMT {
        case S_IFDIR: "this is a folder; send the files in it, or an archive of it"
        case S_IFIFO, S_IFSOCK:
            "this is a pipe or a socket, whose length isn't known; send a regular file or the data itself"
        default: "this is a device; only a regular file can be sent"
        }
    }
}
