#if os(Linux)
    import Foundation

    /// An error of libcurl: the cause of a `URLError` from ``CurlTransport``.
    public struct CurlError: Error, Sendable {
        /// The `CURLcode`, for example 7 for a connection that was refused.
        public let code: Int
        /// libcurl's own words, for example the complaint of the TLS library, with control characters escaped.
        public internal(set) var message: String
        /// The system's error number, if it is the cause; else 0.
        var systemError = 0
        /// What the server's certificate says, if it is the cause.
        var certificate: String?

        init(code: Int, message: String, systemError: Int = 0) {
            self.code = code
            self.message = Redaction.visible(message)
            self.systemError = systemError
        }
    }

    extension CurlError: RedactedError {
        /// The message and the code.
        public var description: String { "\(message) (libcurl error \(code))" }
    }

    extension CurlError {
        /// What went wrong, with the head as far as it has arrived, and the status of a
        /// proxy's answer to CONNECT, 0 if there is none.
        func problem(abort: CurlTransfer.Abort?, head: ResponseHead, proxyStatus: Int) -> WireProblem {
            switch abort {
            case .headTooLarge: return .unreadableHead("it is too large")
            case .headInvalid(let reason): return .unreadableHead(reason)
            case .repeated: return head.isComplete ? .truncatedBody : .closedWithoutResponse
            case .refused: return .unprocessed
            case .answered, .spoiled, .early, .body, nil: break
            }
            if proxyStatus >= 300, !head.isComplete { return .proxy("its answer was \(proxyStatus)") }
            return head.isComplete ? problemInBody : problem(inHead: head)
        }

        /// What else there is to say of a certificate.
        ///
        /// An address in it would make all that is before look like user information.
        private var details: [String] {
            [certificate?.replacingOccurrences(of: "@", with: " at "), remedy].compactMap { $0 }
        }

        /// For an authority that isn't known.
        private var remedy: String? {
            ["issuer", "self-signed", "self signed"].contains { message.contains($0) }
                ? "to trust another authority, give it to CurlTransport as one of its authorities" : nil
        }

        private var problemInBody: WireProblem {
            switch code {
            case 18, 52: .truncatedBody
            case 16, 55, 65, 92, 95: .lost
            case 56:
                if message.contains("chunk") {
                    .unreadableBody(message)
                } else if message.contains("unexpected eof") || message.contains("SSL_ERROR_SYSCALL, errno 0") {
                    .truncatedBody
                } else {
                    message.contains("SSL_read") ? .insecureLater(message) : .lost
                }
            default: .unreadableBody(message)
            }
        }

        /// Whether it is an alert of the server's; libcurl has bare words for one that says that it has expired.
        var isOfClientCertificate: Bool {
            code == 60 && message == "SSL certificate verification failed"
                || [35, 56].contains(code) && !message.contains("alert certificate required")
                    && ["alert certificate", "alert bad certificate", "alert unknown ca"].contains {
                        message.contains($0)
                    }
        }

        private func problem(inHead head: ResponseHead) -> WireProblem {
            switch code {
            case _ where [6, 7, 35, 58, 77].contains(code) && [EMFILE, ENFILE].contains(Int32(systemError)):
                .other(.cannotConnectToHost, "The process or the system has no file descriptors left")
            case _ where isOfClientCertificate:
                .insecure(.clientCertificateRejected, "the server refuses the client's certificate: \(message)")
            case 0, 18, 52: head.isWithin ? .truncatedHead : .closedWithoutResponse
            case 1: .notHTTP(isSecure: true)
            case 3: .badURL
            case 5: .unknownProxy
            case 6: .unknownHost
            case 7: [ENETUNREACH, ENETDOWN].contains(Int32(systemError)) ? .offline(.notConnectedToInternet) : .refused
            case 8: .unreadableHead(message)
            case 27, 100: .unreadableHead("it is too large")
            case 28: .timedOut
            case 65: .closedWithoutResponse
            case 55, 56:
                if message.contains("alert certificate required") {
                    .insecure(.clientCertificateRequired, message)
                } else {
                    message.contains("SSL_read") || message.contains("SSL_write") ? .insecureLater(message) : .lost
                }
            case 16, 92, 95: .lost
            case 97: .proxy(message)
            case 35, 53, 54, 59, 60, 64, 66, 77, 80, 82, 83, 91:
                .insecure(saying: message, showing: details)
            // libcurl's words name a file that exists only in memory. 43 is newer.
            case 58,
                43 where message.contains("private key"):
                .insecure(
                    .clientCertificateRejected,
                    "the client's certificate, its private key or the key's passphrase can't be used")
            case 90: .insecure(.serverCertificateUntrusted, "the server's public key is not one of the pinned keys")
            case 98: .insecure(.clientCertificateRequired, message)
            default: .unreadableResponse(message)
            }
        }
    }
#endif
