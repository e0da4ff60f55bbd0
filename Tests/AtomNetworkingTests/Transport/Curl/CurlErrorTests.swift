#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    @Suite(.limited) struct CurlErrorTests {
        /// How far the head of the response has got.
        enum Stage: CaseIterable {
            case none, within, complete

            var head: ResponseHead {
                var head = ResponseHead()
                let lines = ["HTTP/1.1 200 OK\r\n", "\r\n"].prefix(self == .none ? 0 : self == .within ? 1 : 2)
                for line in lines { _ = Array(line.utf8).withUnsafeBufferPointer { head.take($0) } }
                return head
            }
        }

        struct Row: Sendable, CustomTestStringConvertible {
            let curl: Int
            var message = "said so"
            var stages = [Stage.none, .within]
            let code: URLError.Code
            let words: String

            var testDescription: String { "\(curl), \(message)" }
        }

        static let beforeTheHead: [Row] =
            [
                Row(curl: 0, stages: [.none], code: .networkConnectionLost, words: "without a response"),
                Row(curl: 52, stages: [.none], code: .networkConnectionLost, words: "without a response"),
                Row(curl: 65, code: .networkConnectionLost, words: "without a response"),
                Row(curl: 0, stages: [.within], code: .networkConnectionLost, words: "before the whole head"),
                Row(curl: 18, stages: [.within], code: .networkConnectionLost, words: "before the whole head"),
                Row(curl: 52, stages: [.within], code: .networkConnectionLost, words: "before the whole head"),
                Row(curl: 1, code: .badServerResponse, words: "not HTTP"),
                Row(curl: 3, code: .badURL, words: "can't be requested"),
                Row(curl: 5, code: .cannotFindHost, words: "No proxy"),
                Row(curl: 6, code: .cannotFindHost, words: "No server"),
                Row(curl: 7, code: .cannotConnectToHost, words: "refused"),
                Row(curl: 8, code: .cannotParseResponse, words: "head of the server's response can't be read: said so"),
                Row(curl: 27, code: .cannotParseResponse, words: "too large"),
                Row(curl: 100, code: .cannotParseResponse, words: "too large"),
                Row(curl: 28, code: .timedOut, words: "in time"),
                Row(curl: 16, code: .networkConnectionLost, words: "lost"),
                Row(curl: 55, code: .networkConnectionLost, words: "lost"),
                Row(curl: 56, code: .networkConnectionLost, words: "lost"),
                Row(curl: 92, code: .networkConnectionLost, words: "lost"),
                Row(curl: 95, code: .networkConnectionLost, words: "lost"),
                Row(
                    curl: 56, message: "OpenSSL SSL_read: tlsv13 alert certificate required, errno 0",
                    code: .clientCertificateRequired, words: "certificate required"),
                Row(
                    curl: 60, message: "SSL certificate verification failed", code: .clientCertificateRejected,
                    words: "refuses the client's certificate"),
                Row(
                    curl: 35, message: "error:0A000414:SSL routines::sslv3 alert certificate revoked",
                    code: .clientCertificateRejected, words: "revoked"),
                Row(
                    curl: 56, message: "OpenSSL SSL_read: tlsv1 alert unknown ca, errno 0",
                    code: .clientCertificateRejected, words: "unknown ca"),
                Row(
                    curl: 56, message: "OpenSSL SSL_read: bad record mac", code: .secureConnectionFailed, words: "broke"
                ),
                Row(curl: 55, message: "OpenSSL SSL_write: closed", code: .secureConnectionFailed, words: "broke"),
                Row(curl: 97, code: .cannotConnectToHost, words: "The proxy made no connection"),
                Row(
                    curl: 35, message: "wrong version number", code: .secureConnectionFailed, words: "does not use TLS"),
                Row(curl: 60, message: "certificate has expired", code: .serverCertificateHasBadDate, words: "expired"),
                Row(
                    curl: 60, message: "certificate is not yet valid", code: .serverCertificateHasBadDate,
                    words: "not yet valid"),
                Row(
                    curl: 60, message: "self-signed certificate", code: .serverCertificateUntrusted,
                    words: "self-signed"),
                Row(curl: 58, code: .clientCertificateRejected, words: "passphrase can't be used"),
                Row(curl: 90, code: .serverCertificateUntrusted, words: "pinned"),
                Row(curl: 98, code: .clientCertificateRequired, words: "said so"),
                Row(curl: 61, code: .cannotParseResponse, words: "said so"),
                Row(curl: 43, code: .cannotParseResponse, words: "said so"),
            ]
            + [35, 53, 54, 59, 64, 66, 77, 80, 82, 83, 91].map {
                Row(curl: $0, code: .secureConnectionFailed, words: "No secure connection could be made: said so")
            }

        static let inTheBody: [Row] =
            [18, 52].map {
                Row(curl: $0, stages: [.complete], code: .networkConnectionLost, words: "before the whole body")
            }
            + [16, 55, 56, 65, 92, 95].map {
                Row(curl: $0, stages: [.complete], code: .networkConnectionLost, words: "The connection was lost")
            } + [
                Row(
                    curl: 56, message: "Illegal or missing hexadecimal sequence in chunked-encoding",
                    stages: [.complete],
                    code: .cannotDecodeRawData, words: "chunked"),
                Row(
                    curl: 56, message: "OpenSSL SSL_read: SSL_ERROR_SYSCALL, errno 0", stages: [.complete],
                    code: .networkConnectionLost, words: "before the whole body"),
                Row(
                    curl: 56, message: "OpenSSL SSL_read: unexpected eof while reading", stages: [.complete],
                    code: .networkConnectionLost, words: "before the whole body"),
                Row(
                    curl: 56, message: "OpenSSL SSL_read: bad record mac", stages: [.complete],
                    code: .secureConnectionFailed, words: "broke"),
                Row(curl: 61, stages: [.complete], code: .cannotDecodeRawData, words: "said so"),
                Row(curl: 23, stages: [.complete], code: .cannotDecodeRawData, words: "said so"),
                Row(curl: 8, stages: [.complete], code: .cannotDecodeRawData, words: "said so"),
            ]

        @Test("Each error has a code and words", arguments: beforeTheHead + inTheBody)
        func code(row: Row) {
            for stage in row.stages {
                let error = CurlError(code: row.curl, message: row.message)
                let problem = error.problem(abort: nil, head: stage.head, proxyStatus: 0)
                #expect(problem.code == row.code, "\(stage)")
                #expect(problem.explanation.contains(row.words), "\(stage): \(problem.explanation)")
            }
        }

        @Test("What a certificate calls itself is shown, and decides nothing")
        func certificate() {
            var error = CurlError(code: 60, message: "SSL certificate problem: self-signed certificate")
            error.certificate = "its certificate is that of “CN = expired.example.com”"
            let problem = error.problem(abort: nil, head: Stage.none.head, proxyStatus: 0)
            #expect(problem.code == .serverCertificateUntrusted)
            #expect(problem.explanation.contains("expired.example.com"))
        }

        @Test("What a certificate says is no command to a terminal")
        func controlCharacters() {
            let words = "SSL: certificate subject name 'a\u{1B}[2J\n\u{202E}b' does not match target host name 'c'"
            let error = CurlError(code: 60, message: words)
            let failure = error.problem(abort: nil, head: Stage.none.head, proxyStatus: 0).failure(
                delivery: .notSent, underlying: error)
            let urlError = failure.urlError(delivery: .notSent)
            for text in [error.message, error.description, error.localizedDescription, urlError.localizedDescription] {
                #expect(text.contains(#"'a\u{1b}[2J\u{a}\u{202e}b'"#), "\(text)")
            }
        }

        @Test("A certificate with addresses and many names hides neither the problem nor the remedy")
        func longCertificate() {
            var error = CurlError(code: 60, message: "SSL certificate problem: unable to get local issuer certificate")
            let names = String(repeating: "DNS:api.example.com, ", count: 9)
            error.certificate =
                "its certificate is that of “O = Example, emailAddress = root@example.com” for \(names)"
                + "email:ops@example.com, URI:spiffe://example.com/api, issued by “\(names)”"
            let failure = error.problem(abort: nil, head: Stage.none.head, proxyStatus: 0).failure(
                delivery: .notSent, underlying: error)
            let text = AtomError.session(failure.urlError(delivery: .notSent)).description
            #expect(text.hasPrefix("No secure connection could be made: SSL certificate problem"))
            #expect(text.contains("root at example.com"))
            #expect(text.hasSuffix("as one of its authorities."))
        }

        @Test("No error of libcurl is without an explanation", arguments: Stage.allCases)
        func all(stage: Stage) {
            for code in 0...110 {
                let problem = CurlError(code: code, message: "said so").problem(
                    abort: nil, head: stage.head, proxyStatus: 0)
                #expect(!problem.explanation.isEmpty && problem.code != .unknown, "\(code)")
                if stage == .complete { #expect(!problem.precedesRequest, "\(code)") }
            }
        }

        @Test("What this side ended is said as this side saw it", arguments: Stage.allCases)
        func aborts(stage: Stage) {
            for code in [8, 23, 42, 56] {
                let error = CurlError(code: code, message: "Failed writing header")
                let problem = { (abort: CurlTransfer.Abort) in
                    error.problem(abort: abort, head: stage.head, proxyStatus: 407)
                }
                #expect(problem(.headTooLarge) == .unreadableHead("it is too large"))
                #expect(
                    problem(.headInvalid("a line is not a header field"))
                        == .unreadableHead("a line is not a header field"))
                #expect(problem(.repeated) == (stage == .complete ? .truncatedBody : .closedWithoutResponse))
                #expect(problem(.refused) == .unprocessed)
            }
        }

        @Test("A proxy's refusal is named, unless the server has answered")
        func proxyStatus() {
            let error = CurlError(code: 56, message: "CONNECT tunnel failed, response 407")
            for status in [300, 407, 502] {
                let problem = error.problem(abort: nil, head: Stage.none.head, proxyStatus: status)
                #expect(problem == .proxy("its answer was \(status)"))
                #expect(problem.code == .cannotConnectToHost)
                #expect(error.problem(abort: nil, head: Stage.complete.head, proxyStatus: status) == .lost)
            }
            for status in [-1, 0, 200] {
                #expect(error.problem(abort: nil, head: Stage.none.head, proxyStatus: status) == .lost)
            }
        }

        @Test("An error shows libcurl's words and code")
        func description() {
            let error = CurlError(code: 7, message: "no route")
            #expect("\(error)" == "no route (libcurl error 7)")
            #expect(error.localizedDescription == "\(error)" && error.errorDescription == "\(error)")
        }

        @Test("The same failure is the same error over URLSession", arguments: WireFailureTests.cases)
        func sameError(failure: WireFailureTests.Case) async throws {
            let server = try LoopbackServer { _ in failure.answer }
            defer { server.stop() }
            var transports: [any Transport] = [try CurlTransport(), URLSessionTransport()]
            let library = try CurlLibrary.loaded.get()
            // How large a head may be over URLSession is up to libcurl.
            if failure.words == "too large", library.version != "7.88.1" { transports.removeLast() }
            // Older versions take the line for a status line, and the SDK doesn't.
            let isStatus = failure.testDescription == "status 42" && !library.tellsOfSending
            var errors: [AtomError] = []
            for transport in transports {
                let outcome = await Atom(.forTest(over: transport)).outcome(of: server.endpoint())
                errors.append(try #require(outcome.error))
            }
            let first = errors.map { String($0.description.prefix { $0 != ":" && $0 != "." }) }
            #expect(first.allSatisfy { $0 == first[0] })
            let codes = errors.map { error in
                if case .session(let cause) = error { (cause as? URLError)?.code } else { nil as URLError.Code? }
            }
            #expect(codes.allSatisfy { $0 == (isStatus ? .cannotParseResponse : failure.code) })
            // Foundation's libcurl may refuse a head whose status it doesn't pass on.
            #expect(errors[0].delivery == (failure.code == .cannotParseResponse ? .answered : failure.delivery))
            #expect(errors.dropFirst().allSatisfy { $0.delivery == failure.delivery })
        }

        @Test(
            "A port that ends a new connection without TLS may expect https, however it does so",
            arguments: [LoopbackServer.Response.closeImmediately, .reset, .raw(Data([0x15, 3, 1, 0, 2, 2, 70]))])
        func portForTLS(answer: LoopbackServer.Response) async throws {
            let server = try LoopbackServer { _ in answer }
            defer { server.stop() }
            let atom = Atom(.forTest(over: try CurlTransport()))
            let error = try #require(await atom.outcome(of: server.endpoint()).error)
            #expect(error.description.contains("expects https"), "\(error)")
        }

        @Test("A refused connection says to which address") func refusedAddress() async throws {
            let port = try RefusingPort()
            defer { withExtendedLifetime(port) {} }
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            let recorder = await (try CurlTransport(configuration: configuration)).run(
                try TransportRequest(
                    base: BaseURL(scheme: .http, host: "localhost", port: port.number), path: .empty))
            let text = recorder.urlError?.localizedDescription ?? ""
            #expect(text.contains("127.0.0.1") || text.contains("::1"), "\(text)")
        }
    }
#endif
