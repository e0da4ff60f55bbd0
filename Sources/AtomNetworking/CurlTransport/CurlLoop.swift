#if os(Linux)
    internal import CAtomCurl
    import Foundation
    import FoundationNetworking

    /// The thread of a transport, and the connections that it keeps.
    ///
    /// It sleeps until a connection or a command needs it. It ends when it has
    /// been stopped and its last exchange has ended.
    final class CurlLoop: @unchecked Sendable {
        fileprivate enum Command {
            case start(CurlExchange)
            /// It can't be started.
            case refuse(CurlExchange, TransportFailure)
            case cancel(CurlExchange)
            /// The receiver has caught up with a paused body.
            case goOn(CurlExchange)
        }

        fileprivate struct Inbox {
            var commands: [Command] = []
            /// Whether the thread sleeps or is about to, and nobody has rung the
            /// bell since.
            var isAsleep = false
            var isStopped = false
            /// Whether the thread has ended, or was never started.
            var isOver = false
        }

        private let inbox = Guarded(Inbox())
        private let bell: CInt
        private let settings: CurlSettings
        private let delivery = EventDelivery()
        /// How often the process had been forked when the thread was started.
        private let forks = atom_curl_forks()

        // Only the thread uses these.
        @exclusivity(unchecked) private var multi: atom_curl_multi?
        @exclusivity(unchecked) private var share: atom_curl_share?
        @exclusivity(unchecked) private var events: [EventDelivery.Item] = []
        /// Transfers with a part of a body that hasn't been handed over.
        @exclusivity(unchecked) private var withPart: [CurlTransfer] = []
        /// Transfers that have an exchange, or had one that was cancelled.
        @exclusivity(unchecked) private var running: [CurlTransfer] = []
        /// How often libcurl has worked.
        @exclusivity(unchecked) private var turn = 0
        /// How many of them have an exchange.
        @exclusivity(unchecked) private var exchangeCount = 0
        /// Whether libcurl may miss something while it sleeps.
        @exclusivity(unchecked) private var wakesOften = false
        @exclusivity(unchecked) private var lastURL = ""
        @exclusivity(unchecked) private var lastParsedURL: ParsedURL?
        /// Transfers for the next exchanges.
        @exclusivity(unchecked) private var idle: [CurlTransfer] = []

        /// So many transfers are kept while no exchange uses them.
        private static let maximumIdle = 32

        /// Starts the thread; `nil` if the process has no threads, descriptors or
        /// memory left.
        init?(_ settings: CurlSettings) {
            self.settings = settings
            bell = atom_curl_bell_make()
            guard bell >= 0 else { return nil }
            multi = atom_curl_multi_make(settings.keptConnections)
            share = atom_curl_share_make()
            guard multi != nil else {
                tearDown()
                return nil
            }
            // The thread releases it at its end.
            let context = Unmanaged.passRetained(self)
            let failure = atom_curl_start_thread(
                { context in
                    guard let context else { return }
                    Unmanaged<CurlLoop>.fromOpaque(context).takeRetainedValue().run()
                }, context.toOpaque())
            guard failure == 0 else {
                tearDown()
                context.release()
                return nil
            }
        }

        deinit {
            if bell >= 0 { atom_curl_bell_free(bell) }
        }

        /// Whether this process has no such thread, because it was forked from
        /// the one that has it.
        var isOfAnotherProcess: Bool { atom_curl_forks() != forks }
    }

    // MARK: - On any thread

    extension CurlLoop {
        /// Starts an exchange.
        func start(_ exchange: CurlExchange) {
            wake { inbox in
                guard exchange.shared.isCancelled else { return inbox.add(.start(exchange)) }
                let error = CancellationError()
                return inbox.add(
                    .refuse(exchange, WireProblem.cancelled.failure(delivery: .notSent, underlying: error)))
            }
        }

        /// Ends an exchange that hasn't been started.
        func refuse(_ exchange: CurlExchange, _ failure: TransportFailure) {
            wake { $0.add(.refuse(exchange, failure)) }
        }

        /// Stops an exchange, unless it has ended.
        func cancel(_ exchange: CurlExchange) {
            wake { inbox in
                guard !exchange.shared.isCancelled else { return false }
                exchange.shared.isCancelled = true
                return inbox.add(.cancel(exchange))
            }
        }

        /// Leaves the body of an exchange unread from now on.
        func hold(_ exchange: CurlExchange) {
            inbox.withLock { _ in exchange.shared.isHeld = true }
        }

        /// Reads on.
        func letGo(_ exchange: CurlExchange) {
            wake { inbox in
                exchange.shared.isHeld = false
                guard exchange.shared.isPaused else { return false }
                exchange.shared.isPaused = false
                return inbox.add(.goOn(exchange))
            }
        }

        /// Lets a paused exchange go on.
        func goOn(_ exchange: CurlExchange) {
            wake { $0.add(.goOn(exchange)) }
        }

        /// A part of a body has been received.
        func delivered(_ count: Int, of exchange: CurlExchange) {
            wake { inbox in
                exchange.shared.delivered += Int64(count)
                guard exchange.shared.isPaused, !exchange.shared.isHeld else { return false }
                // The thread decides whether it is enough.
                exchange.shared.isPaused = false
                return inbox.add(.goOn(exchange))
            }
        }

        /// Lets the thread end as soon as the last exchange has ended.
        func stop() {
            wake { inbox in
                inbox.isStopped = true
                return inbox.wakes()
            }
        }

        /// Changes the inbox, and wakes the thread if the change says so.
        private func wake(_ change: (inout Inbox) -> Bool) {
            if inbox.withLock({ change(&$0) }) { atom_curl_bell_ring(bell) }
        }
    }

    extension CurlLoop.Inbox {
        /// Returns whether the thread has to be woken for the command.
        fileprivate mutating func add(_ command: CurlLoop.Command) -> Bool {
            guard !isOver else { return false }
            commands.append(command)
            return wakes()
        }

        fileprivate mutating func wakes() -> Bool {
            defer { isAsleep = false }
            return isAsleep
        }
    }

    // MARK: - The thread

    extension CurlLoop {
        private func run() {
            guard let multi else { return }
            var commands: [Command] = []
            while takeCommands(&commands) {
                for command in commands { follow(command) }
                // Not the capacity of a burst.
                if commands.capacity > 1_024 { commands = [] } else { commands.removeAll(keepingCapacity: true) }
                turn &+= 1
                atom_curl_multi_perform(multi)
                collectEnded(multi)
                for transfer in withPart { transfer.handOverPart() }
                withPart.removeAll(keepingCapacity: true)
                delivery.add(&events)
                if mustSleep() { atom_curl_multi_wait(multi, bell, longestSleep) }
            }
            tearDown()
        }

        /// In milliseconds; without a limit unless libcurl may miss something.
        ///
        /// libcurl 7.88 sometimes has data of another request on a connection
        /// with HTTP/2 that it has read, and waits for the socket all the same.
        /// It also forgets to send a body if the final head of the response comes
        /// just when it has waited long enough for a 100.
        private var longestSleep: CInt { wakesOften && exchangeCount > 0 ? 50 : .max }

        /// Takes the commands that have come in.
        ///
        /// - Returns: Whether the thread goes on.
        private func takeCommands(_ commands: inout [Command]) -> Bool {
            var taken: [Command] = commands
            let goesOn = inbox.withLock { inbox in
                inbox.isAsleep = false
                swap(&inbox.commands, &taken)
                inbox.isOver = taken.isEmpty && inbox.isStopped && exchangeCount == 0
                return !inbox.isOver
            }
            commands = taken
            return goesOn
        }

        private func mustSleep() -> Bool {
            inbox.withLock { inbox in
                guard inbox.commands.isEmpty, !(inbox.isStopped && exchangeCount == 0) else { return false }
                inbox.isAsleep = true
                return true
            }
        }

        private func follow(_ command: Command) {
            switch command {
            case .start(let exchange): begin(exchange)
            case .refuse(let exchange, let failure): report(.failed(failure), of: exchange)
            case .cancel(let exchange): end(exchange)
            case .goOn(let exchange):
                if let easy = exchange.transfer?.easy { atom_curl_easy_continue(easy) }
            }
        }

        private func begin(_ exchange: CurlExchange) {
            guard let multi else { return }
            let transfer = idle.popLast() ?? CurlTransfer(self, settings: settings)
            let preparation = transfer.prepare(
                for: exchange, parsedURL: parsed(exchange.request.target.absoluteString), share: share)
            guard preparation == .done, let easy = transfer.easy, atom_curl_multi_add(multi, easy) == 0 else {
                transfer.release()
                transfer.reset()
                report(.failed(preparation == .rejected ? Self.tooLong : Self.noMemory), of: exchange)
                return
            }
            transfer.position = running.count
            transfer.firstTurn = turn + 1
            running.append(transfer)
            exchangeCount += 1
        }

        /// A URL that is requested again is parsed once.
        private func parsed(_ url: String) -> ParsedURL? {
            if url != lastURL {
                (lastURL, lastParsedURL) = (url, nil)
            } else if lastParsedURL == nil {
                lastParsedURL = ParsedURL(url)
            }
            return lastParsedURL
        }

        private static var tooLong: TransportFailure {
            let error = CurlError(code: 3, message: "libcurl accepts no URL or method of this length")
            return WireProblem.badURL.failure(delivery: .notSent, underlying: error)
        }

        private static var noMemory: TransportFailure {
            TransportFailure(
                URLError(.unknown, "libcurl has no memory for the exchange", delivery: .notSent), delivery: .notSent)
        }

        private func end(_ exchange: CurlExchange) {
            guard let multi, let transfer = exchange.transfer, let easy = transfer.easy else { return }
            let event = transfer.cancelled
            let isResolving = transfer.firstTurn <= turn && transfer.mayBeResolving
            if !isResolving { atom_curl_multi_remove(multi, easy) }
            transfer.handOverPart()
            transfer.release()
            exchangeCount -= 1
            report(event, of: exchange)
            // Otherwise libcurl ends it when the address is known, since it may
            // not connect.
            if !isResolving { recycle(transfer) }
        }

        private func collectEnded(_ multi: atom_curl_multi) {
            var code: CInt = 0
            while let context = atom_curl_multi_next_ended(multi, &code) {
                let transfer = CurlTransfer.of(context)
                let event = transfer.end(code: Int(code))
                let metrics = transfer.metrics
                if let easy = transfer.easy { atom_curl_multi_remove(multi, easy) }
                if let exchange = transfer.exchange {
                    transfer.handOverPart()
                    transfer.release()
                    exchangeCount -= 1
                    if let metrics { report(.measured(metrics), of: exchange) }
                    report(event, of: exchange)
                }
                recycle(transfer)
            }
        }

        private func recycle(_ transfer: CurlTransfer) {
            transfer.reset()
            // The last one takes its place.
            let last = running.removeLast()
            if last !== transfer {
                running[transfer.position] = last
                last.position = transfer.position
            }
            if idle.count < Self.maximumIdle { idle.append(transfer) }
        }

        private func tearDown() {
            if let multi {
                for case let easy? in running.map(\.easy) { atom_curl_multi_remove(multi, easy) }
            }
            running = []
            idle = []
            withPart = []
            if let multi { atom_curl_multi_free(multi) }
            if let share { atom_curl_share_free(share) }
            (multi, share) = (nil, nil)
        }
    }

    // MARK: - Of transfers

    extension CurlLoop {
        func report(_ event: TransportEvent, of exchange: CurlExchange) {
            events.append(EventDelivery.Item(exchange: exchange, event: event))
        }

        func report(_ item: EventDelivery.Item) {
            events.append(item)
        }

        /// Decides whether the receiver of a body has to catch up first.
        func pauses(_ exchange: CurlExchange, handedOver: Int64, pending: Int) -> Bool {
            inbox.withLock { _ in
                if exchange.shared.isHeld {
                    exchange.shared.isPaused = true
                    return true
                }
                let waiting = handedOver - exchange.shared.delivered
                // What is only pending is handed over soon. Its delivery lets the
                // transfer go on.
                guard waiting > 0, waiting + Int64(pending) > CurlExchange.maximumBacklog else { return false }
                exchange.shared.isPaused = true
                return true
            }
        }

        /// A connection carries more than one exchange, or a head has come before
        /// the body was sent.
        func mustWakeOften() {
            wakesOften = true
        }

        /// The transfer has a part of a body, which is handed over before the
        /// thread sleeps.
        func hasPart(_ transfer: CurlTransfer) {
            withPart.append(transfer)
        }
    }
#endif
