import AtomNetworking
import Foundation

extension ScriptedTransport {
    /// Starts an exchange by the script.
    public func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let record = RecordedRequest(request, at: clock.now)
        var pull: BodyPull?
        if readsBodies, let body = request.body, body.data == nil { pull = BodyPull(body.makeReader(), record) }
        let exchange = started.withLock { [pull] started in
            let index = state.withLock { state in
                state.busy += 1
                state.activity += 1
                if authorizationServer.isAt(request.target) { return nil as Int? }
                state.running += 1
                state.requests.append(record)
                return state.requests.count - 1
            }
            let exchange = ScriptedExchange(record, index: index, wire: state, player: player, receive: receive)
            // Before the test can have the exchange, and end it.
            if let pull { exchange.sendsBody(self.end(of: pull, exchange)) }
            if index != nil { started.exchanges.append(exchange) }
            return exchange
        }
        watch()
        if let pull {
            read(pull, exchange)
        } else {
            // The test's own answer comes after that, on the same queue.
            player.inDelivery {
                self.answer(exchange, turn: 0)
                exchange.endSending()
                self.isReady(exchange)
            }
        }
        return exchange
    }

    private func end(of pull: BodyPull, _ exchange: ScriptedExchange) -> ScriptedExchange.BodyEnd {
        ScriptedExchange.BodyEnd(
            note: { [weak exchange] in
                if let exchange { self.note(pull, exchange) }
            },
            // It lets a producer go on that waits for the reader.
            close: { pull.reader.close() },
            tell: { [weak exchange] in
                if let exchange { self.isReady(exchange) }
            })
    }

    /// Lets the test have the exchange.
    private func isReady(_ exchange: ScriptedExchange) {
        guard let index = exchange.index else { return }
        started.withLock { _ = $0.ready.insert(index) }
    }

    /// A body that is being read.
    private struct BodyPull: Sendable {
        /// Used on the wire's queue only.
        let reader: TransportBodyReader
        /// The request with what has been read; `nil` once that is recorded.
        let record: Guarded<RecordedRequest?>

        init(_ reader: TransportBodyReader, _ record: RecordedRequest) {
            self.reader = reader
            self.record = Guarded(record)
        }

        func keep(_ bytes: ArraySlice<UInt8>) {
            record.withLock { record in
                record?.bodyLength += Int64(bytes.count)
                let room = ScriptedTransport.maximumBodySize - (record?.body?.count ?? 0)
                record?.body?.append(contentsOf: bytes.prefix(room))
            }
        }
    }

    /// Reads what is there of a body.
    private func read(_ pull: BodyPull, _ exchange: ScriptedExchange) {
        player.queue.async {
            self.pull(pull, exchange)
            exchange.endSending()
        }
    }

    private func pull(_ pull: BodyPull, _ exchange: ScriptedExchange) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        do throws(AtomError) {
            while !exchange.isUnheard, let count = try Self.read(pull.reader, into: &buffer) {
                guard count > 0 else {
                    // Until then it waits for the app, which may be the test.
                    return pull.reader.whenReadable {
                        exchange.joinSending()
                        self.read(pull, exchange)
                    }
                }
                pull.keep(buffer.prefix(count))
            }
        } catch {
            return exchange.fail(error, delivery: .maybeSent)
        }
        // One that has ended before isn't a whole request, and its end does the rest.
        guard !exchange.isUnheard else { return }
        note(pull, exchange)
        exchange.sendsBody(nil)
        pull.reader.close()
        // One that the test answers needs no other answer.
        if !exchange.isAnsweredByHand { answer(exchange, turn: 0) }
        isReady(exchange)
    }

    /// Records what has been read of a body, once.
    private func note(_ pull: BodyPull, _ exchange: ScriptedExchange) {
        guard let record = pull.record.withLock({ $0.take() }) else { return }
        exchange.request = record
        if let index = exchange.index { state.withLock { $0.requests[index] = record } }
    }

    private static func read(
        _ reader: TransportBodyReader, into buffer: inout [UInt8]
    ) throws(AtomError) -> Int? {
        let result = buffer.withUnsafeMutableBytes { bytes in
            Result { () throws(AtomError) in try reader.read(into: bytes) }
        }
        return try result.get()
    }
}

// MARK: - Choosing an answer

extension ScriptedTransport {
    /// Also for a request that was cancelled since: otherwise it would depend on
    /// the threads which request gets which answer.
    private func answer(_ exchange: ScriptedExchange, turn: Int) {
        let record = exchange.request
        if exchange.index == nil {
            return player.perform(authorizationServer.answer(record), exchange, turn)
        }
        if let refusal = authorizationServer.refusal(of: record) { return player.perform(refusal, exchange, turn) }
        switch takeAnswer(for: record) {
        case .found(let answer):
            let text = "\(record) (\(answer.name))"
            if let index = exchange.index { state.withLock { $0.answered.append((index, text)) } }
            player.perform(answer, exchange, turn)
        case .none(let reason):
            player.fail(exchange, reason)
        }
    }

    private enum Choice {
        case found(ScriptedResponse)
        /// There is none, for this reason.
        case none(String)
    }

    private func takeAnswer(for record: RecordedRequest) -> Choice {
        var misses = NearMisses()
        // A condition is the app's code, so none is asked under the lock.
        for (number, rule) in state.withLock({ $0.rules }).enumerated() {
            let mismatches = rule.matcher.mismatches(of: record)
            guard mismatches.isEmpty else {
                misses.add("\(rule.matcher)", mismatches)
                continue
            }
            let isTaken = state.withLock { state in
                guard !state.rules[number].isSpent else { return false }
                state.rules[number].used += 1
                return true
            }
            if isTaken { return .found(rule.answer) }
            let count = rule.uses ?? 0
            misses.add("\(rule.matcher)", ["it has been given \(count == 1 ? "once" : "\(count) times")"])
        }
        let (answer, answered) = state.withLock { ($0.nextAnswer(), $0.answered) }
        if let answer { return .found(answer) }
        let shown = answered.suffix(4).map(\.text).joined(separator: ", ")
        let earlier = answered.count > 4 ? "\(answered.count - 4) others and " : ""
        var reason = "; it has answered " + (answered.isEmpty ? "nothing" : earlier + shown)
        if !misses.isEmpty { reason += "; no other answer fits (\(misses))" }
        return .none(reason)
    }
}
