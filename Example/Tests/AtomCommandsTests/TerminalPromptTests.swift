import Foundation
import Testing

@testable import AtomCommands

/// A terminal that the test controls.
private final class PseudoTerminal: Sendable {
    private let person: Int32
    let prompt: TerminalPrompt

    init() throws {
        person = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        let descriptor = Self.otherEnd(of: person).map { open($0, O_RDWR | O_NOCTTY) } ?? -1
        try #require(descriptor >= 0)
        prompt = TerminalPrompt(input: descriptor, output: descriptor)
    }

    private static func otherEnd(of terminal: Int32) -> String? {
        #if canImport(Darwin)
            guard grantpt(terminal) == 0, unlockpt(terminal) == 0 else { return nil }
            return ptsname(terminal).map { String(cString: $0) }
        #else
            // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h: the Glibc module
            // has neither them nor ptsname.
            var isLocked: Int32 = 0
            var number: UInt32 = 0
            guard ioctl(terminal, 0x4004_5431, &isLocked) == 0, ioctl(terminal, 0x8004_5430, &number) == 0 else {
                return nil
            }
            return "/dev/pts/\(number)"
        #endif
    }

    deinit {
        close(prompt.input)
        close(person)
    }

    var showsWhatIsTyped: Bool {
        var settings = termios()
        tcgetattr(prompt.input, &settings)
        return settings.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ text: String) {
        _ = text.withCString { write(person, $0, strlen($0)) }
    }

    /// The text on the screen up to these words.
    func screen(upTo words: String) async -> String {
        let person = person
        return await withCheckedContinuation { continuation in
            Thread {
                // Compared as bytes, because a return and a line feed are one
                // character.
                var shown: [UInt8] = []
                var byte: UInt8 = 0
                while !shown.reversed().starts(with: words.utf8.reversed()), read(person, &byte, 1) == 1 {
                    shown.append(byte)
                }
                continuation.resume(returning: String(decoding: shown, as: UTF8.self))
            }.start()
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct TerminalPromptTests {
    @Test func aSecretIsNotShown() async throws {
        let terminal = try PseudoTerminal()
        let question = TerminalQuestion("Password: ", isSecret: true, of: terminal.prompt)
        let answer = Task { try await question.answer() }
        #expect(await terminal.screen(upTo: ": ") == "Password: ")
        #expect(!terminal.showsWhatIsTyped)
        terminal.type("love lace\n")
        #expect(try await answer.value == "love lace")
        #expect(terminal.showsWhatIsTyped)
        #expect(await terminal.screen(upTo: "\n").trimmingCharacters(in: .whitespacesAndNewlines).isEmpty)
    }

    @Test func aQuestionThatIsGivenUpLeavesTheTerminalAsItWas() async throws {
        let terminal = try PseudoTerminal()
        let question = TerminalQuestion("Password: ", isSecret: true, of: terminal.prompt)
        let answer = Task { try await question.answer() }
        _ = await terminal.screen(upTo: ": ")
        #expect(!terminal.showsWhatIsTyped)
        question.cancel()
        #expect(terminal.showsWhatIsTyped)
        await #expect(throws: CancellationError.self) { try await answer.value }
        // This ends the thread that still reads.
        terminal.type("\n")
    }

    @Test func aQuestionOfACancelledTaskIsNotAsked() async throws {
        let terminal = try PseudoTerminal()
        let answer = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await TerminalQuestion("Password: ", isSecret: true, of: terminal.prompt).answer()
        }
        await #expect(throws: CancellationError.self) { try await answer.value }
        #expect(terminal.showsWhatIsTyped)
    }
}
