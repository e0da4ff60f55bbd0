import Foundation

/// Asks the user at a terminal for one line.
struct TerminalPrompt: Sendable {
    let input: Int32
    let output: Int32

    /// The terminal from which the process was started.
    ///
    /// The question isn't written to standard output, because that may be
    /// redirected.
    static let standard = TerminalPrompt(
        input: FileHandle.standardInput.fileDescriptor, output: FileHandle.standardError.fileDescriptor)

    var isTerminal: Bool { isatty(input) != 0 }

    fileprivate func write(_ text: String) {
        FileHandle(fileDescriptor: output, closeOnDealloc: false).write(Data(text.utf8))
    }

    /// A line without its end; `nil` at the end of input.
    fileprivate func readLine() -> String? {
        var bytes: [UInt8] = []
        while bytes.count < 4096 {
            var byte: UInt8 = 0
            let count = read(input, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            guard byte != UInt8(ascii: "\n") else { break }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// One question, which also works without a terminal.
///
/// A secret answer isn't shown. When the question ends, by an answer, by
/// cancellation or by the end of input, the terminal shows typed text again.
final class TerminalQuestion: @unchecked Sendable {
    private let prompt: TerminalPrompt
    private let text: String
    private let isSecret: Bool
    // The following properties are accessed only under `lock`.
    private let lock = NSLock()
    private var continuation: CheckedContinuation<String?, any Error>?
    private var shown: termios?
    private var isOver = false

    init(_ text: String, isSecret: Bool = false, of prompt: TerminalPrompt) {
        self.prompt = prompt
        self.text = text
        self.isSecret = isSecret
    }

    /// Asks the question; call this once.
    ///
    /// - Returns: The line without its end; `nil` at the end of input.
    /// - Throws: `CancellationError` after ``cancel()``, or when the task is
    ///   cancelled.
    func answer() async throws -> String? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { ask($0) }
        } onCancel: {
            cancel()
        }
    }

    /// Cancels the question; when it returns, the terminal is restored.
    func cancel() {
        end(.failure(CancellationError()))
    }

    private func ask(_ continuation: CheckedContinuation<String?, any Error>) {
        let isCancelled = lock.withLock {
            guard !isOver else { return true }
            self.continuation = continuation
            if isSecret { hide() }
            return false
        }
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        if prompt.isTerminal { prompt.write(text) }
        // Reading can't be cancelled: after a cancellation this thread stays
        // until the process ends.
        Thread { [self] in end(.success(prompt.readLine())) }.start()
    }

    private func hide() {
        var settings = termios()
        guard tcgetattr(prompt.input, &settings) == 0 else { return }
        shown = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(prompt.input, TCSAFLUSH, &settings)
    }

    private func end(_ result: Result<String?, any Error>) {
        let waiting = lock.withLock {
            isOver = true
            if var settings = shown {
                shown = nil
                tcsetattr(prompt.input, TCSADRAIN, &settings)
                // The line break was hidden too.
                prompt.write("\n")
            }
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(with: result)
    }
}
