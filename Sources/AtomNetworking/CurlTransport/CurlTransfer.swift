#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// A transfer of libcurl, which runs one exchange after the other.
    ///
    /// Only the loop's thread uses it. libcurl calls it back on that thread,
    /// while the loop lets it work.
    final class CurlTransfer {
        /// Why this side ended the transfer.
        enum Abort {
            case headTooLarge
            case headInvalid
            /// libcurl was about to send a request again that may be sent only
            /// once.
            case repeated
            /// libcurl was about to send a request again that has its response:
            /// a 417 to an `Expect` of the app.
            case answered
        }

        let easy: atom_curl_easy
        private let settings: CurlSettings
        private let errorBuffer: UnsafeMutablePointer<CChar>
        // The loop owns its transfers.
        private unowned let loop: CurlLoop
        // Only the loop's thread accesses all of these, and never two accesses
        // overlap, so the check for that at run time isn't needed (SE-0176).
        @exclusivity(unchecked) private var lines = HeaderLines()
        /// The first turn of the loop in which libcurl works on the exchange.
        @exclusivity(unchecked) var firstTurn = 0
        /// Its place among the running transfers.
        @exclusivity(unchecked) var position = 0
        /// Whether the options are those of a GET without a body on any
        /// connection.
        @exclusivity(unchecked) private var isPlain = true
        @exclusivity(unchecked) private var isForSecure: Bool?
        /// The URL that is set, and its parsed form if it is set too.
        @exclusivity(unchecked) private var url: String?
        @exclusivity(unchecked) private var parsedURL: atom_curl_url?
        /// Whether connecting may take longer than libcurl's own limit.
        @exclusivity(unchecked) private var isPatient = false
        /// The proxy that is set; empty for none.
        @exclusivity(unchecked) private var proxy = ""

        // About the exchange that runs.
        /// The exchange; `nil` after it has been cancelled while libcurl still
        /// looked for the server's address.
        @exclusivity(unchecked) private(set) var exchange: CurlExchange?
        @exclusivity(unchecked) private(set) var head = ResponseHead()
        @exclusivity(unchecked) private(set) var abort: Abort?
        /// Parts of the body that haven't been handed over.
        @exclusivity(unchecked) private var part = Data()
        @exclusivity(unchecked) private var body: Data?
        @exclusivity(unchecked) private var bodyOffset = 0
        /// The part of the body that has been reported as sent.
        @exclusivity(unchecked) private var reported = 0
        @exclusivity(unchecked) private var mayBeRepeated = true
        @exclusivity(unchecked) private var isConnecting = false
        @exclusivity(unchecked) private var isPrepared = false
        @exclusivity(unchecked) private var isRepeated = false
        /// Whether a repetition gets a new connection.
        @exclusivity(unchecked) private var repeatsOnNewConnection = false

        /// `nil` if there is no memory for it.
        init?(_ loop: CurlLoop, settings: CurlSettings, share: atom_curl_share?) {
            let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(ATOM_CURL_ERROR_SIZE))
            errorBuffer.initialize(repeating: 0, count: Int(ATOM_CURL_ERROR_SIZE))
            // The context is needed before `self` exists.
            let context = UnsafeMutablePointer<Unmanaged<CurlTransfer>>.allocate(capacity: 1)
            guard let easy = atom_curl_easy_make(Self.callbacks, context, errorBuffer, share) else {
                errorBuffer.deallocate()
                context.deallocate()
                return nil
            }
            self.easy = easy
            self.errorBuffer = errorBuffer
            self.context = context
            self.loop = loop
            self.settings = settings
            context.initialize(to: Unmanaged.passUnretained(self))
            settings.apply(to: easy)
        }

        private let context: UnsafeMutablePointer<Unmanaged<CurlTransfer>>

        deinit {
            forgetParsedURL()
            atom_curl_easy_free(easy)
            context.deallocate()
            errorBuffer.deallocate()
        }

        /// The transfer of a callback's context.
        static func of(_ context: UnsafeMutableRawPointer) -> CurlTransfer {
            // The loop keeps a transfer that libcurl works on.
            context.assumingMemoryBound(to: Unmanaged<CurlTransfer>.self).pointee._withUnsafeGuaranteedRef { $0 }
        }
    }

    // MARK: - Before

    extension CurlTransfer {
        /// Sets the options of an exchange.
        ///
        /// - Returns: Whether libcurl accepts them.
        func prepare(for exchange: CurlExchange) -> Bool {
            self.exchange = exchange
            exchange.transfer = self
            let request = exchange.request
            head.reset()
            abort = nil
            (body, bodyOffset, reported) = (request.body, 0, 0)
            (isConnecting, isPrepared, isRepeated) = (false, false, false)
            if repeatsOnNewConnection {
                repeatsOnNewConnection = false
                set(ATOM_CURLOPT_FRESH_CONNECT, 0)
            }
            errorBuffer[0] = 0
            mayBeRepeated = body == nil && Self.isIdempotent(request.method)

            guard setURL(request.target.absoluteString), setMethod(request) else { return false }
            // libcurl's own limit is five minutes. A limit costs a timer, and the
            // SDK ends the exchange earlier.
            let isPatient = request.idleTimeout > .seconds(240)
            if isPatient != self.isPatient {
                self.isPatient = isPatient
                set(ATOM_CURLOPT_CONNECTTIMEOUT_MS, isPatient ? Int(CInt.max) : 0)
            }
            setHeader(request)
            if isForSecure != exchange.isSecure {
                isForSecure = exchange.isSecure
                // Requests wait for the first connection to tell whether it
                // multiplexes.
                set(ATOM_CURLOPT_PIPEWAIT, exchange.isSecure && settings.multiplexes ? 1 : 0)
            }
            let proxy = settings.proxy(for: request.target)
            if proxy != self.proxy {
                self.proxy = proxy
                atom_curl_set_text(easy, CInt(ATOM_CURLOPT_PROXY), proxy)
            }
            return true
        }

        /// Sets the URL; one that was used before is parsed once.
        private func setURL(_ url: String) -> Bool {
            if url == self.url {
                if parsedURL == nil {
                    parsedURL = atom_curl_url_make(url)
                    if let parsedURL { atom_curl_set_parsed_url(easy, parsedURL) }
                }
                return true
            }
            forgetParsedURL()
            // Otherwise the URL of the last exchange would stay.
            let isAccepted = atom_curl_set_text(easy, CInt(ATOM_CURLOPT_URL), url) == 0
            self.url = isAccepted ? url : nil
            return isAccepted
        }

        private func forgetParsedURL() {
            guard let parsedURL else { return }
            atom_curl_set_parsed_url(easy, nil)
            atom_curl_url_free(parsedURL)
            self.parsedURL = nil
        }

        private func setMethod(_ request: TransportRequest) -> Bool {
            // libcurl before 7.80 doesn't tell that it repeats a request.
            let needsFresh = request.needsFreshConnection || (!mayBeRepeated && body == nil && !settings.tellsOfSending)
            let expectsBody = ["POST", "PUT", "PATCH"].contains(request.method)
            let isPlainNow = request.method == "GET" && body == nil && !needsFresh
            if isPlainNow, isPlain { return true }
            isPlain = isPlainNow
            set(ATOM_CURLOPT_FRESH_CONNECT, needsFresh ? 1 : 0)
            set(ATOM_CURLOPT_FORBID_REUSE, request.needsFreshConnection ? 1 : 0)
            // Resets the other kinds.
            set(ATOM_CURLOPT_HTTPGET, 1)
            let hasBody = body != nil || expectsBody
            if hasBody {
                set(ATOM_CURLOPT_POST, 1)
                atom_curl_set_size(easy, CInt(ATOM_CURLOPT_POSTFIELDSIZE_LARGE), Int64(body?.count ?? 0))
            } else if request.method == "HEAD" {
                set(ATOM_CURLOPT_NOBODY, 1)
            }
            set(ATOM_CURLOPT_NOPROGRESS, body.map(\.isEmpty) ?? true ? 1 : 0)
            let isDefault = hasBody ? request.method == "POST" : request.method == "GET" || request.method == "HEAD"
            return atom_curl_set_text(
                easy, CInt(ATOM_CURLOPT_CUSTOMREQUEST), isDefault ? nil : request.method) == 0
        }

        private func setHeader(_ request: TransportRequest) {
            var size = 0
            var hasType = false
            for field in request.headerFields {
                size += field.name.utf8.count + field.value.utf8.count
                if field.name.utf8.count == 12, HeaderFields.isSameName(field.name, "Content-Type") { hasType = true }
            }
            lines.begin(size: size + 64, lines: request.headerFields.count + settings.ownLines.count + 2)
            for line in settings.ownLines where !request.headerFields.contains(line.name) { lines.add(line) }
            for field in request.headerFields { lines.add(field.name, field.value) }
            if !isPlain {
                // libcurl would call every body a form, and wait for leave to
                // send a large one.
                if !hasType { lines.leaveOut("Content-Type") }
                if !request.headerFields.contains("Expect") { lines.leaveOut("Expect") }
            }
            atom_curl_set_list(easy, CInt(ATOM_CURLOPT_HTTPHEADER), lines.list)
        }

        private func set(_ option: Int, _ value: Int) {
            atom_curl_set_long(easy, CInt(option), value)
        }

        /// Whether a request may be sent again when a kept connection turns out
        /// to be closed (RFC 9110 §9.2.2).
        private static func isIdempotent(_ method: String) -> Bool {
            ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
        }
    }

    // MARK: - Callbacks

    extension CurlTransfer {
        // Never freed and never changed, so every thread may read it.
        nonisolated(unsafe) private static let callbacks: UnsafePointer<atom_curl_callbacks> = {
            let callbacks = UnsafeMutablePointer<atom_curl_callbacks>.allocate(capacity: 1)
            callbacks.initialize(
                to: atom_curl_callbacks(
                    header: { bytes, size, count, context in
                        guard let bytes, let context else { return 0 }
                        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
                        return line.withMemoryRebound(to: UInt8.self) {
                            CurlTransfer.of(context).tookHeader($0) ? size * count : 0
                        }
                    },
                    write: { bytes, size, count, context in
                        guard let bytes, let context else { return 0 }
                        let length = size * count
                        switch CurlTransfer.of(context).receive(UnsafeRawBufferPointer(start: bytes, count: length)) {
                        case .taken: return length
                        case .later: return Int(ATOM_CURL_WRITE_PAUSE)
                        case .never: return length == 0 ? 1 : 0
                        }
                    },
                    read: { bytes, size, count, context in
                        guard let bytes, let context else { return Int(ATOM_CURL_READ_ABORT) }
                        return CurlTransfer.of(context).fill(
                            UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
                    },
                    prepare: { context, _, _, _, _ in
                        guard let context else { return 1 }
                        return CurlTransfer.of(context).maySend() ? 0 : 1
                    },
                    progress: { context, _, _, _, sent in
                        guard let context else { return 1 }
                        CurlTransfer.of(context).sent(Int(sent))
                        return 0
                    },
                    connect: { context in
                        guard let context else { return false }
                        return CurlTransfer.of(context).mayConnect()
                    }))
            return UnsafePointer(callbacks)
        }()

        private func tookHeader(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
            guard exchange != nil else { return false }
            switch head.take(line) {
            case .incomplete:
                return true
            case .tooLarge:
                abort = .headTooLarge
            case .invalid:
                abort = .headInvalid
            case .complete:
                guard let exchange else { return false }
                if head.isHTTP2 { loop.hasSharedConnection() }
                if let body, bodyOffset == body.count { reportSent(bodyOffset, of: exchange) }
                loop.report(
                    .response(
                        TransportResponse(
                            statusCode: head.statusCode, headerFields: head.takeFields(),
                            exchangesPerOrigin: exchange.isSecure ? settings.exchanges(isHTTP2: head.isHTTP2) : nil)),
                    of: exchange)
                return true
            }
            return false
        }

        private enum Reception {
            case taken
            case later
            case never
        }

        private func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
            guard let exchange else { return .never }
            guard head.isComplete else {
                // libcurl has seen the end of a head where there is none.
                abort = .headInvalid
                return .never
            }
            if exchange.mustWait(pending: part.count) { return .later }
            if part.isEmpty { loop.hasPart(self) }
            if let start = bytes.baseAddress {
                part.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
            }
            // Larger parts would have to be copied when they grow.
            if part.count >= 64 << 10 { handOverPart() }
            return .taken
        }

        private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard exchange != nil else { return Int(ATOM_CURL_READ_ABORT) }
            guard let body else { return 0 }
            let start = body.startIndex + bodyOffset
            let count = min(buffer.count, body.endIndex - start)
            guard count > 0 else { return 0 }
            body.copyBytes(to: buffer, from: start..<(start + count))
            bodyOffset += count
            return count
        }

        /// A request is about to be sent, for the first time or again.
        private func maySend() -> Bool {
            guard exchange != nil else { return false }
            if head.isComplete {
                abort = .answered
                return false
            }
            if isPrepared {
                guard mayBeRepeated, !isRepeated else {
                    abort = .repeated
                    return false
                }
                isRepeated = true
                return true
            }
            isPrepared = true
            if mayBeRepeated, !isConnecting {
                // Another kept connection may be closed too, and what has been
                // repeated isn't repeated again (RFC 9110 §9.2.2).
                repeatsOnNewConnection = true
                set(ATOM_CURLOPT_FRESH_CONNECT, 1)
            }
            return true
        }

        private func sent(_ total: Int) {
            // After the head nobody waits for it.
            guard let exchange, !head.isComplete else { return }
            reportSent(total, of: exchange)
        }

        private func reportSent(_ total: Int, of exchange: CurlExchange) {
            guard total > reported else { return }
            loop.report(.sent(total - reported), of: exchange)
            reported = total
        }

        private func mayConnect() -> Bool {
            guard exchange != nil else { return false }
            isConnecting = true
            return true
        }
    }

    // MARK: - During and after

    extension CurlTransfer {
        /// Hands the collected part of the body over for delivery.
        func handOverPart() {
            guard let exchange, !part.isEmpty else { return }
            loop.report(exchange.handOver(part))
            part = Data()
        }

        /// Whether libcurl may be looking for the server's address.
        ///
        /// To take such a transfer out, libcurl would wait for the system's
        /// resolver, and all other exchanges with it. It can't be doing so before
        /// it has worked on the exchange.
        /// Left in, it sends nothing: it gets neither a new connection nor, since
        /// 7.80, an old one.
        var mayBeResolving: Bool { settings.tellsOfSending && !isConnecting && !isPrepared }

        /// Lets go of the exchange, which has ended for its caller.
        func release() {
            exchange?.transfer = nil
            exchange = nil
            body = nil
            part = Data()
        }

        /// How far the request got.
        var delivery: AtomError.Delivery {
            if head.isComplete { return .answered }
            if settings.tellsOfSending, !isPrepared { return .notSent }
            return bytesOfRequest == 0 ? .notSent : .maybeSent
        }

        private var bytesOfRequest: Int { atom_curl_get_long(easy, CInt(ATOM_CURLINFO_REQUEST_SIZE)) }

        /// The last event of an exchange that libcurl has ended.
        func end(code: Int) -> TransportEvent {
            if code == 0 || abort == .answered, head.isComplete { return .finished }
            var error = CurlError(code: code, message: String(cString: errorBuffer))
            if error.message.isEmpty, let meaning = atom_curl_meaning(CInt(code)) {
                error.message = String(cString: meaning)
            }
            let problem = error.problem(
                abort: abort, head: head,
                proxyStatus: atom_curl_get_long(easy, CInt(ATOM_CURLINFO_HTTP_CONNECTCODE)))
            return .failed(problem.failure(delivery: delivery, underlying: error))
        }

        /// The last event of an exchange that its caller has cancelled.
        var cancelled: TransportEvent {
            .failed(WireProblem.cancelled.failure(delivery: delivery, underlying: CancellationError()))
        }
    }
#endif
