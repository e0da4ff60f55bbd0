import ArgumentParser
import AtomNetworking

/// Ends the session, here and at the server.
struct LogoutCommand: StatusCommand {
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

    /// Signs out, and reports the result.
    func perform(on console: Console) async -> RequestExitStatus {
        let (file, notes) = (sessionOptions.file, console.notes)
        guard let profile = file.profile() else {
            notes.print("No user was signed in.")
            return .success
        }
        do throws(AtomError) {
            let atom = try profile.atom(file.store(), timeout: ServiceTimeout(request: 10, resource: 10))
            guard case .signedIn = try await atom.loadSession() else {
                notes.print("No user was signed in.")
                return .success
            }
            // Without waiting, the revocation would end with the process.
            try await atom.signOut(waitingForRevocation: true)
            notes.print("Signed out; \(profile.server) has revoked the tokens.")
            return .success
        } catch .authentication(.credentialNotRevoked(let cause, _)) {
            notes.print(Self.farewell(cause, "\(profile.server)"))
            return .success
        } catch {
            return SessionAdvice(error, file: file.url).show(on: notes)
        }
    }

    private static func farewell(_ cause: any Error, _ server: String) -> String {
        if case .response(let response)? = cause as? AtomError, let status = response.statusCode {
            return "Signed out here; \(server) answered \(status) to the request to revoke the tokens."
        }
        return "Signed out here; \(server) could not be reached and accepts the tokens until they expire."
    }
}
