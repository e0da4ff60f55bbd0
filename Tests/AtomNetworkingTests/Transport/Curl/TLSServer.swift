#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import Testing

    @testable import AtomNetworking

    /// `openssl s_server`, or a program in Python, with certificates of an authority
    /// of its own, for the lifetime of this object.
    ///
    /// A shell ends the server and removes the folder when the other end of its
    /// input is closed for any reason; see `OpenSSLServer`.
    final class TLSServer: Sendable {
        /// Whose certificate the server shows.
        enum Identity: String {
            /// Valid for 127.0.0.1.
            case server
            /// Valid for another name.
            case elsewhere
            /// No longer valid.
            case expired
        }

        let port: Int
        /// Contains the certificates and keys; the shell removes it.
        let folder: URL

        private let input = Pipe()
        private let shell = Process()

        private static let script = """
            openssl=$1 folder=$2 identity=$3 python=$4 program=$5
            shift 5
            umask 077
            mkdir "$folder" && cd "$folder" || exit
            key() { "$openssl" genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out "$1.key"; }
            authority() {
                key "$1"
                "$openssl" req -x509 -key "$1.key" -out "$1.pem" -days 2 -subj "/CN=Authority $1"
            }
            certificate() {
                key "$1"
                echo "$2" >extensions
                "$openssl" req -new -key "$1.key" -subj "/CN=$1" -out request.pem
                "$openssl" x509 -req -in request.pem -CA authority.pem -CAkey authority.key -CAcreateserial \\
                    -extfile extensions -days "$3" -out "$1.pem"
            }
            {
                authority authority
                authority other
                certificate server subjectAltName=IP:127.0.0.1 2
                certificate elsewhere subjectAltName=DNS:elsewhere.example 2
                certificate expired subjectAltName=IP:127.0.0.1 0
                certificate client extendedKeyUsage=clientAuth 2
                "$openssl" pkey -in client.key -aes128 -passout pass:open-sesame -out encrypted.key
                for name in server client; do
                    "$openssl" x509 -in $name.pem -pubkey -noout | "$openssl" pkey -pubin -outform der |
                        "$openssl" dgst -sha256 -binary | "$openssl" base64 >$name.pin
                done
            } >setup.log 2>&1 </dev/null
            if [ "$program" ]; then
                "$python" -c "$program" </dev/null &
            else
                "$openssl" s_server -accept 127.0.0.1:0 -cert "$identity.pem" -key "$identity.key" -www "$@" \\
                    </dev/null &
            fi
            exec >/dev/null
            read -r nothing
            kill -KILL $!
            wait
            rm -r "$folder"
            """

        /// - Parameters:
        ///   - arguments: Further ones for `s_server`, which runs in the folder.
        ///   - program: A server in Python, which runs there instead, and tells its
        ///     port as `s_server` does.
        init(_ identity: Identity = .server, _ arguments: [String] = [], program: String? = nil) async throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)")
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments =
                [
                    "-c", Self.script, "sh", try #require(OpenSSL.path), folder.path, identity.rawValue,
                    Python.path ?? "", program ?? "",
                ] + arguments
            // Or a process that another test starts meanwhile would hold it open too.
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            shell.standardInput = input
            let output = Pipe()
            shell.standardOutput = output
            shell.standardError = FileHandle.nullDevice
            await waitForFewDescriptors()
            try shell.run()
            let handle = output.fileHandleForReading
            guard let port = await onAThreadOfItsOwn({ OpenSSLServer.port(in: handle) }) else {
                throw Unexpected("the server doesn't start")
            }
            self.port = port
        }

        deinit {
            try? input.fileHandleForWriting.close()
        }

        /// Ends the server, and waits for that.
        func end() async {
            try? input.fileHandleForWriting.close()
            let shell = shell
            await onAThreadOfItsOwn { shell.waitUntilExit() }
        }

        func text(_ file: String) throws -> String {
            try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
        }

        func certificates(_ name: String) throws -> CurlTransport.Certificates {
            try CurlTransport.Certificates(pem: text("\(name).pem"))
        }

        /// Trusts only this server, and takes no proxy.
        var configuration: CurlTransport.Configuration {
            get throws {
                var configuration = CurlTransport.Configuration()
                configuration.trust = .only(try certificates("authority"))
                configuration.proxy = .none
                return configuration
            }
        }

        func pin(_ name: String) throws -> CurlTransport.PublicKeyPin {
            try CurlTransport.PublicKeyPin(sha256: text("\(name).pin").trimmingCharacters(in: .newlines))
        }
    }
#endif
