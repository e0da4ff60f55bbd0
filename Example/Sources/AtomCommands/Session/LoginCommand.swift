import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Signs a user in and stores the session in a file.
struct LoginCommand: AsyncParsableCommand {
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

    @Option(help: .init("The user name; a terminal prompts for it.", valueName: "name"))
    var user: String?

    @Option(help: .init("The OAuth client, which must have no secret.", valueName: "id"))
    var clientID = "atom-app"

    @OptionGroup var sessionOptions: SessionOptions

    func run() async throws {
        let (status, signal) = await withInterruption {
            await perform(notes: .standardError, prompt: .standard)
        }
        try status.exit(after: signal)
    }

    /// Signs in.
    ///
    /// - Parameters:
    ///   - notes: The terminal for the result.
    ///   - prompt: The prompt for name and password.
    ///   - environment: The environment, which may contain the password.
    func perform(
        notes: Terminal, prompt: TerminalPrompt,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async -> RequestExitStatus {
        let file = sessionOptions.file
        let interview = Interview(prompt)
        do {
            let profile = try profile(for: file)
            guard let user = try await userName(interview), !user.isEmpty else {
                notes.print("Use --user for the user name.")
                return .wrongArguments
            }
            // Before any prompt: tokens that can't be stored are useless.
            let old = try await readable(file, notes)
            let login = PasswordLogin(
                airline: try profile.airline(), clientID: profile.clientID, user: user,
                attempts: prompt.isTerminal && environment["ATOM_PASSWORD"] == nil ? 3 : 1
            ) { attempt in
                if let password = environment["ATOM_PASSWORD"] { return password }
                if attempt > 1 { notes.print("The password is wrong; try again.") }
                return try await interview.answer(to: "Password of \(user): ", isSecret: true)
            }
            let (credential, member) = try await signIn(by: login, interview)
            try await keep(credential, for: profile, in: file, replacing: old)
            notes.print("Signed in at \(profile.server) as \(member.name) (\(member.tier), \(member.miles) miles).")
            return .success
        } catch AtomError.cancelled, is CancellationError {
            notes.print("No user was signed in.")
            return .cancelled
        } catch let error as AtomError {
            let advice = SessionAdvice(error, file: file.url)
            notes.print(ResponsePrinter.printable(advice?.message ?? error.description))
            return advice?.status ?? RequestExitStatus(error)
        } catch let failure as CommandFailure {
            notes.print(failure.description)
            return .wrongArguments
        } catch {
            let advice = SessionAdvice(store: error, file: file.url)
            notes.print(advice.message)
            return advice.status
        }
    }

    private func profile(for file: SessionFile) throws -> SessionFile.Profile {
        if let server { return SessionFile.Profile(server: try Airline(url: server).url, clientID: clientID) }
        guard let last = file.profile() else {
            throw CommandFailure("Use --server for the server; “atom serve” prints its URL.")
        }
        return SessionFile.Profile(server: last.server, clientID: clientID)
    }

    private func userName(_ interview: Interview) async throws -> String? {
        if let user { return user }
        return interview.prompt.isTerminal ? try await interview.answer(to: "User name: ") : nil
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
    private func signIn(
        by login: PasswordLogin, _ interview: Interview
    ) async throws(AtomError) -> (TokenCredential, Member) {
        // A provider call continues when its request is cancelled; this one ends with the process.
        defer { interview.end() }
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
        try await file.atom(for: profile).signIn(with: credential)
        guard let old, let last, !old.refreshToken.isEmpty, old.refreshToken != credential.refreshToken,
            let airline = try? last.airline()
        else { return }
        // If that server can't be reached, the sign-in is still successful.
        let plain = Atom(serviceConfiguration: ServiceConfiguration(timeout: ServiceTimeout(request: 5, resource: 5)))
        _ = try? await plain.enqueue(
            SignInEndpoint.revocation(airline, token: old.refreshToken, clientID: last.clientID)
        ).resume()
    }
}

/// The questions of one sign-in, one at a time.
private final class Interview: @unchecked Sendable {
    let prompt: TerminalPrompt
    // `question` and `isOver` are touched under `lock` only.
    private let lock = NSLock()
    private var question: TerminalQuestion?
    private var isOver = false

    init(_ prompt: TerminalPrompt) {
        self.prompt = prompt
    }

    func answer(to text: String, isSecret: Bool = false) async throws -> String? {
        let question = TerminalQuestion(text, isSecret: isSecret, of: prompt)
        try lock.withLock {
            guard !isOver else { throw CancellationError() }
            self.question = question
        }
        return try await question.answer()
    }

    /// Cancels the current question.
    func end() {
        let question = lock.withLock {
            isOver = true
            return self.question
        }
        question?.cancel()
    }
}
