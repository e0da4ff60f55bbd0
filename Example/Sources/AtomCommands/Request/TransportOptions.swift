import ArgumentParser
import AtomNetworking
import Foundation

/// The options that choose and set up the transport of `atom request`.
///
/// They are for Linux. Elsewhere the system's settings apply, and an option is
/// a wrong command line.
struct TransportOptions: ParsableArguments {
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case curl
        case urlsession
    }

    @Option(
        help: .init("Trust the authorities in this PEM file, besides the system's.", valueName: "file"),
        completion: .file())
    var caCertificates: String?

    @Flag(name: .customLong("only-ca-certificates"), help: "Trust no authority but those of --ca-certificates.")
    var trustsOnlyGiven = false

    @Option(help: .init("The SHA-256 of a public key that the server may have; may be repeated.", valueName: "base64"))
    var pin: [String] = []

    @Option(
        help: .init("A certificate to show to the server, in PEM, with --client-key.", valueName: "file"),
        completion: .file())
    var clientCertificate: String?

    @Option(help: .init("The private key of that certificate, in PEM.", valueName: "file"), completion: .file())
    var clientKey: String?

    @Option(help: .init("The file with the passphrase of that key.", valueName: "file"), completion: .file())
    var clientKeyPassphraseFile: String?

    @Option(help: .init("The proxy; by default what the environment names.", valueName: "url"))
    var proxy: String?

    @Flag(help: "Use no proxy.")
    var noProxy = false

    @Option(help: .init("The number of connections to one server (default: 6)", valueName: "number"))
    var connections: Int?

    @Option(help: "What sends the request (default: curl, if the system's libcurl can be used)")
    var transport: Kind?

    func validate() throws {
        let given = curlOptions
        #if os(Linux)
            if transport == .urlsession, let option = given.first {
                throw ValidationError("\(option) can't be used with --transport urlsession.")
            }
        #else
            if let option = given.first ?? transport.map({ _ in "--transport" }) {
                throw ValidationError("\(option) is only for Linux; on this platform the system's settings apply.")
            }
        #endif
        guard !trustsOnlyGiven || caCertificates != nil else {
            throw ValidationError("--only-ca-certificates requires --ca-certificates.")
        }
        guard (clientCertificate == nil) == (clientKey == nil) else {
            throw ValidationError("--client-certificate and --client-key must be used together.")
        }
        guard clientKey != nil || clientKeyPassphraseFile == nil else {
            throw ValidationError("--client-key-passphrase-file requires --client-key.")
        }
        guard proxy == nil || !noProxy else { throw ValidationError("Use only one of --proxy and --no-proxy.") }
        guard proxy?.contains("@") != true else {
            throw ValidationError("--proxy takes no user name and password.")
        }
        guard connections.map({ $0 >= 1 }) ?? true else { throw ValidationError("--connections must be at least 1.") }
        #if os(Linux)
            _ = try publicKeyPins()
            _ = try chosenProxy()
        #endif
    }

    /// The given options that only libcurl has, as they are written.
    private var curlOptions: [String] {
        [
            ("--ca-certificates", caCertificates != nil), ("--only-ca-certificates", trustsOnlyGiven),
            ("--pin", !pin.isEmpty), ("--client-certificate", clientCertificate != nil),
            ("--client-key", clientKey != nil), ("--client-key-passphrase-file", clientKeyPassphraseFile != nil),
            ("--proxy", proxy != nil), ("--no-proxy", noProxy), ("--connections", connections != nil),
        ].filter(\.1).map(\.0)
    }

    /// Creates the transport.
    ///
    /// It reads the files, and is called once: a pipe can't be read again.
    ///
    /// - Throws: `ValidationError` if a value is wrong, or a file can't be used.
    func makeTransport() throws -> any Transport {
        #if os(Linux)
            if transport == .urlsession { return URLSessionTransport() }
            guard transport == .curl || !curlOptions.isEmpty else {
                return ServiceConfiguration().makeDefaultTransport()
            }
            let configuration = try curlConfiguration()
            return try Self.checked("libcurl") { () throws(AtomError) in
                try CurlTransport(configuration: configuration)
            }
        #else
            return ServiceConfiguration().makeDefaultTransport()
        #endif
    }
}

#if os(Linux)
    extension TransportOptions {
        private func curlConfiguration() throws -> CurlTransport.Configuration {
            var configuration = CurlTransport.Configuration()
            if let caCertificates {
                let certificates = try Self.certificates(caCertificates, of: "--ca-certificates")
                configuration.trust = trustsOnlyGiven ? .only(certificates) : .systemAnd(certificates)
            }
            configuration.clientCertificate = try shownCertificate()
            configuration.publicKeyPins = try publicKeyPins()
            configuration.proxy = try chosenProxy()
            if let connections { configuration.connectionsPerOrigin = connections }
            return configuration
        }

        private func publicKeyPins() throws -> [CurlTransport.PublicKeyPin] {
            try pin.map { text in
                try Self.checked("--pin") { () throws(AtomError) in try .init(sha256: text) }
            }
        }

        private func chosenProxy() throws -> CurlTransport.Proxy {
            guard let proxy else { return noProxy ? .none : .environment }
            return .server(try Self.checked("--proxy") { () throws(AtomError) in try .init(proxy) })
        }

        private func shownCertificate() throws -> CurlTransport.ClientCertificate? {
            guard let clientCertificate, let clientKey else { return nil }
            let chain = try Self.certificates(clientCertificate, of: "--client-certificate")
            let key = try Self.text(of: clientKey, for: "--client-key")
            let passphrase = try clientKeyPassphraseFile.map { file in
                let text = try Self.text(of: file, for: "--client-key-passphrase-file")
                return String(text.prefix { !$0.isNewline })
            }
            return try Self.checked("--client-key") { () throws(AtomError) in
                try .init(chain: chain, privateKey: key, passphrase: passphrase)
            }
        }

        private static func certificates(_ file: String, of option: String) throws -> CurlTransport.Certificates {
            let pem = try text(of: file, for: option)
            return try checked(option) { () throws(AtomError) in try .init(pem: pem) }
        }

        /// The content of a file, which may be a pipe, as in `<(…)`.
        private static func text(of file: String, for option: String) throws -> String {
            guard let handle = FileHandle(forReadingAtPath: file), let data = try? handle.readToEnd() ?? Data() else {
                throw ValidationError("\(option): the file can't be read")
            }
            return String(decoding: data, as: UTF8.self)
        }

        /// The value, or what is wrong with an option in the SDK's words.
        private static func checked<Value>(_ option: String, _ make: () throws(AtomError) -> Value) throws -> Value {
            do throws(AtomError) {
                return try make()
            } catch {
                guard case .requestable(.unsupportedConfiguration(let violation)) = error else {
                    throw ValidationError("\(option): \(error.description)")
                }
                throw ValidationError("\(option): \(violation.reason)")
            }
        }
    }
#endif
