import ArgumentParser
import AtomNetworking
import Foundation

/// Signs a user in and stores the session in a file.
struct LoginCommand: StatusCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Signs in with a user name and a password, and stores the session in a file.",
        discussion: """
            “atom whoami”, “atom logout” and “atom request --session” use it, in any number of processes at once:

              atom serve --port 8080
              atom login --server http://127.0.0.1:8080 --user ada
              atom whoami

            The password is $ATOM_PASSWORD if that is set. If not, a terminal prompts for it without showing it; \
            without a terminal it is the first line of standard input. It is sent once and not stored. The tokens \
            are in the file, which only its owner can read. An existing session is replaced and ended. The exit \
            status is that of “atom request”.
            """
    )

    @Option(help: .init("The server (default: that of the last session)", valueName: "URL"))
    var server: String?

    @Option(help: .init("The user name.", valueName: "name"))
    var user: String

    @Option(help: .init("The OAuth client, which must have no secret.", valueName: "id"))
    var clientID = "atom-app"

    @OptionGroup var sessionOptions: SessionOptions

    func perform(on console: Console) async -> RequestExitStatus {
        await perform(notes: console.notes) { question in
            if let password = ProcessInfo.processInfo.environment["ATOM_PASSWORD"] { return password }
            return await Self.answer(to: question)
        }
    }

    /// Signs in.
    ///
    /// - Parameters:
    ///   - notes: The terminal for the result.
    ///   - ask: Returns the user's password.
    func perform(notes: Terminal, ask: @escaping @Sendable (String) async -> String?) async -> RequestExitStatus {
        let file = sessionOptions.file
        do {
            let profile = try profile(for: file)
            // Before any question: tokens that can't be stored are useless.
            let old = try await readable(file, notes)
            let user = user
            let login = PasswordLogin(
                airline: try profile.airline(), clientID: profile.clientID, user: user
            ) { await ask("Password of \(user): ") }
            let (credential, member) = try await signIn(by: login)
            try await keep(credential, for: profile, in: file, replacing: old)
            notes.print("Signed in at \(profile.server) as \(member).")
            return .success
        } catch AtomError.cancelled {
            notes.print("No user was signed in.")
            return .cancelled
        } catch let error as AtomError {
            return SessionAdvice(error, file: file.url).show(on: notes)
        } catch let failure as CommandFailure {
            notes.print(failure.description)
            return .wrongArguments
        } catch {
            return SessionAdvice(store: error, file: file.url).show(on: notes)
        }
    }

    /// The answer of the user at the terminal, or the next line of standard input.
    private static func answer(to question: String) async -> String? {
        await withCheckedContinuation { continuation in
            // Not on a thread that tasks share, because it blocks.
            Thread {
                let isTerminal = isatty(FileHandle.standardInput.fileDescriptor) != 0
                let answer = isTerminal ? getpass(question).map { String(cString: $0) } : readLine()
                continuation.resume(returning: answer)
            }.start()
        }
    }

    private func profile(for file: SessionFile) throws -> SessionFile.Profile {
        if let server { return SessionFile.Profile(server: "\(try Airline(url: server).base)", clientID: clientID) }
        guard let last = file.profile() else {
            throw CommandFailure(description: "Use --server for the server; “atom serve” prints its URL.")
        }
        return SessionFile.Profile(server: last.server, clientID: clientID)
    }

    /// The stored tokens; a file that isn't a session has been moved aside.
    private func readable(_ file: SessionFile, _ notes: Terminal) async throws -> TokenCredential? {
        do {
            return try await file.store().exchange { $0 }
        } catch let error as TokenStoreError {
            guard case .corrupt(_, _?) = error else { throw error }
            notes.print(error.description)
            return try await file.store().exchange { $0 }
        }
    }

    /// Lets a service's session ask for the password, as in an app, and checks
    /// the new tokens before they replace the old ones.
    private func signIn(by login: PasswordLogin) async throws(AtomError) -> (TokenCredential, Member) {
        let store = InMemoryTokenCredentialStore()
        // A user may take some time; the provider's own deadline is five minutes.
        let configuration = ServiceConfiguration(
            authenticationMethod: .bearer(login, store), timeout: ServiceTimeout(request: 30, resource: 330))
        let member = try await Atom(serviceConfiguration: configuration)
            .enqueue(AccountEndpoint.account(login.airline)).resume(expecting: Member.self)
        // The request was signed with the tokens in the store.
        guard let credential = try? await store.load() else { throw .unexpected }
        return (credential, member)
    }

    /// Stores the new session, and ends the old one at its server.
    private func keep(
        _ credential: TokenCredential, for profile: SessionFile.Profile, in file: SessionFile,
        replacing old: TokenCredential?
    ) async throws {
        let last = file.profile()
        if old != nil, last?.server != profile.server {
            // The tokens of one server must never be used for another one.
            try await file.store().save(nil)
        }
        try file.save(profile)
        try await profile.atom(file.store()).signIn(with: credential)
        guard let old, !old.refreshToken.isEmpty, old.refreshToken != credential.refreshToken else { return }
        // If that server can't be reached, the sign-in is still successful.
        let ended = try? last?.atom(
            InMemoryTokenCredentialStore(old), timeout: ServiceTimeout(request: 5, resource: 5))
        try? await ended?.signOut(waitingForRevocation: true)
    }
}
