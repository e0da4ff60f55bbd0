extension ExchangeMachine {
    /// One thing that an exchange is to do.
    enum Command: Sendable, Equatable {
        case nothing

        // The session and its queue.
        /// Ask for admission anew: it joins the end of the queue.
        case askSession
        /// Ask for admission, and keep the slot and the place in the queue meanwhile.
        case askSessionWithSlot(place: Int)
        case leaveSession
        case tokenAccepted(version: Int)
        case tokenRejected(version: Int)
        /// The caller has been told: the app may hear of its session's end.
        case releaseNotice

        // The lane of the origin.
        /// - Parameter place: The one that it had before; `nil` for the end.
        case enterLane(place: Int?)
        case leaveLane(place: Int)
        case giveSlotBack

        // The attempt.
        /// Sign the attempt, with the slot in hand.
        case sign(place: Int)
        /// Hand the attempt to the transport.
        case send
        /// Let the transport hand over what has arrived; the answer is an event.
        case look
        /// Stop the attempt, and let go of it.
        case stop
        /// Read the rest of the response for a while only, so that its connection can be used again. The caller
        /// may get it after all; otherwise the exchange lets go of the attempt.
        case limitRest(isKept: Bool)

        // The response.
        case keepCookies
        /// Open the destination of the body.
        case openDestination
        /// Pass this part of the body to the sink.
        case keepPart
        case dropPart
        /// End the sink, and give its data to the machine.
        case keepBody
        case abandonBody
        /// End the sink, and tell the caller the response, or the error that the request's body can't be sent again.
        case deliver(isError: Bool)
        /// End the sink, and tell the caller the outcome with as much of the body as has come.
        case deliverPart
        /// Tell the caller the outcome.
        case tell
        /// Tell the caller that the outcome is overdue.
        case tellOverdue

        // Another attempt.
        /// Pay for the retry; the answer is an event.
        case payForRetry
        /// Give back what was paid for an attempt that is not made.
        case giveBack(Int)
        /// Tell the session and the network's monitor that the exchange pauses.
        case pause
        case leavePause

        // The deadline. If two changes are performed in the wrong order, the one with the higher number counts.
        case setDeadline(MonotonicInstant, number: Int)
        case removeDeadline(number: Int)

        // The observers.
        case noteRetry
        case noteRetryAfter(status: Int)
        case noteRedirect
    }

    /// What an event comes to, in order: of a fixed size and without references, as every event returns one, and
    /// inlined, as calls would cost 180 instructions a request.
    struct Commands: Sendable {
        /// No event comes to more; the table of all events in all states and the model show that.
        static let capacity = 6

        private(set) var count = 0
        /// Whether the exchange lets go of the attempt: no later command concerns it.
        private(set) var letGo = false
        private var commands: (Command, Command, Command, Command, Command, Command) = (
            .nothing, .nothing, .nothing, .nothing, .nothing, .nothing
        )

        init() {}

        @inline(__always)
        init(_ command: Command) { append(command) }

        @inline(__always)
        mutating func append(_ command: Command) {
            switch command {
            case .nothing: return
            case .stop, .limitRest(isKept: false): letGo = true
            default: break
            }
            switch count {
            case 0: commands.0 = command
            case 1: commands.1 = command
            case 2: commands.2 = command
            case 3: commands.3 = command
            case 4: commands.4 = command
            case 5: commands.5 = command
            default: preconditionFailure("an event comes to more than \(Self.capacity) commands")
            }
            count += 1
        }

        /// The last one; `nothing` if there is none.
        var last: Command { self[max(count - 1, 0)] }

        @inline(__always)
        subscript(index: Int) -> Command {
            switch index {
            case 0: commands.0
            case 1: commands.1
            case 2: commands.2
            case 3: commands.3
            case 4: commands.4
            default: commands.5
            }
        }
    }
}
