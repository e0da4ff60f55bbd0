#if os(Linux)
    internal import CAtomCurl
    import Foundation

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
            /// What has arrived is to be handed over.
            case look(Look)
        }

        /// Until two turns of the loop in succession have brought nothing, and all has been delivered, or it took too long.
        fileprivate final class Look: @unchecked Sendable {
            let exchange: CurlExchange
            let done: @Sendable () -> Void
            /// When nobody waits any more, in nanoseconds: a receiver may hold the body back.
            let end = CurlLoop.now(after: Int(clamping: Duration.look.components.attoseconds / 1_000_000_000_000_000))
            // Only the loop's thread uses it.
            var quietTurns = 0

            init(_ exchange: CurlExchange, _ done: @escaping @Sendable () -> Void) {
                (self.exchange, self.done) = (exchange, done)
            }
        }

        fileprivate struct Inbox {
            var commands: [Command] = []
            /// Whether the thread sleeps or is about to, and nobody has woken it.
            var isAsleep = false
            var isStopped = false
            /// Whether the thread has ended, or was never started.
            var isOver = false
            /// How many events the thread had reported when it last wanted to sleep.
            var reported = 0
            /// Whether no exchange ran then.
            var isIdle = true
            /// Whether a server could keep the thread busy with what is no part of a response: over TLS.
            var mayBeHeldUp = false
            var isWatched = false
        }

        private let inbox = Guarded(Inbox())
        private let bell: CInt
        private let settings: CurlSettings
        let delivery = EventDelivery()
        /// How often the process had been forked when the thread was started.
        private let forks = atom_curl_forks()

        /// How libcurl tells of its sockets and timers.
        let watcher: UnsafeMutablePointer<atom_curl_watcher>
        let sockets: CurlSockets

        // Only the thread uses these.
        /// When libcurl has something to do, in nanoseconds; `nil` for never.
        @exclusivity(unchecked) private var due: UInt64?
        /// When a kept connection that has ended is let go of; `nil` if there is none.
        @exclusivity(unchecked) private var cleaning: UInt64?
        /// When libcurl is reminded of what it may have forgotten, and how often it was since something arrived.
        @exclusivity(unchecked) private var reminder: (at: UInt64, count: Int)?
        @exclusivity(unchecked) private var multiplexing: Set<Origin> = []
        /// Whether the newest connection to an origin multiplexes, where that must be known.
        @exclusivity(unchecked) private var protocols: [Origin: Bool] = [:]
        /// Those to which libcurl might send several requests at once over a connection of HTTP/1.1: a few, if any.
        @exclusivity(unchecked) private var single: Set<Origin> = []
        /// The exchanges that may need a connection of their own: also those that have
        /// one and stay, and all whose origin isn't known to multiplex.
        @exclusivity(unchecked) private var singleCount = 0
        @exclusivity(unchecked) private var limits: (kept: Int, perHost: Int) = (0, 0)
        /// How many of the transfers that wait for a connection libcurl has to look at, without a reason of its own.
        @exclusivity(unchecked) private var searches = 0
        @exclusivity(unchecked) private var multi: atom_curl_multi?
        @exclusivity(unchecked) private var share: atom_curl_share?
        @exclusivity(unchecked) private var events: [EventDelivery.Item] = []
        /// The callers whose responses were taken in this turn.
        @exclusivity(unchecked) private var awaiting: [UnsafeContinuation<Void, Never>] = []
        @exclusivity(unchecked) private var looks: [Look] = []
        /// Transfers with something that hasn't been handed over.
        @exclusivity(unchecked) private var busy: [CurlTransfer] = []
        /// Transfers that have an exchange, or had one that was cancelled.
        @exclusivity(unchecked) private var running: [CurlTransfer] = []
        /// Those of them that wait until something has come over a connection.
        @exclusivity(unchecked) private var early: [(connection: CurlSockets.Use, transfers: [CurlTransfer])] = []
        @exclusivity(unchecked) private var turn = 0
        /// How many events have been reported, and responses taken.
        @exclusivity(unchecked) private var reported = 0
        /// How many of them have an exchange.
        @exclusivity(unchecked) private var exchangeCount = 0
        /// The servers that were asked lately.
        @exclusivity(unchecked) private var servers: [Origin: ServerURL] = [:]
        /// Transfers for the next exchanges.
        @exclusivity(unchecked) private var idle: [CurlTransfer] = []

        private static let maximumIdle = 32

        /// Starts the thread; `nil` if the process has no threads or descriptors left.
        init?(_ settings: CurlSettings) {
            self.settings = settings
            bell = atom_curl_bell_make()
            guard bell >= 0 else { return nil }
            guard let sockets = CurlSockets(bell: bell) else {
                atom_curl_bell_free(bell)
                return nil
            }
            self.sockets = sockets
            watcher = .allocate(capacity: 1)
            watcher.initialize(to: Self.watcher(of: Unmanaged.passUnretained(self).toOpaque()))
            multi = atom_curl_multi_make(watcher)
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
            atom_curl_bell_free(bell)
            watcher.deallocate()
        }

        private static func watcher(of loop: UnsafeMutableRawPointer) -> atom_curl_watcher {
            atom_curl_watcher(
                context: loop,
                watch: { loop, descriptor, what, transfer in
                    guard let loop else { return }
                    CurlLoop.of(loop).sockets.want(what, of: descriptor)
                    if let transfer, what & ATOM_CURL_POLL_REMOVE == 0 { CurlTransfer.of(transfer).use(descriptor) }
                },
                timer: { loop, milliseconds in
                    guard let loop else { return }
                    CurlLoop.of(loop).due =
                        milliseconds < 0 ? nil : milliseconds == 0 ? 0 : CurlLoop.now(after: milliseconds)
                },
                closing: { loop, descriptor in
                    guard let loop else { return }
                    CurlLoop.of(loop).sockets.closing(descriptor)
                },
                heard: { loop, session in
                    loop.map { CurlLoop.of($0).sockets.heard(in: session) } ?? false
                })
        }

        private static func of(_ loop: UnsafeMutableRawPointer) -> CurlLoop {
            // It outlives its set, whose work calls this.
            Unmanaged<CurlLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef { $0 }
        }

        fileprivate static func now(after milliseconds: Int) -> UInt64 {
            DispatchTime.now().uptimeNanoseconds + UInt64(milliseconds) * 1_000_000
        }

        /// Whether this process was forked from the one that has the thread.
        var isOfAnotherProcess: Bool { atom_curl_forks() != forks }
    }

    // MARK: - On any thread

    extension CurlLoop {
        func start(_ exchange: CurlExchange) {
            wake { inbox in
                exchange.shared.isChecked = true
                if exchange.isSecure { inbox.mayBeHeldUp = true }
                return inbox.add(exchange.shared.isCancelled ? Self.cancelled(exchange) : .start(exchange))
            }
        }

        private static func cancelled(_ exchange: CurlExchange) -> Command {
            .refuse(exchange, WireProblem.cancelled.failure(delivery: .notSent, underlying: CancellationError()))
        }

        /// Ends an exchange that hasn't been started.
        func refuse(_ exchange: CurlExchange, _ failure: TransportFailure) {
            wake { $0.add(.refuse(exchange, failure)) }
        }

        /// Stops an exchange, unless it has ended.
        func cancel(_ exchange: CurlExchange) {
            let wasParked = inbox.withLock { _ in
                defer { exchange.shared.isParked = false }
                return exchange.shared.isParked
            }
            wake { inbox in
                guard !exchange.shared.isCancelled else { return false }
                exchange.shared.isCancelled = true
                // Nobody waits for a disk; what comes after the last event changes nothing.
                return inbox.add(exchange.shared.isChecked ? .cancel(exchange) : Self.cancelled(exchange))
            }
            if wasParked { deliverRest(of: exchange) }
        }

        /// Leaves the body unread, and returns whether that holds up nobody else.
        func hold(_ exchange: CurlExchange) -> Bool {
            inbox.withLock { _ in
                exchange.shared.isHeld = !exchange.shared.carriesOthers
                return exchange.shared.isHeld
            }
        }

        func letGo(_ exchange: CurlExchange) {
            let wasParked = inbox.withLock { _ in
                defer { (exchange.shared.isParked, exchange.shared.isHeld) = (false, false) }
                return exchange.shared.isParked
            }
            if wasParked { deliverRest(of: exchange) }
            wake { inbox in
                guard exchange.shared.isPaused else { return false }
                exchange.shared.isPaused = false
                return inbox.add(.goOn(exchange))
            }
        }

        private func deliverRest(of exchange: CurlExchange) {
            var items = [EventDelivery.Item(exchange: exchange, event: nil)]
            guard delivery.add(&items) else { return }
            // Another event may be stuck, and libcurl may have no more work.
            let isOver = inbox.withLock { $0.isOver }
            if isOver { _ = delivery.add(&items, isLate: true) } else { wake { $0.wakes() } }
        }

        func goOn(_ exchange: CurlExchange) {
            wake { $0.add(.goOn(exchange)) }
        }

        func catchUp(_ exchange: CurlExchange, _ done: @escaping @Sendable () -> Void) {
            // If it isn't taken, it is let go of outside the lock.
            let look = Look(exchange, done)
            wake { $0.add(.look(look)) }
        }

        enum Demand {
            case more
            /// The delivery is told when the caller wants more.
            case later
            case nothing
        }

        /// What the caller wants of the body.
        func demand(of exchange: CurlExchange) -> Demand {
            inbox.withLock { _ in
                if exchange.shared.isCancelled { return .nothing }
                exchange.shared.isParked = exchange.shared.isHeld
                return exchange.shared.isHeld ? .later : .more
            }
        }

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
            let (rings, reported) = inbox.withLock { inbox in
                (change(&inbox), inbox.mayBeHeldUp && !inbox.isWatched ? inbox.watched() : nil)
            }
            if rings { atom_curl_bell_ring(bell) }
            guard let reported else { return }
            sockets.watch.begin(after: reported) { [inbox] in inbox.withLock { $0.watched() } }
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

        /// How many events had been reported; `nil` if nobody waits for the thread.
        fileprivate mutating func watched() -> Int? {
            isWatched = !isIdle || !commands.isEmpty
            return isWatched ? reported : nil
        }
    }

    // MARK: - The thread

    extension CurlLoop {
        private func run() {
            guard let multi else { return }
            var commands: [Command] = []
            while takeCommands(&commands) {
                // What has ended needs no connection.
                collectEnded(multi)
                resumeAwaiting()
                for command in commands { follow(command) }
                // Not the capacity of a burst.
                if commands.capacity > 1_024 { commands = [] } else { commands.removeAll(keepingCapacity: true) }
                if !looks.isEmpty { readArrived(multi) }
                if !early.isEmpty { addEarly(multi) }
                work(multi)
                collectEnded(multi)
                resumeAwaiting()
                limitConnections(multi)
                while searches > 0 {
                    searches -= 1
                    search(multi)
                }
                for transfer in busy { transfer.handOver() }
                busy.removeAll(keepingCapacity: true)
                if !looks.isEmpty { countQuietTurns() }
                let isBehind = delivery.add(&events)
                guard mustSleep() else { continue }
                let wasRestless = sockets.wait(sleep(isBehind: isBehind)) { descriptor, ready in
                    atom_curl_multi_act(multi, descriptor, ready)
                }
                if wasRestless { reminder = (Self.now(after: 50), 0) }
            }
            deliverRest()
            // It may wait for a name lookup, or say something more.
            tearDown()
            deliverRest()
        }

        /// One event that is stuck holds up no last event of another exchange.
        private func deliverRest() {
            while delivery.add(&events) { _ = sockets.wait(5) { _, _ in } }
        }

        private func work(_ multi: atom_curl_multi) {
            let now = due == nil && cleaning == nil && reminder == nil ? 0 : DispatchTime.now().uptimeNanoseconds
            if let at = reminder, at.at <= now {
                for descriptor in sockets.restless {
                    atom_curl_multi_act(multi, descriptor, ATOM_CURL_POLL_IN | ATOM_CURL_POLL_OUT)
                }
                reminder = at.count < 5 ? (Self.now(after: 50 << (at.count + 1)), at.count + 1) : nil
            }
            if sockets.hasEnded, cleaning == nil { cleaning = Self.now(after: 1_100) }
            if let at = cleaning, at <= now {
                cleaning = nil
                if sockets.hasEnded || sockets.deadCount > 0 {
                    sockets.hasEnded = false
                    search(multi)
                    // libcurl may have looked at one too shortly before.
                    if sockets.deadCount > 0 { cleaning = Self.now(after: 1_100) }
                }
            }
            if let at = due, at <= now {
                due = nil
                turn &+= 1
                atom_curl_multi_act(multi, ATOM_CURL_TIMER, 0)
            }
        }

        /// Reads from the connections of those whose deadline has passed.
        private func readArrived(_ multi: atom_curl_multi) {
            let transfers = looks.compactMap(\.exchange.transfer).filter { !$0.isHeldBack }
            // Many exchanges may share a connection; libcurl takes -1 for its timer.
            for descriptor in Set(transfers.map(\.socket.descriptor)) where descriptor >= 0 {
                let before = (events.count, busy.count)
                atom_curl_multi_act(multi, descriptor, ATOM_CURL_POLL_IN)
                if before != (events.count, busy.count) { sockets.heard(descriptor) }
            }
        }

        /// Ends each look for which nothing more has arrived.
        private func countQuietTurns() {
            let heard = Set(events.map { ObjectIdentifier($0.exchange) })
            endLooks { look in
                look.quietTurns = heard.contains(ObjectIdentifier(look.exchange)) ? 0 : look.quietTurns + 1
                if look.end <= DispatchTime.now().uptimeNanoseconds { return true }
                return look.quietTurns > 1 && look.exchange.transfer?.isHeldBack != true
                    && !delivery.holds(look.exchange)
            }
        }

        private func endLooks(where isOver: (Look) -> Bool) {
            var over: [Unmanaged<Look>] = []
            looks.removeAll { look in
                guard isOver(look) else { return false }
                over.append(.passRetained(look))
                return true
            }
            for look in over {
                // Code of the app may run there, also when it is let go of.
                DispatchQueue(label: "AtomNetworking.CurlTransport").async { look.takeRetainedValue().done() }
            }
        }

        /// How long the thread sleeps, in milliseconds; -1 for no limit.
        private func sleep(isBehind: Bool) -> CInt {
            if looks.contains(where: { $0.quietTurns < 2 }) { return 0 }
            if early.contains(where: { !sockets.isUnheard($0.connection) }) { return 0 }
            var earliest = isBehind || !looks.isEmpty ? Self.now(after: 5) : UInt64.max
            if let due { earliest = min(earliest, due) }
            if let cleaning { earliest = min(earliest, cleaning) }
            if let reminder { earliest = min(earliest, reminder.at) }
            if earliest == .max { return -1 }
            let now = DispatchTime.now().uptimeNanoseconds
            return earliest <= now ? 0 : CInt(clamping: (earliest - now + 999_999) / 1_000_000)
        }

        /// Lets libcurl close the kept connections that have ended, and look at the
        /// transfers that wait for one: it does so when a transfer searches for one, once
        /// a second at most, and when a transfer ends; this one may open none.
        private func search(_ multi: atom_curl_multi) {
            let transfer = idle.popLast() ?? CurlTransfer(self, settings: settings)
            guard let easy = transfer.prepareSearch(), atom_curl_multi_add(multi, easy) == 0 else {
                return transfer.reset()
            }
            transfer.position = running.count
            running.append(transfer)
        }

        /// libcurl may keep so many connections, those in use included, and open so many to one host: those that
        /// multiplex share a few, but those that have been answered and go on may have all the streams of one.
        private func limitConnections(_ multi: atom_curl_multi) {
            // 32 bits: it counts objects in memory.
            let kept = settings.keptConnections + (exchangeCount + 63) / 64 * 64
            var perHost =
                multiplexing.isEmpty ? 0 : settings.connectionsPerOrigin + (singleCount + 7) / 8 * 8
            // Not with each exchange that comes and goes.
            if perHost > 0, perHost < limits.perHost, limits.perHost <= perHost + 8 { perHost = limits.perHost }
            if limits.perHost > 0, perHost > limits.perHost || perHost == 0 { searches = max(searches, 1) }
            if kept != limits.kept { atom_curl_multi_set(multi, CInt(ATOM_CURLMOPT_MAXCONNECTS), kept) }
            if perHost != limits.perHost {
                atom_curl_multi_set(multi, CInt(ATOM_CURLMOPT_MAX_HOST_CONNECTIONS), perHost)
            }
            limits = (kept, perHost)
        }

        /// Takes the commands that have come in, and returns whether the thread goes on.
        private func takeCommands(_ commands: inout [Command]) -> Bool {
            inbox.withLock { inbox in
                inbox.isAsleep = false
                swap(&inbox.commands, &commands)
                inbox.isOver = commands.isEmpty && inbox.isStopped && exchangeCount == 0
                return !inbox.isOver
            }
        }

        private func mustSleep() -> Bool {
            inbox.withLock { inbox in
                (inbox.reported, inbox.isIdle) = (reported, exchangeCount == 0)
                guard inbox.commands.isEmpty, !(inbox.isStopped && exchangeCount == 0) else { return false }
                inbox.isAsleep = true
                return true
            }
        }

        private func follow(_ command: Command) {
            switch command {
            // Nobody else may have the exchange any more, nor what the app gave with it.
            case .cancel(let exchange) where exchange.transfer == nil,
                .goOn(let exchange) where exchange.transfer == nil:
                events.append(EventDelivery.Item(exchange: exchange, event: nil))
            case .start(let exchange): begin(exchange)
            case .look(let look):
                looks.append(look)
                // The silence isn't the server's.
                if waitsForOthers(look.exchange) { report(.sent(0), of: look.exchange) }
            case .refuse(let exchange, let failure): report(.failed(failure), of: exchange)
            case .cancel(let exchange): end(exchange)
            case .goOn(let exchange):
                if let multi, let transfer = exchange.transfer, let code = transfer.goOn() {
                    end(transfer, transfer.end(code: Int(code)), of: multi)
                }
            }
        }

        private func begin(_ exchange: CurlExchange) {
            guard let multi else { return }
            exchange.isSingle =
                !exchange.isSecure || exchange.request.needsFreshConnection
                || !multiplexing.contains(exchange.request.target.origin)
            count(1, exchange)
            limitConnections(multi)
            let transfer = idle.popLast() ?? CurlTransfer(self, settings: settings)
            let failure = transfer.prepare(for: exchange, share: share)
            guard failure == nil, let easy = transfer.easy, atom_curl_multi_add(multi, easy) == 0 else {
                transfer.release()
                transfer.reset()
                count(-1, exchange)
                report(.failed(failure ?? CurlTransfer.noMemory), of: exchange)
                return
            }
            transfer.position = running.count
            transfer.firstTurn = turn + 1
            running.append(transfer)
        }

        /// Whether an exchange waits inside libcurl until others of its origin leave room on the connections.
        private func waitsForOthers(_ exchange: CurlExchange) -> Bool {
            guard exchange.transfer?.mayBeResolving == true else { return false }
            let origin = exchange.request.target.origin
            return running.contains { $0.isPrepared && $0.exchange?.request.target.origin == origin }
        }

        private func count(_ change: Int, _ exchange: CurlExchange) {
            exchangeCount += change
            if exchange.isSingle { singleCount += change }
        }

        private func end(_ exchange: CurlExchange) {
            guard let multi, let transfer = exchange.transfer, let easy = transfer.easy else { return }
            let event = transfer.cancelled
            transfer.endsInSilence()
            let isResolving = !waitsNoMore(transfer) && transfer.firstTurn <= turn && transfer.mayBeResolving
            if !isResolving { atom_curl_multi_remove(multi, easy) }
            transfer.handOverPart()
            transfer.release()
            count(-1, exchange)
            report(event, of: exchange)
            // Otherwise libcurl ends it when the address is known.
            if !isResolving { recycle(transfer) }
        }

        private func collectEnded(_ multi: atom_curl_multi) {
            var code: CInt = 0
            while let context = atom_curl_multi_next_ended(multi, &code) {
                let transfer = CurlTransfer.of(context)
                if transfer.isEarly, let easy = transfer.easy {
                    atom_curl_multi_remove(multi, easy)
                    let place = early.firstIndex { $0.connection == transfer.socket } ?? early.count
                    if place == early.count { early.append((transfer.socket, [])) }
                    early[place].transfers.append(transfer)
                    transfer.beginAgain()
                    continue
                }
                let isSpoiled = transfer.isSpoiled
                if isSpoiled || transfer.looksAtCertificate(after: code), let easy = transfer.easy {
                    atom_curl_multi_remove(multi, easy)
                    transfer.exchange.map(needsConnection)
                    limitConnections(multi)
                    if !isSpoiled || transfer.beginAnew(), atom_curl_multi_add(multi, easy) == 0 { continue }
                }
                end(transfer, isSpoiled ? .failed(CurlTransfer.noMemory) : transfer.end(code: Int(code)), of: multi)
            }
        }

        /// Adds those again over whose connection something has come, or that has gone.
        private func addEarly(_ multi: atom_curl_multi) {
            let ready = early.filter { !sockets.isUnheard($0.connection) }
            early.removeAll { entry in ready.contains { $0.connection == entry.connection } }
            for transfer in ready.flatMap(\.transfers) {
                guard let easy = transfer.easy, atom_curl_multi_add(multi, easy) == 0 else {
                    end(transfer, .failed(CurlTransfer.noMemory), of: multi)
                    continue
                }
            }
        }

        /// Takes a transfer out of those that wait, and returns whether it did.
        private func waitsNoMore(_ transfer: CurlTransfer) -> Bool {
            for (place, entry) in early.enumerated() {
                guard let index = entry.transfers.firstIndex(where: { $0 === transfer }) else { continue }
                early[place].transfers.remove(at: index)
                return true
            }
            return false
        }

        private func end(_ transfer: CurlTransfer, _ event: TransportEvent, of multi: atom_curl_multi) {
            let metrics = transfer.metrics
            if let easy = transfer.easy { atom_curl_multi_remove(multi, easy) }
            if let exchange = transfer.exchange {
                var taking = ResponseTaking.refused
                if case .finished = event { taking = transfer.handOverWhole(metrics) }
                transfer.handOverPart()
                transfer.release()
                count(-1, exchange)
                switch taking {
                case .refused:
                    if let metrics { report(.measured(metrics), of: exchange) }
                    report(event, of: exchange)
                case .taken:
                    reported &+= 1
                    events.append(EventDelivery.Item(exchange: exchange, event: nil))
                case .awaited(let continuation):
                    reported &+= 1
                    awaiting.append(continuation)
                }
            }
            recycle(transfer)
        }

        /// Lets the callers go on whose responses were taken: nothing here holds their exchanges any more.
        private func resumeAwaiting() {
            guard !awaiting.isEmpty else { return }
            for continuation in awaiting { continuation.resume() }
            awaiting.removeAll(keepingCapacity: true)
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
            (running, early, idle, busy) = ([], [], [], [])
            endLooks { _ in true }
            if let multi { atom_curl_multi_free(multi) }
            if let share { atom_curl_share_free(share) }
            (multi, share) = (nil, nil)
        }
    }

    // MARK: - Of transfers

    extension CurlLoop {
        func report(_ event: TransportEvent, of exchange: CurlExchange) {
            reported &+= 1
            exchange.taker = nil
            events.append(EventDelivery.Item(exchange: exchange, event: event))
        }

        /// Whether the process could open as many descriptors as an exchange needs.
        var hasDescriptors: Bool { atom_curl_has_descriptors(bell) }

        /// The URL of a server, which is parsed once.
        func url(of origin: Origin) -> ServerURL {
            if let known = servers[origin] { return known }
            // Not those of all servers that there are.
            if servers.count >= 256 { servers = [:] }
            let url = ServerURL(origin)
            servers[origin] = url
            return url
        }

        /// Decides whether the receiver of a body has to catch up first.
        func pauses(_ exchange: CurlExchange, handedOver: Int64, pending: Int) -> Bool {
            inbox.withLock { _ in
                let waiting = handedOver - exchange.shared.delivered
                // What is only pending is handed over soon, and lets the transfer go on. Others
                // may wait for a connection that is left unread.
                let maximum = exchange.shared.carriesOthers ? 64 << 20 : Int64(CurlExchange.maximumBacklog)
                exchange.shared.isPaused =
                    exchange.shared.isHeld || waiting > 0 && waiting + Int64(pending) > maximum
                return exchange.shared.isPaused
            }
        }

        /// A head has shown whether the exchange's connection carries many at once.
        func answered(_ exchange: CurlExchange, multiplexes: Bool) {
            needsConnection(exchange)
            if multiplexes {
                if !settings.library.holdsSingleStreams { inbox.withLock { _ in exchange.shared.carriesOthers = true } }
                multiplexing.insert(exchange.request.target.origin)
            } else if exchange.isSecure, !multiplexing.isEmpty {
                multiplexing.remove(exchange.request.target.origin)
            }
        }

        func mayMultiplex(_ exchange: CurlExchange) -> Bool {
            exchange.isSecure && settings.library.usesHTTP2
                && (single.isEmpty || !single.contains(exchange.request.target.origin))
        }

        /// A status line of HTTP/2 came over a connection of HTTP/1.1; before 8.8 libcurl believes it.
        func pretended(_ exchange: CurlExchange) {
            if exchange.isSecure { single.insert(exchange.request.target.origin) }
        }

        /// The exchange has opened a connection with TLS.
        func connected(_ exchange: CurlExchange, multiplexes: Bool) {
            // Each search makes libcurl look at some of those that wait.
            if settings.library.forgetsWaiting {
                searches = running.count { $0.exchange != nil && $0.mayBeResolving }
            }
            guard settings.library.confusesProtocols else { return }
            let origin = exchange.request.target.origin
            if protocols.updateValue(multiplexes, forKey: origin) == !multiplexes { single.insert(origin) }
        }

        /// libcurl may lose it when the connection ends, too.
        func serverLeaves(_ connection: CurlSockets.Use, after last: UInt32) {
            for transfer in running { transfer.isLeftBehind(on: connection, after: last) }
        }

        private func needsConnection(_ exchange: CurlExchange) {
            guard !exchange.isSingle else { return }
            exchange.isSingle = true
            singleCount += 1
        }

        /// The transfer has something to hand over before the thread sleeps.
        func hasSomething(_ transfer: CurlTransfer) {
            guard !transfer.isListed else { return }
            transfer.isListed = true
            busy.append(transfer)
        }
    }
#endif
