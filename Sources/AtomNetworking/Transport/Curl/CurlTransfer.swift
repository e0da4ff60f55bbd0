#if os(Linux)
    internal import CAtomCurl
    import Foundation

    /// Runs one exchange after the other with libcurl, which calls it back on the loop's thread.
    ///
    /// libcurl 7.83 to 8.1 gets a handle for each exchange: it followed a pointer to
    /// freed memory when one was used again and a head began with a folded line (#11103).
    final class CurlTransfer {
        /// Why this side ended the transfer.
        enum Abort {
            case headTooLarge
            case headInvalid(String)
            /// libcurl was about to send the request again. Who counts attempts has to know of it.
            case repeated
            /// The same, and the server has said that it has not processed the request (RFC 9113 §8.7).
            case refused
            /// Something has arrived on the kept connection that libcurl was about to
            /// use, or it has been closed. Nothing was sent.
            case spoiled
            /// libcurl was about to send the request as the second one over a new connection of HTTP/2, whose server hasn't
            /// said how many it takes. It is sent when it has. Nothing was sent.
            case early
            /// The response is complete, and libcurl was about to send more: the rest of the body, or the request again
            /// after a 417 to an `Expect` of the app.
            case answered
            /// The body could not be read.
            case body(AtomError)
        }

        /// A way of the request to a connection: each time that libcurl takes one, its
        /// port or the moment of being connected is another.
        private struct Passage: Equatable {
            var port = 0
            var moment: Int64 = 0
        }

        let settings: CurlSettings
        // The loop owns its transfers, whose work is done on its thread alone, and the thread keeps the loop. To check
        // that costs 1,000 instructions of each request.
        unowned(unsafe) let loop: CurlLoop
        private let errorBuffer: UnsafeMutablePointer<CChar>
        /// What libcurl hands to its callbacks.
        let owner: UnsafeMutablePointer<atom_curl_owner>

        // Only the loop's thread uses these, so no two accesses overlap (SE-0176); to check for that would cost 7,000
        // instructions a request, in all files of libcurl's.
        @exclusivity(unchecked) private(set) var easy: atom_curl_easy?
        /// The scheme of the plain exchanges whose common options the handle has; `nil` if it has others.
        ///
        /// Of the next one only what differs is set: that saves 5,000 instructions.
        @exclusivity(unchecked) private var plainScheme: BaseURLScheme?
        @exclusivity(unchecked) var lines = HeaderLines()
        @exclusivity(unchecked) var server: ServerURL?
        /// The first turn of the loop in which libcurl works on the exchange.
        @exclusivity(unchecked) var firstTurn = 0
        @exclusivity(unchecked) var position = 0
        /// The exchange; `nil` if it was cancelled during the lookup of the address.
        @exclusivity(unchecked) private(set) var exchange: CurlExchange?
        @exclusivity(unchecked) private(set) var head = ResponseHead()
        /// What has become of the head, until it is handed over: before anything else is reported of the exchange.
        @exclusivity(unchecked) private var response: TransportResponse?
        @exclusivity(unchecked) private var abort: Abort?
        /// Parts of the body that haven't been handed over.
        @exclusivity(unchecked) private var part = Data()
        /// The body is in one of these.
        @exclusivity(unchecked) private var body: Data?
        @exclusivity(unchecked) var reader: BodyReadAhead?
        @exclusivity(unchecked) private var isBodyRead = false
        /// A 417, after which libcurl sends the request again without `Expect`.
        @exclusivity(unchecked) private var refusedExpectation: TransportResponse?
        @exclusivity(unchecked) private var bodyOffset: Int64 = 0
        @exclusivity(unchecked) private var reported: Int64 = 0
        @exclusivity(unchecked) private(set) var socket = CurlSockets.Use.none
        /// Why the system gave no socket; 0 if it did.
        @exclusivity(unchecked) private var socketError: CInt = 0
        /// Where the newest connection of the exchange leads, if it has opened one.
        @exclusivity(unchecked) private(set) var peer = (address: "", port: 0)
        /// Whether libcurl may send the request beside others.
        @exclusivity(unchecked) private var mayMultiplex = true
        /// Whether libcurl repeats the request only if the server has refused it.
        @exclusivity(unchecked) private var repeatsRefused = false
        @exclusivity(unchecked) private var isConnecting = false
        @exclusivity(unchecked) private(set) var isPrepared = false
        /// Of HTTP/2, where libcurl says it; 0 otherwise.
        @exclusivity(unchecked) var stream: UInt32 = 0
        /// When, over TLS, in nanoseconds.
        @exclusivity(unchecked) private var preparedAt: UInt64 = 0
        @exclusivity(unchecked) var hasSecureProxy = false
        /// The connection that was prepared for, where libcurl doesn't tell of sending.
        @exclusivity(unchecked) private var passage = Passage()
        /// Whether libcurl keeps a part of the response, until the receiver has caught up.
        @exclusivity(unchecked) private(set) var isHeldBack = false
        /// Whether the response to a request with a body has none itself.
        @exclusivity(unchecked) private var isBare = false
        /// Of a body that only the end of the connection ends: whether TLS had not ended at libcurl's last report.
        @exclusivity(unchecked) private var isCut: Bool?
        /// Why the server's certificate is not accepted, while it is looked at.
        @exclusivity(unchecked) private var refusal: CurlError?
        @exclusivity(unchecked) private var hasLines = false
        /// Otherwise the handle isn't used again: from 8.7 to 8.15 it remembers that a body was to be sent once more, and
        /// fails each time, and after a 417 it never adds `Expect` again.
        @exclusivity(unchecked) private var isReusable: Bool?
        /// The size of the request's head, without its method.
        @exclusivity(unchecked) var headSize = 0
        /// When a request with a body was about to be sent, and how long its response took, where libcurl doesn't say.
        @exclusivity(unchecked) private var began: UInt64?
        @exclusivity(unchecked) private(set) var untilResponse: Duration?
        /// Whether the loop knows that it has something to hand over.
        @exclusivity(unchecked) var isListed = false

        init(_ loop: CurlLoop, settings: CurlSettings) {
            self.loop = loop
            self.settings = settings
            errorBuffer = .allocate(capacity: Int(ATOM_CURL_ERROR_SIZE))
            owner = .allocate(capacity: 1)
            owner.initialize(
                to: atom_curl_owner(callbacks: Self.callbacks, context: Unmanaged.passUnretained(self).toOpaque()))
        }

        deinit {
            if let easy { atom_curl_easy_free(easy) }
            owner.deallocate()
            errorBuffer.deallocate()
        }

        static func of(_ context: UnsafeMutableRawPointer) -> CurlTransfer {
            // The loop keeps a transfer that libcurl works on.
            Unmanaged<CurlTransfer>.fromOpaque(context)._withUnsafeGuaranteedRef { $0 }
        }
    }

    // MARK: - Before

    extension CurlTransfer {
        /// Makes a handle for the exchange, and returns why it can't be sent.
        func prepare(for exchange: CurlExchange, share: atom_curl_share?) -> TransportFailure? {
            let request = exchange.request
            body = request.body?.data
            errorBuffer[0] = 0
            let isPlain = settings.isPlain(request)
            let isSet = isPlain && easy != nil && plainScheme == request.target.scheme
            // Without memory the handle of before is gone, too.
            if !isSet { easy = atom_curl_easy_make(easy, owner, loop.watcher, errorBuffer) }
            guard let easy else { return Self.noMemory }
            self.exchange = exchange
            exchange.transfer = self
            let problem: WireProblem?
            if isSet {
                problem = setMessage(request, isProxied: false, on: easy)
            } else {
                problem = setAll(of: request, share: share, on: easy)
            }
            plainScheme = isPlain && problem == nil ? request.target.scheme : nil
            mayMultiplex = true
            chooseProtocol()
            guard let problem else { return nil }
            let error =
                problem == .badURL
                ? CurlError(code: 3, message: "libcurl accepts no URL or method of this length")
                : CurlError(code: 4, message: problem.explanation)
            return problem.failure(delivery: .notSent, underlying: error)
        }

        /// Sets all options; without those that protect the exchange nothing is sent.
        private func setAll(
            of request: TransportRequest, share: atom_curl_share?, on easy: atom_curl_easy
        ) -> WireProblem? {
            let isSecure = request.target.scheme == .https
            let problem = set(request, on: easy) ?? (isSecure ? settings.secure(easy, share: share) : nil)
            repeatsRefused =
                isSecure && settings.library.tellsOfRefusals
                && settings.set(ATOM_CURLOPT_RTSP_REQUEST, Int(ATOM_CURL_RTSP_RECEIVE), on: easy)
            if isSecure { atom_curl_tls_listen(easy, loop.watcher) }
            return problem
        }

        static var noMemory: TransportFailure {
            TransportFailure(unsent: .unknown, "libcurl has no memory for the exchange")
        }

        private func chooseProtocol() {
            guard let easy, let exchange, mayMultiplex, !loop.mayMultiplex(exchange) else { return }
            mayMultiplex = false
            // Without TLS each one sets it.
            if exchange.isSecure { needsReset() }
            atom_curl_set_long(easy, CInt(ATOM_CURLOPT_HTTP_VERSION), Int(ATOM_CURL_HTTP_1_1))
        }

        /// Whatever sets an option that not each plain exchange sets must call this: the next one would keep it.
        private func needsReset() { plainScheme = nil }

        private func setMore(_ option: Int, _ value: Int) -> Bool {
            needsReset()
            return easy.map { settings.set(option, value, on: $0) } ?? false
        }

        /// Makes a handle that only searches for a kept connection.
        func prepareSearch() -> atom_curl_easy? {
            needsReset()
            easy = atom_curl_easy_make(easy, owner, loop.watcher, errorBuffer)
            guard let easy else { return nil }
            // Port 1 has no connections. One that must be new is not searched for in 8.23.
            atom_curl_set_text(easy, CInt(ATOM_CURLOPT_URL), "http://127.0.0.1:1/")
            atom_curl_set_text(easy, CInt(ATOM_CURLOPT_NOPROXY), "*")
            return easy
        }
    }

    // MARK: - What libcurl calls

    extension CurlTransfer {
        func tookHeader(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
            guard let exchange else { return false }
            let begins = !head.isWithin && !head.isComplete
            switch head.take(line) {
            case .incomplete:
                if begins, head.isHTTP2, !speaksHTTP2 {
                    loop.pretended(exchange)
                    abort = .headInvalid("it is of HTTP/2, and the connection is not")
                    return false
                }
                hasLines = true
                loop.hasSomething(self)
                return true
            case .tooLarge:
                abort = .headTooLarge
            case .invalid:
                abort = .headInvalid(head.fault)
            case .complete:
                hasLines = false
                let owesBody = !isBodyRead && bodyOffset == 0 && exchange.request.body.map { $0.length != 0 } ?? false
                let isRestless = head.isHTTP2 || head.statusCode < 300 && owesBody
                loop.sockets.learned(socket, isSingle: !head.isHTTP2, isRestless: isRestless)
                loop.answered(exchange, multiplexes: head.isHTTP2)
                // A server that answers before the body may take the next request for it (RFC 9110 §10.1.1).
                let isLast = hidesSurplus || owesBody || head.endsWithConnection
                if !head.isHTTP2, isLast, !forbidReuse(true) { return false }
                if exchange.isSecure, head.lastsToTheEnd, exchange.request.method != "HEAD", let easy {
                    isCut = false
                    needsReset()
                    atom_curl_report_progress(easy, owner)
                }
                if isBodyRead || bodyOffset == body.map({ Int64($0.count) }) { reportSent(bodyOffset, of: exchange) }
                let response = TransportResponse(
                    statusCode: head.statusCode, headerFields: head.takeFields(),
                    exchangesPerOrigin: exchange.isSecure ? settings.exchanges(isHTTP2: head.isHTTP2) : nil)
                if exchange.request.body != nil {
                    untilResponse = began.map { .nanoseconds(DispatchTime.now().uptimeNanoseconds - $0) }
                    let fields = response.headerFields
                    let isEmpty = fields["Content-Length"] == "0" && !fields.contains("Transfer-Encoding")
                    isBare = isEmpty || response.statusCode == 204 || response.statusCode == 304
                }
                if isExpectationRefused {
                    (refusedExpectation, isConnecting) = (response, false)
                } else {
                    self.response = response
                    loop.hasSomething(self)
                }
                return true
            }
            return false
        }

        private func forbidReuse(_ isForbidden: Bool) -> Bool {
            setMore(ATOM_CURLOPT_FORBID_REUSE, isForbidden ? 1 : 0)
        }

        /// Whether the server doesn't know the `Expect` that libcurl added (RFC
        /// 9110 §10.1.1), and nothing of the body has been sent.
        private var isExpectationRefused: Bool {
            guard head.statusCode == 417, bodyOffset == 0, let request = exchange?.request else { return false }
            return request.body != nil && !request.headerFields.contains("Expect")
        }

        /// The 417 is the answer after all.
        private func takeRefusedExpectation() {
            if let refused = refusedExpectation.take() { response = refused }
        }

        /// Returns what libcurl wants to know: another number than the count of bytes ends the transfer.
        func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard let exchange else { return bytes.isEmpty ? 1 : 0 }
            guard head.isComplete else {
                // libcurl has seen the end of a head where there is none.
                abort = .headInvalid("it has no end")
                return bytes.isEmpty ? 1 : 0
            }
            takeRefusedExpectation()
            isHeldBack = exchange.mustWait(pending: part.count)
            guard !isHeldBack else {
                loop.sockets.hold(socket)
                return Int(ATOM_CURL_WRITE_PAUSE)
            }
            if part.isEmpty {
                loop.hasSomething(self)
                // More will follow, and a part that grows is copied.
                if bytes.count >= 16 << 10 { part.reserveCapacity(96 << 10) }
            }
            if let start = bytes.baseAddress {
                part.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
            }
            // Larger parts would have to be copied when they grow.
            if part.count >= 64 << 10 { handOverPart() }
            return bytes.count
        }

        func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard let exchange else { return Int(ATOM_CURL_READ_ABORT) }
            if let reader { return fill(buffer, from: reader, of: exchange) }
            guard let body else { return 0 }
            // 32 bits: the offset is within the data.
            let start = body.startIndex + Int(bodyOffset)
            let count = min(buffer.count, body.endIndex - start)
            guard count > 0 else { return 0 }
            body.copyBytes(to: buffer, from: start..<(start + count))
            bodyOffset += Int64(count)
            return count
        }

        private func fill(
            _ buffer: UnsafeMutableRawBufferPointer, from reader: BodyReadAhead, of exchange: CurlExchange
        ) -> Int {
            do {
                guard let count = try reader.read(into: buffer) else {
                    isBodyRead = true
                    return 0
                }
                guard count > 0 else {
                    reader.whenReadable { exchange.bodyIsReadable() }
                    return Int(ATOM_CURL_READ_PAUSE)
                }
                bodyOffset += Int64(count)
                return count
            } catch {
                abort = .body(error)
                return Int(ATOM_CURL_READ_ABORT)
            }
        }

        /// Whether libcurl says when it began to send the request in place of when its response began.
        var measuresResponse: Bool {
            guard !settings.library.tellsOfResponse, let request = exchange?.request else { return false }
            return request.wantsMetrics && request.body != nil
        }

        /// A request is about to be sent, for the first time or again, from this port; 0 if it isn't known.
        func maySend(from port: UInt16) -> Bool {
            guard let exchange else { return false }
            if refusedExpectation != nil {
                refusedExpectation = nil
                head.reset()
                (isPrepared, isReusable) = (false, false)
                guard forbidReuse(exchange.request.needsFreshConnection) else { return false }
            }
            guard !isPrepared, !head.isComplete else {
                abort = repetition
                return false
            }
            if isConnecting {
                use(loop.sockets.connected(socket.descriptor, port: port))
                // Nobody knows whose a connection is that only shows its certificate.
                if exchange.isSecure, refusal == nil {
                    loop.connected(exchange, multiplexes: speaksHTTP2)
                    if speaksHTTP2, let easy {
                        loop.sockets.begins(socket, in: atom_curl_tls_session(easy))
                    }
                }
            } else {
                use(loop.sockets.descriptor(ofPort: port))
                guard !loop.sockets.isUnheard(socket, beside: 1) else {
                    abort = .early
                    return false
                }
                guard port == 0 ? loop.sockets.areUnspoiled : loop.sockets.isUnspoiled(socket.descriptor),
                    !hasSurplus(isKnown: port != 0)
                else {
                    // libcurl would offer one of HTTP/2 again.
                    _ = forbidReuse(true)
                    abort = .spoiled
                    return false
                }
                guard !mayMultiplex || loop.mayMultiplex(exchange) || speaksHTTP2 else {
                    abort = .spoiled
                    return false
                }
            }
            isPrepared = true
            if settings.library.tellsOfLeavingInWords, speaksHTTP2 { _ = setMore(ATOM_CURLOPT_VERBOSE, 1) }
            if exchange.isSecure { preparedAt = DispatchTime.now().uptimeNanoseconds }
            if measuresResponse { began = DispatchTime.now().uptimeNanoseconds }
            return refusal == nil
        }

        /// The server processes no later stream of the connection (RFC 9113 §6.8).
        func serverLeaves(after last: UInt32) { loop.serverLeaves(socket, after: last) }

        func isLeftBehind(on connection: CurlSockets.Use, after last: UInt32) {
            if socket == connection, stream > last, !head.hasStatus, abort == nil { abort = .refused }
        }

        /// What it means that libcurl is about to send the request again.
        private var repetition: Abort {
            if isRefused { return .refused }
            // If the server wants HTTP/1.1 instead, within a response, too, libcurl has said so before.
            guard errorBuffer[0] == 0 else { return .repeated }
            if head.isComplete { return head.statusCode == 417 ? .answered : .repeated }
            // A libcurl that forgets what it has said asks for HTTP/1.1 alone.
            return repeatsRefused && (!isConnecting || speaksHTTP2) ? .refused : .repeated
        }

        /// Whether TLS has something of a kept connection, or can't tell.
        private func hasSurplus(isKnown: Bool) -> Bool {
            guard let easy, exchange?.isSecure == true else { return false }
            guard isKnown, !loop.sockets.isSingle(socket.descriptor) else { return atom_curl_tls_surplus(easy) != 0 }
            // libcurl 7.88 goes on with a connection of HTTP/2 that TLS has ended.
            return loop.sockets.isAlone(socket)
                && (atom_curl_tls_surplus(easy) > 0 || atom_curl_tls_has_ended(easy) > 0)
        }

        /// Whether the connection is one of HTTP/2, or may be.
        private var speaksHTTP2: Bool {
            guard let easy, exchange?.isSecure == true else { return false }
            return atom_curl_tls_speaks_http2(easy) != 0
        }

        /// Whether the next exchange over the connection couldn't find that out.
        private var hidesSurplus: Bool {
            guard let easy, let exchange else { return false }
            // Of nested sessions only the inner one can be asked, and newer versions never tell of a proxy's.
            if hasSecureProxy, !exchange.isSecure || figure(ATOM_CURLINFO_HTTP_CONNECTCODE) > 0 { return true }
            return exchange.isSecure && atom_curl_tls_surplus(easy) < 0
        }

        private var isRefused: Bool { if case .refused? = abort { true } else { false } }

        var isEarly: Bool { if case .early? = abort { exchange != nil } else { false } }

        var isSpoiled: Bool { if case .spoiled? = abort { exchange != nil } else { false } }

        /// Gets ready to look at a certificate that is not accepted, so that the error can say whose it is.
        ///
        /// It takes another handshake, over a new connection, and nothing else is sent.
        func looksAtCertificate(after code: CInt) -> Bool {
            guard code == 60, self.refusal == nil, let easy, exchange?.isSecure == true else { return false }
            let refusal = error(code: Int(code))
            guard !refusal.isOfClientCertificate else { return false }
            // Only with these nothing is sent.
            guard setMore(ATOM_CURLOPT_CONNECT_ONLY, 1),
                [ATOM_CURLOPT_SSLCERT, ATOM_CURLOPT_SSLKEY, ATOM_CURLOPT_PINNEDPUBLICKEY].allSatisfy({
                    settings.remove($0, on: easy)
                }), beginAnew()
            else { return false }
            self.refusal = refusal
            for (option, value) in [
                (ATOM_CURLOPT_CERTINFO, 1), (ATOM_CURLOPT_SSL_VERIFYPEER, 0),
                (ATOM_CURLOPT_SSL_VERIFYHOST, 0), (ATOM_CURLOPT_SSL_SESSIONID_CACHE, 0),
                (ATOM_CURLOPT_CONNECTTIMEOUT_MS, 2_000),
            ] { atom_curl_set_long(easy, CInt(option), value) }
            return true
        }

        /// Gets ready for a new connection: nothing of the request has been sent.
        func beginAnew() -> Bool {
            beginAgain()
            return setMore(ATOM_CURLOPT_FRESH_CONNECT, 1)
        }

        /// The same for any connection.
        func beginAgain() {
            abort = nil
            passage = Passage()
            errorBuffer[0] = 0
            use(-1)
            chooseProtocol()
            _ = forbidReuse(exchange?.request.needsFreshConnection == true)
        }

        func use(_ descriptor: CInt) {
            socket = loop.sockets.use(descriptor, insteadOf: socket)
        }

        /// libcurl has sent so many bytes of the body, and received so many of a response
        /// of this length, 0 if it isn't known; with a whole response it doesn't go on.
        func progressed(sent total: Int64, received: Int64, of length: Int64) -> Bool {
            // The last report comes before libcurl lets go of the connection.
            if isCut != nil, let easy { isCut = atom_curl_tls_has_ended(easy) == 0 }
            guard settings.library.tellsOfSending || mayGoOn() else { return false }
            // Whoever ends it here waits for the resolver, and nothing will be sent.
            guard let exchange else { return true }
            // libcurl also counts what delimits chunks, and below what it keeps.
            reportSent(min(total, bodyOffset), of: exchange)
            guard head.isComplete, !isHeldBack, refusedExpectation == nil, let request = exchange.request.body else {
                return true
            }
            guard isBare || length > 0 && received >= length,
                total < request.length ?? (isBodyRead ? bodyOffset : .max)
            else { return true }
            abort = .answered
            return false
        }

        private func reportSent(_ total: Int64, of exchange: CurlExchange) {
            guard total > reported else { return }
            handOverHead()
            loop.report(.sent(Int(clamping: total - reported)), of: exchange)
            reported = total
        }

        /// Before 7.80 libcurl doesn't say that it is about to send, but reports progress when it has taken a kept
        /// connection, before it sends, and over a new one, to which nothing can have come, after it has sent.
        private func mayGoOn() -> Bool {
            let now = Passage(port: figure(ATOM_CURLINFO_LOCAL_PORT), moment: moment(ATOM_CURLINFO_CONNECT_TIME))
            // 7.75 to 7.78 don't know the port of a kept connection.
            guard now.port > 0 || now.moment > 0, now != passage,
                !isConnecting || moment(ATOM_CURLINFO_PRETRANSFER_TIME) > 0
            else { return true }
            passage = now
            return maySend(from: UInt16(truncatingIfNeeded: max(now.port, 0)))
        }

        func mayConnect() -> Bool {
            guard exchange != nil else { return false }
            if isPrepared, refusedExpectation == nil {
                let reason = repetition
                // The new connection shows it.
                guard case .refused = reason, !isRefused, settings.library.forgetsWhyItRepeats else {
                    abort = reason
                    return false
                }
            }
            isConnecting = true
            return true
        }

        /// The descriptor may be a negative error number.
        func opened(_ descriptor: CInt, to address: String, port: Int) {
            peer = (address, port)
            socketError = max(0, -descriptor)
            guard descriptor >= 0 else { return }
            loop.sockets.opened(descriptor)
            use(descriptor)
        }
    }

    // MARK: - During and after

    extension CurlTransfer {
        /// Hands over what this turn of the loop has brought.
        func handOver() {
            isListed = false
            guard let exchange else { return }
            handOverHead()
            // Lines of a head or of trailers are a sign of life.
            if part.isEmpty, hasLines { loop.report(.sent(0), of: exchange) }
            hasLines = false
            handOverPart()
        }

        private func handOverHead() {
            guard let exchange, let response = response.take() else { return }
            loop.report(.response(response), of: exchange)
        }

        /// Hands over a whole response that this turn of the loop has brought.
        func handOverWhole(_ metrics: TransportMetrics?) -> ResponseTaking {
            guard let exchange, let response else { return .refused }
            let taking = exchange.take(WholeResponse(head: response, body: part, metrics: metrics))
            if case .refused = taking { return taking }
            (self.response, part) = (nil, Data())
            return taking
        }

        func handOverPart() {
            handOverHead()
            guard let exchange, !part.isEmpty else { return }
            exchange.handedOver += Int64(part.count)
            loop.report(.data(part), of: exchange)
            part = Data()
        }

        /// Lets libcurl go on after a pause, with what it has kept; refused, it leaves that
        /// out, and this returns the code with which the transfer has to be ended.
        func goOn() -> CInt? {
            guard let easy else { return nil }
            loop.sockets.letGo(socket)
            let code = atom_curl_easy_continue(easy)
            return abort == nil ? nil : code
        }

        /// Whether libcurl may be looking for the server's address.
        ///
        /// To take such a transfer out, libcurl and all other exchanges would wait for the
        /// system's resolver. Left in, it sends nothing.
        var mayBeResolving: Bool { !isConnecting && !isPrepared }

        /// Looks whether the connection of a cancelled exchange has been silent for as long as its timeout lasts.
        func endsInSilence() {
            guard let exchange, exchange.isSecure, isPrepared else { return }
            // A part of it: its clock began earlier.
            let wait = min(exchange.request.idleTimeout, .seconds(2)) / 2
            loop.sockets.hasWaited(wait, since: preparedAt, for: socket)
        }

        /// Lets go of the exchange, which has ended for its caller.
        func release() {
            exchange?.transfer = nil
            exchange = nil
            body = nil
            response = nil
            reader.take()?.close()
            part = Data()
        }

        /// Gets ready for another exchange; libcurl has no work on it any more.
        func reset() {
            use(-1)
            if let easy, isReusable != true || !settings.library.usesHandlesAgain {
                atom_curl_easy_free(easy)
                self.easy = nil
            }
            // Of a plain one libcurl still has it.
            if plainScheme == nil || easy == nil { server = nil }
            (began, untilResponse) = (nil, nil)
            head.reset()
            abort = nil
            passage = Passage()
            peer = ("", 0)
            (bodyOffset, reported, socketError, stream) = (0, 0, 0, 0)
            (isConnecting, isPrepared, isBodyRead) = (false, false, false)
            (isHeldBack, isBare, hasLines, isReusable, isCut) = (false, false, false, nil, nil)
            refusal = nil
            refusedExpectation = nil
            reader.take()?.close()
        }

        var delivery: AtomError.Delivery {
            if head.hasStatus { return .answered }
            if refusal != nil || isRefused { return .notSent }
            if !isPrepared, settings.library.tellsOfSending || !isConnecting || !isReady { return .notSent }
            let isSecure = exchange?.isSecure != false || hasSecureProxy
            let counts = isSecure ? settings.library.countsOverTLS : settings.library.countsWhatItSends
            let isUnsent = Self.isUnsent(
                counted: counts ? figure(ATOM_CURLINFO_REQUEST_SIZE) : nil, isSecure: isSecure,
                size: Int64(headSize) + bodyOffset)
            return isUnsent ? .notSent : .maybeSent
        }

        /// Whether a request may have been sent over a new connection: what is counted
        /// before TLS is complete was for a proxy.
        private var isReady: Bool {
            exchange?.isSecure != true || moment(ATOM_CURLINFO_APPCONNECT_TIME) > 0
        }

        func figure(_ info: Int) -> Int { easy.map { atom_curl_get_long($0, CInt(info)) } ?? -1 }

        func moment(_ info: Int) -> Int64 { easy.map { atom_curl_get_offset($0, CInt(info)) } ?? -1 }

        /// The last event of an exchange that libcurl has ended.
        func end(code: Int) -> TransportEvent {
            // Such a body may be incomplete (RFC 9112 §9.8); libcurl's code for it is 18.
            let code = code == 0 && isCut == true ? 18 : code
            isReusable = isReusable ?? (code == 0)
            if case .body(let error)? = abort {
                return .failed(TransportFailure(error, delivery: delivery))
            }
            takeRefusedExpectation()
            // 8.23 wants to send a body once more after a 417, and can't.
            let isDone = if case .answered? = abort { true } else { code == 0 || code == 65 && head.statusCode == 417 }
            if isDone, head.isComplete { return .finished }
            var error = refusal ?? error(code: code)
            if refusal != nil { error.certificate = certificate }
            var problem = error.problem(
                abort: abort, head: head,
                proxyStatus: figure(ATOM_CURLINFO_HTTP_CONNECTCODE))
            let proxy = proxyInUse
            let isSecure = exchange?.isSecure ?? true
            switch problem {
            // Of a SOCKS proxy libcurl says it as of a server.
            case .unknownHost where isOfProxy(error): problem = .unknownProxy
            case .refused where proxy != nil: problem = .proxy("it refused the connection or can't be reached")
            case .closedWithoutResponse where isConnecting: problem = .closedAtOnce(isSecure: isSecure)
            // A server for https may close before it has read the request, and that is a reset.
            case .lost where isConnecting && !isSecure && proxy == nil && !head.isWithin && !head.isComplete:
                problem = .lostAtOnce
            case .notHTTP: problem = .notHTTP(isSecure: isSecure)
            case .insecure(.clientCertificateRejected, _) where settings.clientCertificate == nil:
                problem = .insecure(.clientCertificateRequired, error.message)
            default: break
            }
            var failure = problem.failure(
                delivery: delivery, underlying: error, at: place(of: problem, error, over: proxy))
            // Whether reading or writing fails first is chance.
            let isLost = [.networkConnectionLost, .secureConnectionFailed].contains(problem.code)
            failure.isUnprocessed = isRefused
            failure.isOfKeptConnection =
                isPrepared && !isConnecting && !head.isWithin && !head.isComplete
                && (problem == .closedWithoutResponse || isLost && [16, 55, 56].contains(code))
            return .failed(failure)
        }

        private func error(code: Int) -> CurlError {
            // What is said of a proxy may name more than its host.
            let isOfProxy = code == 5 || code == 97
            var error = CurlError(code: code, message: isOfProxy ? "" : String(cString: errorBuffer))
            error.systemError = socketError != 0 ? Int(socketError) : figure(ATOM_CURLINFO_OS_ERRNO)
            // For a name, a handshake or its files libcurl doesn't pass it on.
            if [6, 35, 58, 77].contains(code), error.systemError <= 0, !loop.hasDescriptors {
                error.systemError = Int(EMFILE)
            }
            if error.message.isEmpty, let meaning = atom_curl_meaning(CInt(code)) {
                error.message = String(cString: meaning)
            }
            return error
        }

        /// The last event of an exchange that its caller has cancelled.
        var cancelled: TransportEvent {
            .failed(WireProblem.cancelled.failure(delivery: delivery, underlying: CancellationError()))
        }
    }
#endif
