import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation

/// Runs only the airline server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs only the airline server, until Ctrl-C.",
        discussion: """
            It listens on 127.0.0.1 only. Try it with “atom request”, “atom upload”, “atom download”, “atom stream” and \
            “atom login”. Its switches need no password: GET /admin/counters shows what it counted, \
            POST /admin/expire-access-tokens and POST /admin/end-sessions end tokens and sessions, and \
            POST /admin/transfers with {"cutDownloadAt": 1000000} cuts the next download there, and with \
            {"bytesPerSecond": 1000000} makes downloads slow.

            Open to everybody:
              GET  /flights?from=SEA   GET /flights/AS100   GET /flights/AS100/seats
              POST /bookings           {"flight": "AS100", "seat": "7C", "passenger": "Ada Lovelace"}
              GET  /bookings/REFERENCE GET /downloads/BYTES   GET /gates?count=10&milliseconds=500
              POST /uploads            GET /redirect/COUNT    GET /slow?milliseconds=1000
              GET  /busy/NAME?times=2  GET /errors/STATUS     GET /errors/malformed   GET /errors/hang-up
            With user name and password (ada:lovelace, grace:hopper): GET /me
            With an access token:
              GET  /account            GET /account/miles   GET /account/gates
              GET  /account/activity?limit=20   pages, each with "activities", "total" and a link "next"
              POST /account/upgrades   {"flight": "AS100"}   needs the scope miles:spend
            For tokens:
              GET  /.well-known/oauth-authorization-server   GET /.well-known/oauth-protected-resource
              GET  /oauth/authorize    the page to sign in on; POST /oauth/par for its parameters
              POST /oauth/device       a form with client_id=atom-app; GET /device is the page for the code
              POST /oauth/token        a form with grant_type, client_id=atom-app, username, password
              POST /oauth/revoke       a form with token, client_id=atom-app
            An error is JSON with "code", "message" and maybe "fields"; of what is for tokens, as RFC 6749 says.
            """
    )

    @Option(help: "The port to listen on; 0 chooses a free one.")
    var port: UInt16 = 0

    @Option(help: .init("The lifetime of an access token; fractions are allowed.", valueName: "seconds"))
    var tokenLifetime: Double = 3600

    @Option(help: .init("How long a used refresh token is still accepted.", valueName: "seconds"))
    var gracePeriod: Double = 0

    @Option(help: .init("The delay of each response of the token endpoint.", valueName: "milliseconds"))
    var tokenDelay = 0

    @Flag(help: "Print every answered request.")
    var log = false

    func validate() throws {
        guard tokenLifetime > 0, gracePeriod >= 0 else {
            throw ValidationError("A lifetime must be a positive number of seconds.")
        }
        guard (0...600_000).contains(tokenDelay) else {
            throw ValidationError("--token-delay must be from 0 to 600000.")
        }
    }

    func run() async throws {
        let terminal = Terminal.standardOutput
        let server: AirlineServer
        do {
            server = try await AirlineServer.start(
                port: port, policy: policy, log: log ? { @Sendable in terminal.print($0) } : nil)
        } catch {
            throw CommandFailure(description: "The port \(port) is not available; is another server using it?")
        }
        introduce(server, on: terminal)
        // Until a signal cancels it.
        _ = try await withInterruption { for await _ in AsyncStream<Void>.makeStream().stream {} }
        await server.stop()
        terminal.print("Stopped after \(server.counters.requests) requests.")
    }

    private var policy: TokenPolicy {
        var policy = TokenPolicy()
        policy.accessTokenLifetime = tokenLifetime
        policy.gracePeriod = gracePeriod
        policy.delayMilliseconds = tokenDelay
        return policy
    }

    private func introduce(_ server: AirlineServer, on terminal: Terminal) {
        let user = NameAndSecret.exampleUser
        let client = ClientCredential.example
        terminal.print(
            """
            The server is running at \(terminal.styled(server.baseURL, .cyan, .bold))
              user \(user.defaultValueDescription), client \(client.id):\(client.secret ?? ""), or atom-app, without a secret

              atom request GET \(server.baseURL)/flights
              atom download \(server.baseURL)/downloads/50000000 film.bin --resume
              atom stream \(server.baseURL)/gates --events --reconnect
              atom login --server \(server.baseURL)

            Press Ctrl-C to stop it.
            """)
    }
}
