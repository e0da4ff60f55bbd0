import ArgumentParser
import AtomNetworking
import Foundation

/// Signs a user in, on the server's page or with a password, and stores the session in a file.
struct LoginCommand: StatusCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Signs in on the server's page, and stores the session in a file.",
        discussion: """
            “atom whoami”, “atom upgrade”, “atom logout” and “atom request --session” use it, in any number of \
            processes at once:

              atom serve --port 8080
              atom login --server http://127.0.0.1:8080
              atom whoami

            The page opens in the browser of this device, or in the program of $ATOM_BROWSER, which is run with the \
            address; without either the address is printed. Only the server sees the password. With --device the \
            page is opened on any other device, and a code is entered there. Of several commands that wait for a \
            sign-in one opens a page, and all end with who has signed in.

            With --dpop the tokens are bound to a key in a file beside the session, and are of no use without it.

            With --user, or --password --user, the command asks for the password itself and exchanges it, as old \
            scripts do. The password is $ATOM_PASSWORD if that is set. If not, a terminal prompts for it without \
            showing it; without a terminal it is the first line of standard input. It is sent once and not stored.

            The tokens are in the file, which only its owner can read. An existing session is replaced and ended; if \
            nobody signs in, it stays. The exit status is that of “atom request”.
            """
    )

    @Option(help: .init("The server (default: that of the last session)", valueName: "URL"))
    var server: String?

    @Flag(help: "Sign in on another device, with a code.")
    var device = false

    @Flag(help: "Sign in with a password that this command asks for; --user does the same.")
    var password = false

    @Option(help: .init("The user name, for a sign-in with a password.", valueName: "name"))
    var user: String?

    @Option(help: .init("What is asked for besides openid (default: profile bookings)", valueName: "scopes"))
    var scope: String?

    @Flag(name: .customLong("dpop"), help: "Bind the tokens to a key of this device (RFC 9449).")
    var isBound = false

    @Option(help: .init("The OAuth client, which must have no secret.", valueName: "id"))
    var clientID = "atom-app"

    @OptionGroup var sessionOptions: SessionOptions

    func validate() throws {
        guard !password || user != nil else { throw ValidationError("--password requires --user.") }
        guard user == nil || (!device && !isBound && scope == nil) else {
            throw ValidationError(
                "--device, --dpop and --scope are for a sign-in on a page, and --user is for one without.")
        }
    }

    func perform(on console: Console) async -> RequestExitStatus {
        await perform(on: console) { question in
            if let password = ProcessInfo.processInfo.environment["ATOM_PASSWORD"] { return password }
            return await Self.answer(to: question)
        }
    }

    /// Signs in.
    ///
    /// - Parameters:
    ///   - console: The terminal for the result, and the browser.
    ///   - ask: Returns the user's password.
    func perform(
        on console: Console, ask: @escaping @Sendable (String) async -> String?
    ) async -> RequestExitStatus {
        let (file, notes) = (sessionOptions.file, console.notes)
        do {
            var profile = try profile(for: file)
            // Before any question: tokens that can't be stored are useless.
            let old = Old(credential: try await readable(file, notes), profile: file.profile())
            let member: Member
            if let user {
                let login = PasswordLogin(
                    airline: try profile.airline(), clientID: profile.clientID, user: user
                ) { await ask("Password of \(user): ") }
                let credential: TokenCredential
                (credential, member) = try await signIn(by: login)
                try await Self.keep(credential, for: profile, in: file)
                await old.end(for: credential)
            } else {
                if isBound { profile.keyPath = try makeKey(for: file) }
                member = try await signInOnPage(of: profile, in: file, replacing: old, on: console)
            }
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

    /// The session until now.
    private struct Old {
        let credential: TokenCredential?
        let profile: SessionFile.Profile?

        /// Ends it at its server, unless it goes on.
        func end(for new: TokenCredential?) async {
            guard let credential, !credential.refreshToken.isEmpty, credential.refreshToken != new?.refreshToken
            else { return }
            // If that server can't be reached, the sign-in is still successful.
            let ended = try? profile?.atom(
                InMemoryTokenCredentialStore(credential), timeout: ServiceTimeout(request: 5, resource: 5))
            try? await ended?.signOut(waitingForRevocation: true)
        }
    }

    /// Stores the new session.
    private static func keep(
        _ credential: TokenCredential, for profile: SessionFile.Profile, in file: SessionFile
    ) async throws {
        if file.profile() != profile {
            // The tokens of one server must never be used for another one, also not by a command that runs meanwhile.
            try await file.store().save(nil)
            try file.save(profile)
        }
        try await profile.atom(file.store()).signIn(with: credential)
    }

    /// Signs in on the server's page, or finds that another process has just done so.
    private func signInOnPage(
        of profile: SessionFile.Profile, in file: SessionFile, replacing old: Old, on console: Console
    ) async throws -> Member {
        let words = (scope ?? "profile bookings").split(separator: " ").map(String.init)
        // By the ID token an upgrade knows who goes on with the session.
        let scopes = ["openid"] + words.filter { $0 != "openid" }
        let page = try await PageSignIn(
            to: profile, in: file, scopes: scopes, isOnDevice: device,
            keepingIn: NewSession { try await Self.keep($0, for: profile, in: file) }, on: console)
        try await page.signIn.signIn(to: page.atom)
        await old.end(for: try await file.store().load())
        return try await profile.atom(file.store()).enqueue(AccountEndpoint.account(try profile.airline()))
            .resume(expecting: Member.self)
    }

    /// Takes the tokens of a sign-in while other processes still wait for it.
    private final class NewSession: TokenCredentialStore {
        private let keep: @Sendable (TokenCredential) async throws -> Void

        init(_ keep: @escaping @Sendable (TokenCredential) async throws -> Void) { self.keep = keep }

        func load() async throws -> TokenCredential? { nil }

        func save(_ credential: TokenCredential?) async throws {
            if let credential { try await keep(credential) }
        }
    }

    /// The path of the key, which is made if there is none.
    private func makeKey(for file: SessionFile) throws -> String {
        do {
            _ = try FileKey(file.keyURL, creating: true)
        } catch {
            throw AtomError.authentication(.credentialNotReadable(cause: error, delivery: .notSent))
        }
        return file.keyURL.path
    }
}
