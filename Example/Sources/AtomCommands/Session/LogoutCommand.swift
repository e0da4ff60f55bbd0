import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Ends the session, here and at the server.
struct LogoutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Signs out: removes the tokens and asks the server to revoke them.",
        discussion: """
            The tokens are removed in any case. The server is asked once to revoke them (RFC 7009). If it can't be \
            reached, the command says so, and the tokens stay valid there until they expire. The exit status is that \
            of “atom request”; 0 if no user was signed in.
            """
    )

    @OptionGroup var sessionOptions: SessionOptions

    func run() async throws {
        let (status, signal) = await withInterruption { await perform(notes: .standardError) }
        if signal == SIGTERM { throw ExitCode(RequestExitStatus.terminated.rawValue) }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// Signs out, and reports the result.
    func perform(notes: Terminal) async -> RequestExitStatus {
        let file = sessionOptions.file
        do throws(AtomError) {
            guard let profile = file.profile() else {
                notes.print("No user was signed in.")
                return .success
            }
            let (revocations, revocation) = AsyncStream.makeStream(of: WireTap.Record.self)
            let tap = WireTap(Stopwatch()) { record in
                if record.path == AirlineServer.revocationPath { revocation.yield(record) }
            }
            let timeout = ServiceTimeout(request: 10, resource: 10)
            let atom = try file.atom(for: profile, timeout: timeout) { $0.transport = tap }
            guard case .signedIn = try await atom.loadSession() else {
                notes.print("No user was signed in.")
                return .success
            }
            try await atom.signOut()
            // The SDK doesn't wait for the revocation, which would end with the process.
            let limit = Task {
                try? await Task.sleep(for: .seconds(timeout.resource + 1))
                revocation.finish()
            }
            let answer = await revocations.first { _ in true }
            limit.cancel()
            notes.print(Self.farewell(answer, profile))
            return .success
        } catch {
            let advice = SessionAdvice(error, file: file.url)
            notes.print(ResponsePrinter.printable(advice?.message ?? error.description))
            return advice?.status ?? RequestExitStatus(error)
        }
    }

    private static func farewell(_ answer: WireTap.Record?, _ profile: SessionFile.Profile) -> String {
        switch answer?.status {
        case 200?: "Signed out; \(profile.server) has revoked the tokens."
        case let status?: "Signed out here; \(profile.server) answered \(status) to the request to revoke the tokens."
        case nil: "Signed out here; \(profile.server) could not be reached and accepts the tokens until they expire."
        }
    }
}
