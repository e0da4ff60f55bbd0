import Foundation

// To the transport, and back.
extension Exchange {
    /// The value of the `Authorization` field, and the version of the session's
    /// credential that it comes from.
    private struct Signature {
        var authorization: String?
        var version: Int?
        /// How many people had gone.
        var departures = 0
    }

    /// Signs the attempt and hands it to the transport.
    ///
    /// - Parameter origin: The origin of the slot that was granted; `nil` if no
    ///   slot is needed.
    func send(inSlotOf origin: Origin?) {
        while true {
            // Signed directly before sending, so that the token is still good.
            let signature = signature()
            let (cookie, cookieEra) = cookie(since: signature.departures)
            // Whoever asked before has gone. The request has ended when its slot is granted, so the slot goes back.
            if let era = destination?.cookieEra, era != cookieEra {
                handle { $0.fail(.authentication(.signedOut(delivery: .init($0.delivery)))) }
            }
            guard let own = ownFields(with: signature, cookie) else { continue }
            let additions = takesSigners ? additions(to: signature, cookie, own) : nil
            // Signers take their time, and the token may have been rejected meanwhile.
            if takesSigners, self.signature().version != signature.version { continue }
            let now = manager.time.now
            let sink = MemorySink(limit: policy.maximumBodySize)
            let (step, wire) = content.withLock { content in
                let step = content.machine.slotGranted(
                    isSigned: signature.authorization != nil, version: signature.version, at: now)
                guard case .send = step.action else { return (step, nil as AttemptOnWire?) }
                let authorization = content.machine.isAttemptSigned ? signature.authorization : nil
                let request = content.machine.attempt.transportRequest(
                    own: own, authorization: authorization, cookie: cookie, replacedBy: additions,
                    idleTimeout: idleTimeout, needsFreshConnection: policy.needsFreshConnection,
                    wantsMetrics: observation != nil, number: content.machine.number)
                if observation != nil { content.events.sent(request, at: now) }
                let wire = AttemptOnWire(of: self, request, sink: sink, cookieEra: cookieEra, hasCookies: cookie != nil)
                content.wire = wire
                return (step, wire)
            }
            prepare(step)
            if let wire { return start(wire) }
            guard case .askSessionWithSlot = step.action, asksWithSlot() else {
                if let origin { manager.slots.release(origin: origin) }
                return
            }
        }
    }

    private func signature() -> Signature {
        guard let gate = manager.gate else {
            return Signature(authorization: isSigned ? manager.basicAuthorization : nil)
        }
        guard isSigned else { return Signature(departures: policy.usesCookies ? manager.departures : 0) }
        return switch gate.signature(for: self) {
        case (.authorization(let value, let version), let departures):
            Signature(authorization: value, version: version, departures: departures)
        case (.none, let departures), (.outdated, let departures): Signature(departures: departures)
        }
    }

    /// The SDK's own header fields of the attempt; `nil` if the session has
    /// another token by now.
    @inline(__always)
    private func ownFields(with signature: Signature, _ cookie: String?) -> [HeaderItem]? {
        guard let destination else { return [] }
        var asker = Asker(cookie: cookie)
        if let version = signature.version {
            // By the version, so that it is the one who signs.
            guard let signer = manager.gate?.signer(of: version) else { return nil }
            asker.signer = signer
        } else {
            asker.authorization = signature.authorization
        }
        return destination.fields(for: content.withLock { $0.machine.attempt }, by: asker)
    }

    /// Lets the app's signers add to the attempt.
    ///
    /// - Returns: All header fields of the attempt; `nil` if it isn't sent, or
    ///   if nothing may be added.
    private func additions(
        to signature: Signature, _ cookie: String?, _ own: [HeaderItem]
    ) -> HeaderFields? {
        let draft = content.withLock { content -> SignableRequest? in
            let machine = content.machine
            guard machine.isReadyToSend(isSigned: signature.authorization != nil), !machine.attempt.hasLeftOrigin
            else { return nil }
            let authorization = machine.isAttemptSigned ? signature.authorization : nil
            return SignableRequest(
                machine.attempt.transportRequest(
                    own: own, authorization: authorization, cookie: cookie, idleTimeout: idleTimeout,
                    needsFreshConnection: policy.needsFreshConnection, number: machine.number + 1),
                requestID: observation?.requestID,
                requiresAuthorization: requiresAuthorization, isAuthorized: authorization != nil,
                date: manager.time.date)
        }
        guard var draft else { return nil }
        do {
            try manager.sign(&draft)
            return draft.headerFields
        } catch {
            // The request has ended when its slot is granted, so the slot goes back.
            handle { $0.fail(.authentication(.notSigned(cause: error, delivery: .init($0.delivery)))) }
            return nil
        }
    }

    /// Asks the session again and keeps the slot meanwhile.
    ///
    /// - Returns: Whether to sign again now.
    private func asksWithSlot() -> Bool {
        guard isAdmitted(anew: false) else {
            queuedBySession()
            return false
        }
        return content.withLock { content in
            if case .sign = content.machine.admittedWithSlot().action { true } else { false }
        }
    }

    /// The cookies of the attempt, and the era that those it brings home belong to.
    private func cookie(since departures: Int) -> (field: String?, era: Int) {
        guard policy.usesCookies else { return (nil, 0) }
        let (era, mayHaveCookies) = manager.cookies.era(since: departures)
        guard mayHaveCookies else { return (nil, era) }
        let attempt = content.withLock { $0.machine.attempt }
        // Cookies are not bound to a port (RFC 6265 §8.5), so the jar would also match another origin of the same host.
        guard !attempt.hasLeftOrigin, !attempt.headerFields.contains("Cookie") else { return (nil, era) }
        return (manager.cookies.field(for: attempt.target.cookieAddress, of: era, at: manager.time.date), era)
    }

    private func start(_ wire: AttemptOnWire) {
        let running = manager.transport.start(wire.request) { wire.exchange.receive($0, from: wire) }
        // The exchange may have let go of the attempt while it was being started.
        let (unwanted, tellsEvents) = content.withLock { content in
            if content.wire === wire {
                content.running = running
            } else if content.lastEnded != wire.number, let unwanted = wire.started(running) {
                return (unwanted as (any TransportExchange)?, false)
            }
            return (nil, content.events.beginsDelivery())
        }
        // Afterwards: an observer may cancel the request.
        if let unwanted {
            unwanted.cancel()
            deliver()
        } else if tellsEvents, let observation {
            tellNoted(observation)
        }
    }
}

// MARK: - The transport's events

extension Exchange {
    private func receive(_ event: TransportEvent, from wire: AttemptOnWire) {
        switch event {
        case .sent(let count):
            let now = manager.time.now
            content.withLock { content in
                content.machine.sent(count, by: wire.number, at: now)
                if observation != nil { content.events.countSent(count) }
            }
            if progress != nil, count > 0 { reportSent(count, of: wire, at: now) }
        case .response(let head):
            received(head, from: wire)
        case .data(let data):
            received(data, from: wire)
        case .measured(let metrics):
            tell(.measured(metrics, attempt: wire.number), at: manager.time.now)
        case .finished:
            ended(wire) { $0.finished(wire.number) }
        case .failed(let failure):
            let retry = retry(after: failure, of: wire)
            ended(wire, retry) { $0.failed(failure, wire.number, retry: retry) }
        }
    }

    /// The body counts anew in each attempt.
    private func reportSent(_ count: Int, of wire: AttemptOnWire, at now: MonotonicInstant) {
        wire.sent += Int64(count)
        let completed = bodyLength.map { min(wire.sent, $0) } ?? wire.sent
        progress?.report(
            TransferProgress(completed: completed, total: bodyLength), isLast: completed == bodyLength, at: now)
    }

    private func received(_ head: TransportResponse, from wire: AttemptOnWire) {
        let now = manager.time.now
        let destination = destination(of: head)
        let retry = head.statusCode >= 400 ? retry(after: head, of: wire, at: now) : nil
        var turn: NotedEvents.Turn?
        let (step, concerned, isDelivered) = content.withLock { content in
            let isSpent = content.machine.attempt.body?.isSpent ?? false
            let isAwaited = content.machine.awaitsHead(of: wire.number)
            if observation != nil, isAwaited {
                // To open a destination may end the request, which must not come before this event.
                turn = destination == nil ? content.events.turn(at: now) : nil
                if turn == nil {
                    content.events.append(.answered(ReceivedHead(head, attempt: wire.number)), at: now)
                }
            }
            let step = content.machine.headArrived(
                head, of: wire.number, isBodySpent: isSpent, isStreamed: destination != nil,
                retry: retry, at: now)
            return (step, content.letGo(for: step), isAwaited && content.machine.deliversHead)
        }
        if let turn, let observation {
            tell(.answered(ReceivedHead(head, attempt: wire.number)), in: turn, observation)
        }
        // Before another attempt, which the destination may ask for.
        if step.effects.contains(.keepCookies) { manager.keepCookies(of: head, from: wire) }
        if isDelivered, let destination { open(destination, for: head, of: wire) }
        if let retry { settleQuota(of: retry, step, at: wire) }
        if observation != nil { tellWhatFollows(head, step, retries: retry != nil, wasTold: turn != nil, at: now) }
        if let limit = head.exchangesPerOrigin { manager.slots.learn(limit, of: wire.target.origin) }
        if step.effects.contains(.limitRest) {
            wire.hasRestLimit = true
            if case .retry = step.action {
                limitRest(of: wire, to: AttemptOnWire.keptRestDuration, number: 1)
            } else {
                limitRest(of: wire, to: AttemptOnWire.unwantedRestDuration, number: 2)
            }
        }
        perform(step, concerned)
        if step.effects.contains(.giveSlotBack) { manager.slots.release(origin: wire.target.origin) }
    }

    /// Tells that the request is sent again at once, if it is, and what was noted.
    private func tellWhatFollows(
        _ head: TransportResponse, _ step: ExchangeMachine.Step, retries: Bool, wasTold: Bool, at now: MonotonicInstant
    ) {
        switch step.action {
        case .retry:
            withEvents { events in
                events.append(.retried(after: .status(head.statusCode), delivery: .answered, delay: nil), at: now)
            }
        case .askSession where !retries, .enterLane where !retries:
            content.withLock { content in
                content.events.append(.redirected(to: content.machine.attempt.target.description), at: now)
            }
        default:
            if wasTold { return }
        }
        deliver()
    }

    /// Where the body of a response goes, if it is acceptable; `nil` for memory.
    private func destination(of head: TransportResponse) -> (any ResponseDestination)? {
        // A 401 is never what a stream or a file is for.
        guard let destination, head.statusCode != 401,
            destination.takes(head.statusCode, isAcceptable: acceptableStatusCodes.contains(head.statusCode))
        else { return nil }
        return destination
    }

    /// Lets the body go to its destination.
    private func open(_ destination: any ResponseDestination, for head: TransportResponse, of wire: AttemptOnWire) {
        do {
            wire.replaceSink(try destination.sink(for: response(head, Data(), from: wire.target, of: wire), of: wire))
        } catch {
            sinkFailed(error, of: wire)
        }
    }

    /// The sink doesn't take the response, which may be asked for again.
    private func sinkFailed(_ error: AtomError, of wire: AttemptOnWire) {
        guard destination?.asksAgain == true else {
            handle { $0.sinkFailed(error, of: wire.number) }
            return
        }
        let now = manager.time.now
        let (step, concerned) = content.withLock { content in
            if observation != nil, content.wire === wire, case .receiving(_, let head) = content.machine.state {
                content.events.append(
                    .retried(after: .status(head.statusCode), delivery: .answered, delay: nil), at: now)
            }
            let step = content.machine.responseRefused(of: wire.number, at: now)
            return (step, content.letGo(for: step))
        }
        perform(step, concerned)
        if observation != nil { deliver() }
    }

    private func received(_ part: Data, from wire: AttemptOnWire) {
        let now = manager.time.now
        if let observers, observers.wantsBodies, let requestID = observation?.requestID {
            observers.tell(part, of: requestID, attempt: wire.number)
        }
        let (step, concerned) = content.withLock { content in
            if observation != nil { content.events.countReceived(part.count) }
            let step = content.machine.partArrived(part.count, of: wire.number, at: now)
            return (step, content.letGo(for: step))
        }
        if case .keepPart = step.action {
            do {
                try wire.keep(part)
            } catch {
                sinkFailed(error, of: wire)
            }
        } else if let concerned {
            stop(concerned)
        } else if wire.discard(part) {
            stop(wire)
        }
    }

    /// The transport's last event of an attempt.
    ///
    /// - Parameter retry: Another attempt, if the event offers one.
    private func ended(
        _ wire: AttemptOnWire, _ retry: ExchangeMachine.Retry? = nil,
        _ event: (inout ExchangeMachine) -> ExchangeMachine.Step
    ) {
        let (step, answer) = content.withLock { content in
            if content.wire === wire {
                content.wire = nil
                content.running = nil
                content.lastEnded = wire.number
            } else {
                wire.end()
            }
            let step = event(&content.machine)
            guard case .deliver = step.action else { return (step, nil as FinalResponse?) }
            switch content.machine.outcome {
            case .answer(let head)?:
                return (step, FinalResponse(head: head, cost: content.machine.retries?.lastCost ?? 0))
            case .bodyNotRepeatable(let head)?: return (step, FinalResponse(head: head, isBodyNotRepeatable: true))
            default: return (step, nil)
            }
        }
        prepare(step)
        if let retry { settleQuota(of: retry, step, at: wire) }
        if wire.hasRestLimit { manager.deadlines.remove(wire, number: 3, disarms: true) }
        if let answer {
            // Before anyone can be told of the end.
            if bodyLength == nil, wire.sent > 0 {
                progress?.report(TransferProgress(completed: wire.sent, total: nil), isLast: true, at: manager.time.now)
            }
            do {
                let body = try wire.finishSink()
                settle(
                    answer.isBodyNotRepeatable
                        ? .failure(notRepeated(after: answer.head, body, from: wire.target))
                        : judged(answer.head, body, from: wire.target, of: wire))
            } catch {
                settle(.failure(completed(error)))
            }
        } else {
            endWithoutAnswer(wire, step)
        }
        if step.effects.contains(.releaseNotice) { manager.session?.notices.release() }
        let hasRetries =
            step.effects.contains(.giveSlotBack) ? manager.slots.release(origin: wire.target.origin) : true
        if hasRetries, let answer, accepts(answer.head.statusCode) {
            manager.quotas.giveBack(max(answer.cost, 1), at: wire.target.origin)
        }
    }

    private struct FinalResponse {
        var head: TransportResponse
        /// What its last retry has cost.
        var cost = 0
        var isBodyNotRepeatable = false
    }

    private func endWithoutAnswer(_ wire: AttemptOnWire, _ step: ExchangeMachine.Step) {
        if case .keepBody = step.action {
            do {
                let body = try wire.finishSink()
                handle { $0.bodyKept(body, of: wire.number) }
            } catch {
                handle { $0.sinkFailed(error, of: wire.number) }
            }
        } else {
            wire.abandonSink()
            act(on: step)
        }
    }
}
