import AtomNetworking
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A file that one process has at a time while a person signs in.
///
/// The system gives it back when a process ends. It holds how often a person has declined, so that those who waited for
/// that don't ask again.
struct SignInLock: Sendable {
    let fileURL: URL
    let time: any TimeSource

    /// Having the file.
    struct Turn: Sendable {
        fileprivate let descriptor: Int32
        /// Whether another process had it.
        let hasWaited: Bool
        /// Whether a person has declined while it was waited for.
        let wasDeclinedMeanwhile: Bool

        func noteDeclined() {
            guard descriptor >= 0 else { return }
            let text = Array("\(SignInLock.declines(in: descriptor) &+ 1)\n".utf8)
            // If that fails, those who wait ask once more.
            _ = pwrite(descriptor, text, text.count, 0)
        }

        func giveBack() {
            if descriptor >= 0 { close(descriptor) }
        }
    }

    /// Waits until no other process has the file; where none can be made, nobody is waited for.
    func take() async throws(AtomError) -> Turn {
        let folder = fileURL.deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open(fileURL.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            return Turn(descriptor: -1, hasWaited: false, wasDeclinedMeanwhile: false)
        }
        let declines = Self.declines(in: descriptor)
        var hasWaited = false
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            // A file system that can't lock: better two pages than none.
            guard code == EWOULDBLOCK else { break }
            hasWaited = true
            do throws(AtomError) {
                try await time.wait(until: time.now.advanced(by: .milliseconds(200)))
            } catch {
                close(descriptor)
                throw error
            }
        }
        return Turn(
            descriptor: descriptor, hasWaited: hasWaited,
            wasDeclinedMeanwhile: hasWaited && Self.declines(in: descriptor) != declines)
    }

    private static func declines(in descriptor: Int32) -> Int {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return 0 }
        return Int(String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self)) ?? 0
    }
}
