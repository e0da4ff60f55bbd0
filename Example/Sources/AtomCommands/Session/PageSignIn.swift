import AtomNetworking
import AtomNetworkingSignIn
import Foundation

/// A sign-in on a page of the server: in a browser of this device, or on another device.
///
/// Of several processes that sign in at once one opens a page, and the others use what comes of it.
struct PageSignIn {
    let signIn: SignIn
    /// The service that the user is signed in to.
    let atom: Atom

    /// Asks the server for its endpoints.
    ///
    /// - Parameters:
    ///   - profile: The server and the client.
    ///   - file: Where the session is kept.
    ///   - scopes: What is asked for.
    ///   - isOnDevice: Whether the page is for another device.
    ///   - store: Gets the tokens; `nil` for the file.
    ///   - console: Where the user reads what to do.
    init(
        to profile: SessionFile.Profile, in file: SessionFile, scopes: [String] = [], isOnDevice: Bool,
        keepingIn store: (any TokenCredentialStore)? = nil, on console: Console
    ) async throws(AtomError) {
        var client = OAuthClient(server: try await .discover(profile.server), id: profile.clientID, scopes: scopes)
        client.proof = try profile.proof()
        let (shared, lock, notes) = (file.store(), file.signInLock(of: profile), console.notes)
        if isOnDevice {
            signIn = SignIn(client, store: shared, lock: lock) { Self.show($0, on: notes) }
        } else {
            let browser = Self.browser(opening: console.openPage, notes)
            signIn = SignIn(client, browser: browser, store: shared, lock: lock)
        }
        let bearer = client.authentication(store: store ?? shared)
        atom = Atom(
            serviceConfiguration: ServiceConfiguration(
                authenticationMethod: .bearer(bearer), decoder: Airline.decoder))
    }

    private static func browser(
        opening program: (@Sendable (URL) async -> Bool)?, _ notes: Terminal
    ) -> LoopbackBrowser {
        var browser = LoopbackBrowser(open: program) { page in
            notes.print("No browser was opened. Open this address on this device:\n  \(page.absoluteString)")
        }
        let open = browser.open
        browser.open = { page in
            notes.print("Waiting for the sign-in on the server's page. Ctrl-C cancels.")
            return await open(page)
        }
        return browser
    }

    private static func show(_ authorization: DeviceAuthorization, on notes: Terminal) {
        let minutes = max(Int((authorization.expiresAt.timeIntervalSinceNow / 60).rounded()), 1)
        let page = authorization.verificationURL.absoluteString
        let code = "Open \(page) on any device, and enter \(authorization.userCode) within \(minutes) minutes."
        notes.print(ResponsePrinter.printable(code))
        guard let complete = authorization.completeVerificationURL else { return }
        notes.print(ResponsePrinter.printable("Or open \(complete.absoluteString)"))
    }

    /// The program of `$ATOM_BROWSER`, which is run with the address in place of the system's browser.
    static let programOfEnvironment: (@Sendable (URL) async -> Bool)? = {
        guard let program = ProcessInfo.processInfo.environment["ATOM_BROWSER"], !program.isEmpty else { return nil }
        return { page in
            let process = Process()
            // `env` finds it on the path.
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [program, page.absoluteString]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.standardError
            let (ends, end) = AsyncStream.makeStream(of: Bool.self)
            process.terminationHandler = { end.yield($0.terminationStatus == 0) }
            do { try process.run() } catch { return false }
            // A browser may run on when nobody waits for it any more.
            return await ends.first { _ in true } ?? true
        }
    }()
}
