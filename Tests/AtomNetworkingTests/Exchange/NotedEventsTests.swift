import Foundation
import Testing

@testable import AtomNetworking

/// Every sequence of a few steps by those who note events and the one who tells
/// them.
@Suite(.limited) struct NotedEventsTests {
    private enum Step: CaseIterable {
        /// Something is noted, and not told at once.
        case note
        /// The request is handed to the transport.
        case send
        /// The request waits.
        case queue
        /// Something is told at once, if nothing comes before it.
        case tell
        /// Somebody tells what was noted, unless another thread does.
        case deliver
        /// The thread that tells goes on.
        case goOn
        /// The outcome is known.
        case end
    }

    /// One request, with one thread at most that tells.
    private struct World {
        var events = NotedEvents()
        var happened: [String] = []
        var told: [String] = []
        var isTelling = false
        /// The event that the telling thread has not noted.
        var own: String?
        /// Whether it looks for a sending first.
        var beginsWithSending = false
        var isWaiting = false
        /// What comes now is heard by nobody.
        var hasEnded = false
        let request: TransportRequest
        let now = MonotonicInstant(nanoseconds: 1)

        mutating func take(_ step: Step, _ number: Int) {
            let (before, isOver) = (happened, hasEnded)
            defer { if isOver { happened = before } }
            switch step {
            case .note:
                happened.append("noted \(number)")
                events.append(.redirected(to: "noted \(number)"), at: now)
            case .send:
                if isWaiting { happened.append("goes on") }
                isWaiting = false
                happened.append("sent")
                events.sent(request, at: now)
            case .queue:
                happened.append("waits for its turn")
                isWaiting = true
                events.queued(for: .slot, at: now)
            case .tell:
                happened.append("told \(number)")
                guard let turn = events.turn(at: now) else {
                    events.append(.redirected(to: "told \(number)"), at: now)
                    return
                }
                begin(own: "told \(number)", afterSending: turn.isAfterSending)
            case .deliver:
                if events.beginsDelivery() { begin(own: nil, afterSending: true) }
            case .goOn:
                if isTelling { goOn() }
            case .end:
                if !hasEnded { end() }
            }
        }

        private mutating func end() {
            hasEnded = true
            happened.append("ended")
            if let turn = events.turn(at: now) {
                begin(own: "ended", afterSending: turn.isAfterSending)
            } else {
                events.append(.redirected(to: "ended"), at: now)
            }
            events.close()
        }

        private mutating func begin(own: String?, afterSending: Bool) {
            #expect(!isTelling, "two threads tell at a time")
            (isTelling, self.own, beginsWithSending) = (true, own, afterSending)
        }

        private mutating func goOn() {
            if beginsWithSending {
                beginsWithSending = false
                if events.takeSending() != nil { told.append("sent") }
            } else if let own = own.take() {
                told.append(own)
            } else if let event = events.next() {
                switch event.kind {
                case .redirected(let name): told.append(name)
                case .sent: told.append("sent")
                case .admitted: told.append("goes on")
                case .queued: told.append("waits for its turn")
                default: Issue.record("\(event.kind)")
                }
            } else {
                isTelling = false
            }
        }

        /// Until nothing is left.
        mutating func finish() {
            repeat {
                while isTelling { goOn() }
                take(.deliver, 0)
            } while isTelling
        }
    }

    @Test("Nothing is lost, told twice or out of order, in every sequence of six steps", .limited)
    func everySequence() throws {
        let request = try TransportRequest(base: BaseURL(host: "api.example.com"), path: URLPath("/x"))
        let steps = Step.allCases
        var wrong: [String] = []
        let count = Int(pow(Double(steps.count), 6))
        for code in 0..<count {
            var world = World(request: request)
            var rest = code
            var taken: [Step] = []
            for number in 0..<6 {
                taken.append(steps[rest % steps.count])
                world.take(taken[number], number)
                rest /= steps.count
            }
            world.finish()
            if world.told != world.happened { wrong.append("\(taken): \(world.told), not \(world.happened)") }
        }
        #expect(wrong.isEmpty, "\(wrong.count) of \(count), for example \(wrong.first ?? "")")
    }

    @Test("Nothing is noted after the end, and nobody gets the turn")
    func end() {
        var events = NotedEvents()
        events.close()
        events.append(.admitted, at: MonotonicInstant(nanoseconds: 1))
        let turn = events.turn(at: MonotonicInstant(nanoseconds: 1))
        let (begins, next) = (events.beginsDelivery(), events.next())
        #expect(turn == nil)
        #expect(!begins)
        #expect(next == nil)
    }

    @Test("Time doesn't go back, also if threads come in another order than they have read the clock in")
    func time() {
        var events = NotedEvents()
        var instants: [Int64] = []
        for nanoseconds in [100, 90] as [Int64] {
            events.append(.admitted, at: MonotonicInstant(nanoseconds: nanoseconds))
        }
        while let event = events.next() { instants.append(event.instant.nanoseconds) }
        instants += events.turn(at: MonotonicInstant(nanoseconds: 80)).map { [$0.instant.nanoseconds] } ?? []
        #expect(instants == [100, 100, 100])
    }

    @Test("Bytes are counted")
    func traffic() {
        var events = NotedEvents()
        events.countSent(7)
        for count in [5, 2, 4] { events.countReceived(count) }
        #expect(events.traffic.bytesSent == 7)
        #expect(events.traffic.bytesReceived == 11)
    }
}
