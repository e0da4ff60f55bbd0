import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A process that this one starts and waits for.
///
/// Not Foundation's, which waits in a run loop and so keeps a thread that tasks need.
struct Child: Sendable {
    private let identifier: pid_t
    /// The end of its standard output that is read.
    private let output: Int32
    private let hasEnded = Locked(false)

    private static let starting = NSLock()

    /// - Returns: `nil` if it can't be started.
    init?(_ arguments: [String], isSilent: Bool = false) {
        var pipes: [Int32] = [-1, -1]
        // No other child may get the pipe's ends, or the end of this one would not be seen.
        Self.starting.lock()
        defer { Self.starting.unlock() }
        guard pipe(&pipes) == 0 else { return nil }
        for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
        if isSilent { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }
        var words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        let status = posix_spawnp(&identifier, arguments[0], &actions, nil, &words, environ)
        close(pipes[1])
        guard status == 0 else {
            close(pipes[0])
            return nil
        }
        self.identifier = identifier
        output = pipes[0]
    }

    /// Ends it at once, if it hasn't ended, or sends another signal.
    func kill(_ signal: Int32 = SIGKILL) {
        // Its number is its own until it has been waited for.
        hasEnded.with { if !$0 { _ = Glibc.kill(identifier, signal) } }
    }

    /// Hears the lines of its standard output until it has ended; keeps the thread.
    ///
    /// - Returns: How it ended; `nil` for well.
    @discardableResult
    func wait(_ heard: (Substring) -> Void = { _ in }) -> String? {
        var rest = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest += String(decoding: buffer[..<count], as: UTF8.self)
            var lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
            let last = lines.removeLast()
            for line in lines { heard(line) }
            rest = String(last)
        }
        close(output)
        hasEnded.with { $0 = true }
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        if signal != 0 { return "signal \(signal)" }
        return status == 0 ? nil : "status \(status >> 8 & 0xFF)"
    }
}
