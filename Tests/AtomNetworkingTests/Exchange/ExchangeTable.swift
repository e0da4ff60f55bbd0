import Foundation

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The result of each event in each state.
///
/// A cell lists the state after the event, the action, the deadline and the
/// effects. A list of events may continue in the next line.
enum ExchangeTable {
    static let rows: [ExchangeSample: String] = [
        .asksSession: """
        admitted: lane, enterLane
        queuedBySession, ringEarly, ringSilent: session, deadline 100
        refusedMissing, refusedOver, ringOver: ended authentication notSent, tell, leaveSession
        queuedForSlot, sent, head200, head401, head302, head302Last, headWithCookie, part, bigPart,
            sinkFailed, finished, bodyKept, lostUnsent, lost, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished,
            oldBodyKept, oldLost, oldHead: session
        slotSigned, slotUnsigned: session, giveSlotBack
        admittedWithSlot: lane, sign
        cancelled: ended cancelled notSent, tell, leaveSession
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: session
        oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain: session
        ringSilentAgain, ringPause: session, deadline 100
        pauseNoted: session, leavePause
        offline: session
        refusedByDestination: session
        """,
        .rejectedAndArriving: """
        admitted: lane, enterLane, letGo, limitRest
        queuedBySession, ringEarly, ringSilent: session after a 401 (0), deadline 100
        refusedMissing: receiving 401 without slot, deadline 11, keepNotice
        refusedOver, ringOver: ended authentication answered, tell, no deadline, leaveSession, stop
        queuedForSlot, oldRestExpired, sent, head200, head401, head302, head302Last, headWithCookie, oldPart,
            oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: session after a 401 (0)
        slotSigned, slotUnsigned: session after a 401 (0), giveSlotBack
        admittedWithSlot: lane, sign
        cancelled: ended cancelled answered, tell, no deadline, leaveSession, stop
        part: session after a 401 (1), keepPart
        bigPart, restExpired, sinkFailed: session after a 401 (given up), stop
        finished: session after a 401 (0), keepBody
        bodyKept: session after a 401 (complete)
        lostUnsent, lost: session after a 401 (given up)
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: session after a 401 (0)
        oldRetry, busy, busyAtOnce: session after a 401 (0)
        lostAgain, lostUnsentAgain: session after a 401 (given up)
        ringSilentAgain, ringPause: session after a 401 (0), deadline 100
        pauseNoted: session after a 401 (0), leavePause
        offline: session after a 401 (given up)
        refusedByDestination: session after a 401 (0)
        """,
        .rejectedAndComplete: """
        admitted: lane, enterLane
        queuedBySession, ringEarly, ringSilent: session after a 401 (complete), deadline 100
        refusedMissing: ended 401 with 2 bytes, tell, no deadline
        refusedOver, ringOver: ended authentication answered, tell, no deadline, leaveSession
        queuedForSlot, sent, head200, head401, head302, head302Last, headWithCookie, part, bigPart,
            sinkFailed, finished, bodyKept, lostUnsent, lost, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished,
            oldBodyKept, oldLost, oldHead: session after a 401 (complete)
        slotSigned, slotUnsigned: session after a 401 (complete), giveSlotBack
        admittedWithSlot: lane, sign
        cancelled: ended cancelled answered, tell, no deadline, leaveSession
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: session after a 401 (complete)
        oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain: session after a 401 (complete)
        ringSilentAgain, ringPause: session after a 401 (complete), deadline 100
        pauseNoted: session after a 401 (complete), leavePause
        offline: session after a 401 (complete)
        refusedByDestination: session after a 401 (complete)
        """,
        .rejectedAndGivenUp: """
        admitted: lane, enterLane
        queuedBySession, ringEarly, ringSilent: session after a 401 (given up), deadline 100
        refusedMissing: ended 401 with 0 bytes, tell, no deadline
        refusedOver, ringOver: ended authentication answered, tell, no deadline, leaveSession
        queuedForSlot, sent, head200, head401, head302, head302Last, headWithCookie, part, bigPart,
            sinkFailed, finished, bodyKept, lostUnsent, lost, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished,
            oldBodyKept, oldLost, oldHead: session after a 401 (given up)
        slotSigned, slotUnsigned: session after a 401 (given up), giveSlotBack
        admittedWithSlot: lane, sign
        cancelled: ended cancelled answered, tell, no deadline, leaveSession
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: session after a 401 (given up)
        oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain: session after a 401 (given up)
        ringSilentAgain, ringPause: session after a 401 (given up), deadline 100
        pauseNoted: session after a 401 (given up), leavePause
        offline: session after a 401 (given up)
        refusedByDestination: session after a 401 (given up)
        """,
        .keepsItsPlace: """
        admitted: lane in its place, enterLane in its place
        queuedBySession, ringEarly, ringSilent: session in its place, deadline 100
        refusedMissing, refusedOver, ringOver: ended authentication notSent, tell, leaveSession
        queuedForSlot, sent, head200, head401, head302, head302Last, headWithCookie, part, bigPart,
            sinkFailed, finished, bodyKept, lostUnsent, lost, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished,
            oldBodyKept, oldLost, oldHead: session in its place
        slotSigned, slotUnsigned: session in its place, giveSlotBack
        admittedWithSlot: lane in its place, sign
        cancelled: ended cancelled notSent, tell, leaveSession
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: session in its place
        oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain: session in its place
        ringSilentAgain, ringPause: session in its place, deadline 100
        pauseNoted: session in its place, leavePause
        offline: session in its place
        refusedByDestination: session in its place
        """,
        .standsInLane: """
        admitted, queuedBySession, refusedMissing, refusedOver, sent, head200, head401, head302,
            head302Last, headWithCookie, part, bigPart, sinkFailed, finished, bodyKept, lostUnsent, lost,
            restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: lane
        queuedForSlot, ringEarly, ringSilent: lane, deadline 100
        slotSigned: sending 7, send, deadline 11
        slotUnsigned: session in its place, askSessionWithSlot
        admittedWithSlot: lane, giveSlotBack
        cancelled: ended cancelled notSent, tell, leaveLane
        ringOver: ended -1001 notSent, tell, leaveLane
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: lane
        oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain: lane
        ringSilentAgain, ringPause: lane, deadline 100
        pauseNoted: lane, leavePause
        offline: lane
        refusedByDestination: lane
        """,
        .sendingSigned: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, part, bigPart,
            sinkFailed, bodyKept, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: sending 7
        slotSigned, slotUnsigned, admittedWithSlot: sending 7, giveSlotBack
        cancelled: ended cancelled maybeSent holding a slot, tell, no deadline, stop
        ringEarly: sending 7, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, tell, no deadline, stop
        head200: receiving 200, accepted 7
        head401: session after a 401 (0), retry 7, giveSlotBack, limitRest
        head302: session, askSession anew, accepted 7, giveSlotBack, letGo, limitRest
        head302Last: ended -1007 answered holding a slot, tell, no deadline, accepted 7, stop
        headWithCookie: receiving 200, accepted 7, keepCookies
        finished: ended -1011 maybeSent, tell, no deadline, giveSlotBack
        lostUnsent: ended -1004 notSent, tell, no deadline, giveSlotBack
        lost: ended -1005 maybeSent, tell, no deadline, giveSlotBack
        streamed200: receiving 200 without slot, deadline 11, accepted 7, giveSlotBack
        spent401: receiving 401 spent, rejected 7
        spent307: receiving 307 spent, accepted 7
        paused, goesOn, oldPaused, networkReturned: sending 7
        busy: pausing until 6, pause, accepted 7, sendAgain, giveSlotBack, letGo, limitRest
        busyAtOnce: session, askSession anew, accepted 7, sendAgain, giveSlotBack, letGo, limitRest
        lostAgain: pausing until 6, pause, sendAgain, giveSlotBack
        lostUnsentAgain: session, askSession anew, sendAgain, giveSlotBack
        ringSilentAgain: pausing until 6, pause, sendAgain, giveSlotBack, stop
        ringPause: sending 7, deadline 11
        pauseNoted: sending 7, leavePause
        oldRetry: receiving 503, accepted 7
        offline: pausing until 6, pause, sendAgain, giveSlotBack
        refusedByDestination: sending 7
        """,
        .sendingSignedAgain: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, part, bigPart,
            sinkFailed, bodyKept, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: sending 7
        slotSigned, slotUnsigned, admittedWithSlot: sending 7, giveSlotBack
        cancelled: ended cancelled maybeSent holding a slot, tell, no deadline, stop
        ringEarly: sending 7, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, tell, no deadline, stop
        head200: receiving 200, accepted 7
        head401: receiving 401
        head302: session, askSession anew, accepted 7, giveSlotBack, letGo, limitRest
        head302Last: ended -1007 answered holding a slot, tell, no deadline, accepted 7, stop
        headWithCookie: receiving 200, accepted 7, keepCookies
        finished: ended -1011 maybeSent, tell, no deadline, giveSlotBack
        lostUnsent: ended -1004 answered, tell, no deadline, giveSlotBack
        lost: ended -1005 maybeSent, tell, no deadline, giveSlotBack
        streamed200: receiving 200 without slot, deadline 11, accepted 7, giveSlotBack
        spent401: receiving 401
        spent307: receiving 307 spent, accepted 7
        paused, goesOn, oldPaused, networkReturned: sending 7
        busy: pausing until 6, pause, accepted 7, sendAgain, giveSlotBack, letGo, limitRest
        busyAtOnce: session, askSession anew, accepted 7, sendAgain, giveSlotBack, letGo, limitRest
        lostAgain: pausing until 6, pause, sendAgain, giveSlotBack
        lostUnsentAgain: session, askSession anew, sendAgain, giveSlotBack
        ringSilentAgain: pausing until 6, pause, sendAgain, giveSlotBack, stop
        ringPause: sending 7, deadline 11
        pauseNoted: sending 7, leavePause
        oldRetry: receiving 503, accepted 7
        offline: pausing until 6, pause, sendAgain, giveSlotBack
        refusedByDestination: sending 7
        """,
        .sendingUnsigned: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, part, bigPart,
            sinkFailed, bodyKept, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: sending
        slotSigned, slotUnsigned, admittedWithSlot: sending, giveSlotBack
        cancelled: ended cancelled maybeSent holding a slot, tell, no deadline, stop
        ringEarly: sending, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, tell, no deadline, stop
        head200: receiving 200
        head401: receiving 401
        head302: lane, enterLane, giveSlotBack, letGo, limitRest
        head302Last: ended -1007 answered holding a slot, tell, no deadline, stop
        headWithCookie: receiving 200, keepCookies
        finished: ended -1011 maybeSent, tell, no deadline, giveSlotBack
        lostUnsent: ended -1004 notSent, tell, no deadline, giveSlotBack
        lost: ended -1005 maybeSent, tell, no deadline, giveSlotBack
        streamed200: receiving 200 without slot, deadline 11, giveSlotBack
        spent401: receiving 401
        spent307: receiving 307 spent
        paused, goesOn, oldPaused, networkReturned: sending
        busy: pausing until 6, pause, sendAgain, giveSlotBack, letGo, limitRest
        busyAtOnce: lane, enterLane, sendAgain, giveSlotBack, letGo, limitRest
        lostAgain: pausing until 6, pause, sendAgain, giveSlotBack
        lostUnsentAgain: lane, enterLane, sendAgain, giveSlotBack
        ringSilentAgain: pausing until 6, pause, sendAgain, giveSlotBack, stop
        ringPause: sending, deadline 11
        pauseNoted: sending, leavePause
        oldRetry: receiving 503
        offline: pausing until 6, pause, sendAgain, giveSlotBack
        refusedByDestination: sending
        """,
        .sendingToken: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, slotSigned, slotUnsigned,
            sent, part, bigPart, sinkFailed, bodyKept, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept,
            oldLost, oldHead: sending
        admittedWithSlot: sending, giveSlotBack
        cancelled: ended cancelled maybeSent, tell, no deadline, stop
        ringEarly: sending, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent, tell, no deadline, stop
        head200, headWithCookie: receiving 200 without slot
        head401: receiving 401 without slot
        head302, head302Last: receiving 302 without slot
        finished: ended -1011 maybeSent, tell, no deadline
        lostUnsent: ended -1004 notSent, tell, no deadline
        lost: ended -1005 maybeSent, tell, no deadline
        streamed200: receiving 200 without slot, deadline 11
        spent401: receiving 401 without slot
        spent307: receiving 307 without slot
        paused, goesOn, oldPaused, networkReturned: sending
        busy, busyAtOnce: receiving 503 without slot
        lostAgain: ended -1005 maybeSent, tell, no deadline
        lostUnsentAgain: ended -1004 notSent, tell, no deadline
        ringSilentAgain: ended -1001 maybeSent, tell, no deadline, stop
        ringPause: sending, deadline 11
        pauseNoted: sending, leavePause
        oldRetry: receiving 503 without slot
        offline: ended -1009 notSent, tell, no deadline
        refusedByDestination: sending
        """,
        .receiving: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, head200, head401,
            head302, head302Last, headWithCookie, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost,
            oldHead: receiving 200
        slotSigned, slotUnsigned, admittedWithSlot: receiving 200, giveSlotBack
        cancelled: ended cancelled answered holding a slot, tell, no deadline, stop
        ringEarly: receiving 200, deadline 11
        ringSilent, ringOver: ended -1001 answered holding a slot, tell, no deadline, stop
        part, bigPart: receiving 200, keepPart
        sinkFailed: ended -1103 maybeSent holding a slot, tell, no deadline, stop
        finished: ended 200, deliver, no deadline, giveSlotBack
        bodyKept: ended 200 with 2 bytes, tell, no deadline, giveSlotBack
        lostUnsent: ended -1004 answered, tell, no deadline, giveSlotBack
        lost: ended -1005 answered, tell, no deadline, giveSlotBack
        streamed200, spent401, spent307, oldPaused, networkReturned: receiving 200
        paused: receiving 200 paused, deadline 100
        goesOn: receiving 200, deadline 11
        oldRetry, busy, busyAtOnce: receiving 200
        lostAgain: pausing until 6, pause, sendAgain, giveSlotBack
        lostUnsentAgain: session, askSession anew, sendAgain, giveSlotBack
        ringSilentAgain: pausing until 6, pause, sendAgain, giveSlotBack, stop
        ringPause: receiving 200, deadline 11
        pauseNoted: receiving 200, leavePause
        offline: pausing until 6, pause, sendAgain, giveSlotBack
        refusedByDestination: receiving 200
        """,
        .receivingRefused: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, head200, head401,
            head302, head302Last, headWithCookie, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost,
            oldHead: receiving 401 without slot
        slotSigned, slotUnsigned, admittedWithSlot: receiving 401 without slot, giveSlotBack
        cancelled: ended cancelled answered, tell, no deadline, stop, releaseNotice
        ringEarly: receiving 401 without slot, deadline 11
        ringSilent, ringOver: ended -1001 answered, tell, no deadline, stop, releaseNotice
        part, bigPart: receiving 401 without slot, keepPart
        sinkFailed: ended -1103 maybeSent, tell, no deadline, stop, releaseNotice
        finished: ended 401, deliver, no deadline, releaseNotice
        bodyKept: ended 401 with 2 bytes, tell, no deadline, releaseNotice
        lostUnsent: ended -1004 answered, tell, no deadline, releaseNotice
        lost: ended -1005 answered, tell, no deadline, releaseNotice
        streamed200, spent401, spent307, oldPaused, networkReturned: receiving 401 without slot
        paused: receiving 401 without slot paused, deadline 100
        goesOn: receiving 401 without slot, deadline 11
        oldRetry, busy, busyAtOnce: receiving 401 without slot
        lostAgain: ended -1005 answered, tell, no deadline, releaseNotice
        lostUnsentAgain: ended -1004 answered, tell, no deadline, releaseNotice
        ringSilentAgain: ended -1001 answered, tell, no deadline, stop, releaseNotice
        ringPause: receiving 401 without slot, deadline 11
        pauseNoted: receiving 401 without slot, leavePause
        offline: ended -1009 answered, tell, no deadline, releaseNotice
        refusedByDestination: receiving 401 without slot
        """,
        .sendingStream: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, part, bigPart,
            sinkFailed, bodyKept, restExpired, oldRestExpired, paused, goesOn, oldPaused, networkReturned, oldPart,
            oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: sending 7
        slotSigned, slotUnsigned, admittedWithSlot: sending 7, giveSlotBack
        cancelled: ended cancelled maybeSent holding a slot, tell, no deadline, stop
        ringEarly: sending 7, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, tell, no deadline, stop
        head200: receiving 200, accepted 7
        head401: session after a 401 (0), retry 7, giveSlotBack, limitRest
        head302: session, askSession anew, accepted 7, giveSlotBack, letGo, limitRest
        head302Last: ended -1007 answered holding a slot, tell, no deadline, accepted 7, stop
        headWithCookie: receiving 200, accepted 7, keepCookies
        finished: ended -1011 maybeSent, tell, no deadline, giveSlotBack
        streamed200: receiving 200 without slot, deadline 11, accepted 7, giveSlotBack
        spent401: receiving 401 spent, rejected 7
        spent307: receiving 307 spent, accepted 7
        lostUnsent: ended -1004 notSent, tell, no deadline, giveSlotBack
        lost: ended -1005 maybeSent, tell, no deadline, giveSlotBack
        busy: pausing until 6, pause, accepted 7, sendAgain, giveSlotBack, letGo, limitRest
        busyAtOnce: session, askSession anew, accepted 7, sendAgain, giveSlotBack, letGo, limitRest
        lostAgain: pausing until 6, pause, sendAgain, giveSlotBack
        lostUnsentAgain: session, askSession anew, sendAgain, giveSlotBack
        ringSilentAgain: pausing until 6, pause, sendAgain, giveSlotBack, stop
        ringPause: sending 7, deadline 11
        pauseNoted: sending 7, leavePause
        oldRetry: receiving 503, accepted 7
        offline: pausing until 6, pause, sendAgain, giveSlotBack
        refusedByDestination: sending 7
        """,
        .receivingStream: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, head200, head401,
            head302, head302Last, headWithCookie, restExpired, oldRestExpired, streamed200, spent401,
            spent307, oldPaused, networkReturned, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: receiving 200 without slot
        slotSigned, slotUnsigned, admittedWithSlot: receiving 200 without slot, giveSlotBack
        cancelled: ended cancelled answered, tell, no deadline, stop
        ringEarly, goesOn: receiving 200 without slot, deadline 11
        ringSilent, ringOver: ended -1001 answered, tell, no deadline, stop
        part, bigPart: receiving 200 without slot, keepPart
        sinkFailed: ended -1103 maybeSent, tell, no deadline, stop
        finished: ended 200, deliver, no deadline
        bodyKept: ended 200 with 2 bytes, tell, no deadline
        paused: receiving 200 without slot paused, no deadline
        lostUnsent: ended -1004 answered, tell, no deadline
        lost: ended -1005 answered, tell, no deadline
        oldRetry, busy, busyAtOnce: receiving 200 without slot
        lostAgain: ended -1005 answered, tell, no deadline
        lostUnsentAgain: ended -1004 answered, tell, no deadline
        ringSilentAgain: ended -1001 answered, tell, no deadline, stop
        ringPause: receiving 200 without slot, deadline 11
        pauseNoted: receiving 200 without slot, leavePause
        offline: ended -1009 answered, tell, no deadline
        refusedByDestination: session, askSession anew, deadline 101, stop
        """,
        .receivingPaused: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, head200, head401,
            head302, head302Last, headWithCookie, restExpired, oldRestExpired, streamed200, spent401,
            spent307, oldPaused, networkReturned, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: receiving 200 without slot paused
        slotSigned, slotUnsigned, admittedWithSlot: receiving 200 without slot paused, giveSlotBack
        cancelled: ended cancelled answered, tell, no deadline, stop
        ringEarly, ringSilent, ringOver, paused: receiving 200 without slot paused, no deadline
        part, bigPart: receiving 200 without slot paused, keepPart
        sinkFailed: ended -1103 maybeSent, tell, no deadline, stop
        finished: ended 200, deliver, no deadline
        bodyKept: ended 200 with 2 bytes, tell, no deadline
        goesOn: receiving 200 without slot, deadline 11
        lostUnsent: ended -1004 answered, tell, no deadline
        lost: ended -1005 answered, tell, no deadline
        oldRetry, busy, busyAtOnce: receiving 200 without slot paused
        lostAgain: ended -1005 answered, tell, no deadline
        lostUnsentAgain: ended -1004 answered, tell, no deadline
        ringSilentAgain, ringPause: receiving 200 without slot paused, no deadline
        pauseNoted: receiving 200 without slot paused, leavePause
        offline: ended -1009 answered, tell, no deadline
        refusedByDestination: session, askSession anew, deadline 101, stop
        """,
        .receivingSpent: """
        admitted, queuedBySession, refusedMissing, refusedOver, queuedForSlot, sent, head200, head401,
            head302, head302Last, headWithCookie, restExpired, oldRestExpired, streamed200, spent401,
            spent307, oldPaused, networkReturned, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: receiving 307 spent
        slotSigned, slotUnsigned, admittedWithSlot: receiving 307 spent, giveSlotBack
        cancelled: ended cancelled answered holding a slot, tell, no deadline, stop
        ringEarly, goesOn: receiving 307 spent, deadline 11
        ringSilent, ringOver: ended -1001 answered holding a slot, tell, no deadline, stop
        part, bigPart: receiving 307 spent, keepPart
        sinkFailed: ended -1103 maybeSent holding a slot, tell, no deadline, stop
        finished: ended 307 with a spent body, deliver, no deadline, giveSlotBack
        bodyKept: ended 307 with 2 bytes, tell, no deadline, giveSlotBack
        paused: receiving 307 paused spent, deadline 100
        lostUnsent: ended -1004 answered, tell, no deadline, giveSlotBack
        lost: ended -1005 answered, tell, no deadline, giveSlotBack
        oldRetry, busy, busyAtOnce: receiving 307 spent
        lostAgain: ended -1005 answered, tell, no deadline, giveSlotBack
        lostUnsentAgain: ended -1004 answered, tell, no deadline, giveSlotBack
        ringSilentAgain: ended -1001 answered holding a slot, tell, no deadline, stop
        ringPause: receiving 307 spent, deadline 11
        pauseNoted: receiving 307 spent, leavePause
        offline: ended -1009 answered, tell, no deadline, giveSlotBack
        refusedByDestination: receiving 307 spent
        """,
        .pausing: """
        admitted, queuedBySession, queuedForSlot, sent, head200, head401, head302, head302Last, headWithCookie, part,
            bigPart, sinkFailed, finished, bodyKept, restExpired, oldRestExpired, streamed200, spent401, spent307,
            paused, goesOn, oldPaused, networkReturned, lostUnsent, lost, oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain, oldPart,
            oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: pausing until 6
        refusedMissing, refusedOver: ended authentication answered, tell, no deadline, leavePause
        slotSigned, slotUnsigned, admittedWithSlot: pausing until 6, giveSlotBack
        cancelled: ended cancelled answered, tell, no deadline, leavePause
        ringEarly, pauseNoted: pausing until 6, deadline 6
        ringPause, ringSilent, ringSilentAgain: session, askSession anew, leavePause
        ringOver: ended -1001 answered, tell, no deadline, leavePause
        offline: pausing until 6
        refusedByDestination: pausing until 6
        """,
        .pausingUnsigned: """
        admitted, queuedBySession, queuedForSlot, sent, head200, head401, head302, head302Last, headWithCookie, part,
            bigPart, sinkFailed, finished, bodyKept, restExpired, oldRestExpired, streamed200, spent401, spent307,
            paused, goesOn, oldPaused, networkReturned, lostUnsent, lost, oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain, oldPart,
            oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: pausing until 6
        refusedMissing, refusedOver: ended authentication answered, tell, no deadline, leavePause
        slotSigned, slotUnsigned, admittedWithSlot: pausing until 6, giveSlotBack
        cancelled: ended cancelled answered, tell, no deadline, leavePause
        ringEarly, pauseNoted: pausing until 6, deadline 6
        ringPause, ringSilent, ringSilentAgain: lane, enterLane, leavePause
        ringOver: ended -1001 answered, tell, no deadline, leavePause
        offline: pausing until 6
        refusedByDestination: pausing until 6
        """,
        .pausingForNetwork: """
        admitted, queuedBySession, queuedForSlot, sent, head200, head401, head302, head302Last, headWithCookie, part,
            bigPart, sinkFailed, finished, bodyKept, restExpired, oldRestExpired, streamed200, spent401, spent307,
            paused, goesOn, oldPaused, lostUnsent, lost, oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain, oldPart,
            oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: pausing until 6
        refusedMissing, refusedOver: ended authentication notSent, tell, no deadline, leavePause
        slotSigned, slotUnsigned, admittedWithSlot: pausing until 6, giveSlotBack
        cancelled: ended cancelled notSent, tell, no deadline, leavePause
        ringEarly, pauseNoted: pausing until 6, deadline 6
        networkReturned, ringPause, ringSilent, ringSilentAgain: session, askSession anew, leavePause
        ringOver: ended -1009 notSent, tell, no deadline, leavePause
        offline: pausing until 6
        refusedByDestination: pausing until 6
        """,
        .ended: """
        admitted, refusedMissing, refusedOver, cancelled, ringEarly, ringSilent, ringOver, sent, head200,
            head401, head302, head302Last, headWithCookie, part, bigPart, sinkFailed, finished, bodyKept,
            lostUnsent, lost, restExpired, oldRestExpired, oldPart, oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: ended 200
        queuedBySession: ended 200, leaveSession
        queuedForSlot: ended 200, leaveLane
        slotSigned, slotUnsigned, admittedWithSlot: ended 200, giveSlotBack
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: ended 200
        oldRetry, busy, busyAtOnce, lostAgain, lostUnsentAgain, ringSilentAgain, ringPause: ended 200
        pauseNoted: ended 200, leavePause
        offline: ended 200
        refusedByDestination: ended 200
        """,
        .endedHoldingSlot: """
        admitted, restExpired, oldRestExpired, refusedMissing, refusedOver, cancelled, ringEarly, ringSilent, ringOver, sent, head200,
            head401, head302, head302Last, headWithCookie, part, bigPart, sinkFailed, bodyKept, oldPart,
            oldSinkFailed, oldFinished, oldBodyKept, oldLost, oldHead: ended cancelled answered holding a slot
        queuedBySession: ended cancelled answered holding a slot, leaveSession
        queuedForSlot: ended cancelled answered holding a slot, leaveLane
        slotSigned, slotUnsigned, admittedWithSlot: ended cancelled answered holding a slot, giveSlotBack
        finished, lostUnsent, lost: ended cancelled answered, giveSlotBack
        streamed200, spent401, spent307, paused, goesOn, oldPaused, networkReturned: ended cancelled answered holding a slot
        oldRetry, busy, busyAtOnce, ringSilentAgain, ringPause: ended cancelled answered holding a slot
        lostAgain, lostUnsentAgain: ended cancelled answered, giveSlotBack
        pauseNoted: ended cancelled answered holding a slot, leavePause
        offline: ended cancelled answered, giveSlotBack
        refusedByDestination: ended cancelled answered holding a slot
        """,
    ]

    /// What a step is, in the table's words.
    static func describe(_ step: ExchangeMachine.Step, _ machine: ExchangeMachine) -> String {
        var words = [describe(machine)]
        switch step.action {
        case .nothing: break
        case .askSession(let isAnew): words.append(isAnew ? "askSession anew" : "askSession")
        case .retry(let version): words.append("retry \(version)")
        case .pause: words.append("pause")
        case .enterLane(let keepsPlace): words.append(keepsPlace ? "enterLane in its place" : "enterLane")
        case .askSessionWithSlot: words.append("askSessionWithSlot")
        case .sign: words.append("sign")
        case .send: words.append("send")
        case .keepPart: words.append("keepPart")
        case .keepBody: words.append("keepBody")
        case .deliver: words.append("deliver")
        case .tell: words.append("tell")
        }
        switch step.deadline {
        case .none: break
        case .set(let instant, _): words.append("deadline \(instant.nanoseconds / 1_000_000_000)")
        case .removed: words.append("no deadline")
        }
        if let version = step.acceptedVersion { words.append("accepted \(version)") }
        if let version = step.rejectedVersion { words.append("rejected \(version)") }
        let names: [(ExchangeMachine.Effects, String)] = [
            (.keepCookies, "keepCookies"), (.leaveSession, "leaveSession"), (.leaveLane, "leaveLane"),
            (.leavePause, "leavePause"), (.sendAgain, "sendAgain"),
            (.giveSlotBack, "giveSlotBack"), (.stop, "stop"), (.letGo, "letGo"),
            (.keepNotice, "keepNotice"), (.releaseNotice, "releaseNotice"), (.limitRest, "limitRest"),
        ]
        words += names.filter { step.effects.contains($0.0) }.map(\.1)
        return words.joined(separator: ", ")
    }

    private static func describe(_ machine: ExchangeMachine) -> String {
        switch machine.state {
        case .waitingForSession(let rejection, let keepsPlace):
            let body =
                switch rejection?.body {
                case nil: ""
                case .arriving(let received): " after a 401 (\(received))"
                case .complete: " after a 401 (complete)"
                case .givenUp: " after a 401 (given up)"
                }
            return "session\(body)\(keepsPlace ? " in its place" : "")"
        case .waitingForSlot(let keepsPlace): return keepsPlace ? "lane in its place" : "lane"
        case .pausing(let until): return "pausing until \(until.nanoseconds / 1_000_000_000)"
        case .sending(_, let version): return "sending\(version.map { " \($0)" } ?? "")"
        case .receiving(let transmission, let head):
            return "receiving \(head.statusCode)\(transmission.holdsSlot ? "" : " without slot")"
                + (transmission.isPaused ? " paused" : "") + (transmission.needsSpentBody ? " spent" : "")
        case .ended(let outcome, let holdsSlot):
            return "ended \(describe(outcome))\(holdsSlot ? " holding a slot" : "")"
        }
    }

    private static func describe(_ outcome: ExchangeMachine.Outcome) -> String {
        switch outcome {
        case .answer(let head): "\(head.statusCode)"
        case .rejection(let head, let body): "\(head.statusCode) with \(body.count) bytes"
        case .bodyNotRepeatable(let head): "\(head.statusCode) with a spent body"
        case .failure(.cancelled(let delivery)): "cancelled \(delivery)"
        case .failure(.authentication(let error)): "authentication \(error.delivery)"
        case .failure(.session(let error as URLError)): "\(error.code.rawValue) \(AtomError.session(error).delivery)"
        case .failure: "failure"
        }
    }
}
