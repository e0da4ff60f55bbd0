import Foundation

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What each event comes to in each state, where that is no matter of course.
///
/// A cell lists the state after the event, and the commands in their order.
enum ExchangeTable {
    static let rows: [ExchangeSample: String] = [
        .asksSession: """
        admittedWithSlot: lane in its place, sign at 3
        admitted: lane, enterLane
        queuedBySession, ringEarly, ringSilent, ringLooks, ringSilentAgain, ringPause: session, deadline 100
        refusedMissing, refusedOver: ended authentication notSent, leaveSession, tell, releaseNotice
        cancelled: ended cancelled notSent, leaveSession, tell
        ringOver, ringOverLooks: ended authentication notSent, leaveSession, tell
        refusedOffline: pausing until 6, noteRetry, pause, releaseNotice
        """,
        .rejectedAndArriving: """
        admittedWithSlot: lane in its place, letGo, sign at 3
        admitted: lane, letGo, enterLane
        queuedBySession, ringEarly, ringSilent, ringLooks, ringSilentAgain, ringPause: session after a 401 (0), deadline 100
        refusedMissing: receiving 401 that was rejected, deadline 11
        refusedOver: ended authentication answered, no deadline, leaveSession, stop, tell, releaseNotice
        cancelled: ended cancelled answered, no deadline, leaveSession, stop, tell
        ringOver, ringOverLooks: ended authentication answered, no deadline, leaveSession, stop, tell
        part: session after a 401 (1), keepPart
        bigPart, sinkFailed, restExpired, refusedByDestination: session after a 401 (given up), stop
        finished: session after a 401 (0), keepBody
        bodyKept: session after a 401 (complete)
        lostUnsent, lost, offline, lostAgain, lostUnpaid, lostUnsentAgain,
            lostOffered: session after a 401 (given up), abandonBody
        refusedOffline: pausing until 6, stop, noteRetry, pause, releaseNotice
        bodyRejected: session after a 401 (complete)
        """,
        .rejectedAndComplete: """
        admittedWithSlot: lane in its place, sign at 3
        admitted: lane, enterLane
        queuedBySession, ringEarly, ringSilent, ringLooks, ringSilentAgain,
            ringPause: session after a 401 (complete), deadline 100
        refusedMissing: ended 401 with 2 bytes, no deadline, tell, releaseNotice
        refusedOver: ended authentication answered, no deadline, leaveSession, tell, releaseNotice
        cancelled: ended cancelled answered, no deadline, leaveSession, tell
        ringOver, ringOverLooks: ended authentication answered, no deadline, leaveSession, tell
        refusedOffline: pausing until 6, noteRetry, pause, releaseNotice
        """,
        .rejectedAndGivenUp: """
        admittedWithSlot: lane in its place, sign at 3
        admitted: lane, enterLane
        queuedBySession, ringEarly, ringSilent, ringLooks, ringSilentAgain,
            ringPause: session after a 401 (given up), deadline 100
        refusedMissing: ended 401 cut, no deadline, tell, releaseNotice
        refusedOver: ended authentication answered, no deadline, leaveSession, tell, releaseNotice
        cancelled: ended cancelled answered, no deadline, leaveSession, tell
        ringOver, ringOverLooks: ended authentication answered, no deadline, leaveSession, tell
        refusedOffline: pausing until 6, noteRetry, pause, releaseNotice
        """,
        .keepsItsPlace: """
        admitted: lane in its place, enterLane at 3
        queuedBySession, ringEarly, ringSilent, ringLooks, ringSilentAgain, ringPause: session in its place, deadline 100
        refusedMissing, refusedOver: ended authentication notSent, leaveSession, tell, releaseNotice
        admittedWithSlot: lane in its place, sign at 3
        cancelled: ended cancelled notSent, leaveSession, tell
        ringOver, ringOverLooks: ended authentication notSent, leaveSession, tell
        refusedOffline: pausing until 6, noteRetry, pause, releaseNotice
        """,
        .standsInLane: """
        queuedForSlot: lane in its place, deadline 100
        slotSigned: sending 7, deadline 11, send
        slotUnsigned: session in its place, askSessionWithSlot at 3
        cancelled: ended cancelled notSent, tell
        ringEarly, ringSilent, ringLooks, ringSilentAgain, ringPause: lane, deadline 100
        ringOver, ringOverLooks: ended -1001 notSent, tell
        slotUseless: ended authentication notSent, tell, giveSlotBack
        """,
        .sendingSigned: """
        ringLooks: sending 7, deadline 50, look
        ringOverLooks: sending 7, deadline 100, look
        cancelled: ended cancelled maybeSent holding a slot, no deadline, stop, tell
        ringEarly, ringPause: sending 7, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, no deadline, stop, tell
        head200: receiving 200, accepted 7
        head404: receiving 404 as an error, accepted 7
        head401: session after a 401 (0), noteRetryAfter 401, limitRest, rejected 7, askSession, giveSlotBack
        head302: session, accepted 7, noteRedirect, letGo, askSession, giveSlotBack
        head302Last: ended -1007 answered holding a slot, accepted 7, no deadline, stop, tell
        headWithCookie: receiving 200, keepCookies, accepted 7
        finished: ended -1011 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        spent401: receiving 401 spent, rejected 7
        spent307: receiving 307 spent, accepted 7
        streamed200: streaming 200, accepted 7, deadline 11, giveSlotBack, openDestination
        lostUnsent: ended -1004 notSent, abandonBody, no deadline, tell, giveSlotBack
        lost: ended -1005 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        offline: pausing until 6, abandonBody, giveSlotBack, noteRetry, pause
        busy: pausing until 6, accepted 7, payForRetry, noteRetry, letGo, pause, giveSlotBack
        busyUnpaid: receiving 503 as an error, accepted 7, payForRetry
        busyAtOnce: session, accepted 7, payForRetry, noteRetry, letGo, askSession, giveSlotBack
        lostAgain: pausing until 6, abandonBody, giveSlotBack, payForRetry, noteRetry, pause
        lostUnpaid: ended -1005 maybeSent, abandonBody, giveSlotBack, payForRetry, no deadline, tell
        lostUnsentAgain: session, abandonBody, giveSlotBack, payForRetry, noteRetry, askSession
        ringSilentAgain: pausing until 55, stop, giveSlotBack, payForRetry, noteRetry, pause
        busyOffered: paying, accepted 7, payForRetry
        lostOffered: paying, abandonBody, giveSlotBack, payForRetry
        rejected403: session after a 401 (0), noteRetryAfter 403, limitRest, rejected 7, askSession, giveSlotBack
        judged400: judging 400
        judgedSpent400: receiving 400 as an error
        unproven401: session, letGo, askSession, giveSlotBack
        unprovenSpent401: receiving 401 spent
        """,
        .sendingSignedAgain: """
        ringLooks: sending 7, deadline 50, look
        ringOverLooks: sending 7, deadline 100, look
        cancelled: ended cancelled maybeSent holding a slot, no deadline, stop, tell
        ringEarly, ringPause: sending 7, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, no deadline, stop, tell
        head200: receiving 200, accepted 7
        head404: receiving 404 as an error, accepted 7
        head401, spent401: receiving 401 as an error
        head302: session, accepted 7, noteRedirect, letGo, askSession, giveSlotBack
        head302Last: ended -1007 answered holding a slot, accepted 7, no deadline, stop, tell
        headWithCookie: receiving 200, keepCookies, accepted 7
        finished: ended -1011 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        spent307: receiving 307 spent, accepted 7
        streamed200: streaming 200, accepted 7, deadline 11, giveSlotBack, openDestination
        lostUnsent: ended -1004 answered, abandonBody, no deadline, tell, giveSlotBack
        lost: ended -1005 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        offline: pausing until 6, abandonBody, giveSlotBack, noteRetry, pause
        busy: pausing until 6, accepted 7, payForRetry, noteRetry, letGo, pause, giveSlotBack
        busyUnpaid: receiving 503 as an error, accepted 7, payForRetry
        busyAtOnce: session, accepted 7, payForRetry, noteRetry, letGo, askSession, giveSlotBack
        lostAgain: pausing until 6, abandonBody, giveSlotBack, payForRetry, noteRetry, pause
        lostUnpaid: ended -1005 maybeSent, abandonBody, giveSlotBack, payForRetry, no deadline, tell
        lostUnsentAgain: session, abandonBody, giveSlotBack, payForRetry, noteRetry, askSession
        ringSilentAgain: pausing until 55, stop, giveSlotBack, payForRetry, noteRetry, pause
        busyOffered: paying, accepted 7, payForRetry
        lostOffered: paying, abandonBody, giveSlotBack, payForRetry
        rejected403: receiving 403 as an error
        judged400: judging 400
        judgedSpent400: receiving 400 as an error
        unproven401: session, letGo, askSession, giveSlotBack
        unprovenSpent401: receiving 401 spent
        """,
        .sendingUnsigned: """
        whole: ended 200, no deadline, deliver, giveSlotBack
        ringLooks: sending, deadline 50, look
        ringOverLooks: sending, deadline 100, look
        cancelled: ended cancelled maybeSent holding a slot, no deadline, stop, tell
        ringEarly, ringPause: sending, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, no deadline, stop, tell
        head200: receiving 200
        head404: receiving 404 as an error
        head401, spent401: receiving 401 as an error
        head302: lane, noteRedirect, letGo, enterLane, giveSlotBack
        head302Last: ended -1007 answered holding a slot, no deadline, stop, tell
        headWithCookie: receiving 200, keepCookies
        finished: ended -1011 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        spent307: receiving 307 spent
        streamed200: streaming 200, deadline 11, giveSlotBack, openDestination
        lostUnsent: ended -1004 notSent, abandonBody, no deadline, tell, giveSlotBack
        lost: ended -1005 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        offline: pausing until 6, abandonBody, giveSlotBack, noteRetry, pause
        busy: pausing until 6, payForRetry, noteRetry, letGo, pause, giveSlotBack
        busyUnpaid: receiving 503 as an error, payForRetry
        busyAtOnce: lane, payForRetry, noteRetry, letGo, enterLane, giveSlotBack
        lostAgain: pausing until 6, abandonBody, giveSlotBack, payForRetry, noteRetry, pause
        lostUnpaid: ended -1005 maybeSent, abandonBody, giveSlotBack, payForRetry, no deadline, tell
        lostUnsentAgain: lane, abandonBody, giveSlotBack, payForRetry, noteRetry, enterLane
        ringSilentAgain: pausing until 55, stop, giveSlotBack, payForRetry, noteRetry, pause
        busyOffered: paying, payForRetry
        lostOffered: paying, abandonBody, giveSlotBack, payForRetry
        rejected403: receiving 403 as an error
        judged400, judgedSpent400: receiving 400 as an error
        unproven401, unprovenSpent401: receiving 401 as an error
        """,
        .sendingToken: """
        whole: ended 200, no deadline, deliver
        ringLooks: sending, deadline 50, look
        ringOverLooks: sending, deadline 100, look
        slotSigned, slotUnsigned, admittedWithSlot, slotUseless: sending
        cancelled: ended cancelled maybeSent, no deadline, stop, tell
        ringEarly, ringPause: sending, deadline 11
        ringSilent, ringSilentAgain: sending, deadline 3650, tellOverdue
        ringOver: sending, deadline 3700, tellOverdue
        head200, headWithCookie: receiving 200
        head404: receiving 404
        head401, spent401: receiving 401
        head302, head302Last: receiving 302
        finished: ended -1011 maybeSent, abandonBody, no deadline, tell
        spent307: receiving 307
        streamed200: streaming 200, deadline 11, openDestination
        lostUnsent, lostUnsentAgain: ended -1004 notSent, abandonBody, no deadline, tell
        lost, lostAgain, lostUnpaid, lostOffered: ended -1005 maybeSent, abandonBody, no deadline, tell
        offline: ended -1009 notSent, abandonBody, no deadline, tell
        busy, busyUnpaid, busyAtOnce, busyOffered: receiving 503
        rejected403: receiving 403
        judged400, judgedSpent400: receiving 400
        unproven401, unprovenSpent401: receiving 401
        """,
        .overdueToken: """
        whole: ended 200, no deadline, deliver
        slotSigned, slotUnsigned, admittedWithSlot, slotUseless: sending
        cancelled: ended cancelled maybeSent, no deadline, stop, tell
        ringEarly, ringPause, ringSilent, ringOver, ringSilentAgain, ringLooks, ringOverLooks: sending, deadline 3700
        head200, headWithCookie: receiving 200
        head404: receiving 404
        head401, spent401: receiving 401
        head302, head302Last: receiving 302
        finished: ended -1011 maybeSent, abandonBody, no deadline, tell
        spent307: receiving 307
        streamed200: streaming 200, no deadline, openDestination
        lostUnsent, lostUnsentAgain: ended -1004 notSent, abandonBody, no deadline, tell
        lost, lostAgain, lostUnpaid, lostOffered: ended -1005 maybeSent, abandonBody, no deadline, tell
        offline: ended -1009 notSent, abandonBody, no deadline, tell
        busy, busyUnpaid, busyAtOnce, busyOffered: receiving 503
        rejected403: receiving 403
        judged400, judgedSpent400: receiving 400
        unproven401, unprovenSpent401: receiving 401
        """,
        .receiving: """
        ringLooks: receiving 200, deadline 50, look
        ringOverLooks: receiving 200, deadline 100, look
        cancelled: ended cancelled answered holding a slot, no deadline, stop, tell
        ringEarly, ringPause: receiving 200, deadline 11
        ringSilent, ringOver: ended -1001 answered holding a slot, no deadline, stop, tell
        part, bigPart: receiving 200, keepPart
        sinkFailed, refusedByDestination: ended -1103 maybeSent holding a slot, no deadline, stop, tell
        finished: ended 200, no deadline, deliver, giveSlotBack
        bodyKept: ended 200 with 2 bytes, no deadline, tell, giveSlotBack
        lostUnsent: ended -1004 answered, abandonBody, no deadline, tell, giveSlotBack
        lost: ended -1005 answered, abandonBody, no deadline, tell, giveSlotBack
        offline: pausing until 6, abandonBody, giveSlotBack, noteRetry, pause
        lostAgain: pausing until 6, abandonBody, giveSlotBack, payForRetry, noteRetry, pause
        lostUnpaid: ended -1005 answered, abandonBody, giveSlotBack, payForRetry, no deadline, tell
        lostUnsentAgain: session, abandonBody, giveSlotBack, payForRetry, noteRetry, askSession
        ringSilentAgain: pausing until 55, stop, giveSlotBack, payForRetry, noteRetry, pause
        lostOffered: paying, abandonBody, giveSlotBack, payForRetry
        bodyRejected: ended 200 with 2 bytes, no deadline, tell, giveSlotBack
        """,
        .receivingRefused: """
        ringLooks: receiving 401 that was rejected, deadline 50, look
        ringOverLooks: receiving 401 that was rejected, deadline 100, look
        cancelled: ended cancelled answered, no deadline, stop, tell, releaseNotice
        ringEarly, ringPause: receiving 401 that was rejected, deadline 11
        ringSilent, ringOver, ringSilentAgain: ended 401 cut, no deadline, stop, tell, releaseNotice
        part, bigPart: receiving 401 that was rejected, keepPart
        sinkFailed, refusedByDestination: ended 401 cut, no deadline, deliverPart, releaseNotice, stop
        finished: ended 401, no deadline, deliver, releaseNotice
        bodyKept: ended 401 with 2 bytes, no deadline, tell, releaseNotice
        lostUnsent, lostUnsentAgain, lost, lostAgain, lostUnpaid, lostOffered,
            offline: ended 401 cut, no deadline, deliverPart, releaseNotice
        bodyRejected: ended 401 with 2 bytes, no deadline, tell, releaseNotice
        """,
        .sendingStream: """
        ringLooks: sending 7, deadline 50, look
        ringOverLooks: sending 7, deadline 100, look
        cancelled: ended cancelled maybeSent holding a slot, no deadline, stop, tell
        ringEarly, ringPause: sending 7, deadline 11
        ringSilent, ringOver: ended -1001 maybeSent holding a slot, no deadline, stop, tell
        head200: receiving 200, accepted 7
        head404: receiving 404 as an error, accepted 7
        head401: session after a 401 (0), noteRetryAfter 401, limitRest, rejected 7, askSession, giveSlotBack
        head302: session, accepted 7, noteRedirect, letGo, askSession, giveSlotBack
        head302Last: ended -1007 answered holding a slot, accepted 7, no deadline, stop, tell
        headWithCookie: receiving 200, keepCookies, accepted 7
        finished: ended -1011 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        spent401: receiving 401 spent, rejected 7
        spent307: receiving 307 spent, accepted 7
        streamed200: streaming 200, accepted 7, deadline 11, giveSlotBack, openDestination
        lostUnsent: ended -1004 notSent, abandonBody, no deadline, tell, giveSlotBack
        lost: ended -1005 maybeSent, abandonBody, no deadline, tell, giveSlotBack
        offline: pausing until 6, abandonBody, giveSlotBack, noteRetry, pause
        busy: pausing until 6, accepted 7, payForRetry, noteRetry, letGo, pause, giveSlotBack
        busyUnpaid: receiving 503 as an error, accepted 7, payForRetry
        busyAtOnce: session, accepted 7, payForRetry, noteRetry, letGo, askSession, giveSlotBack
        lostAgain: pausing until 6, abandonBody, giveSlotBack, payForRetry, noteRetry, pause
        lostUnpaid: ended -1005 maybeSent, abandonBody, giveSlotBack, payForRetry, no deadline, tell
        lostUnsentAgain: session, abandonBody, giveSlotBack, payForRetry, noteRetry, askSession
        ringSilentAgain: pausing until 55, stop, giveSlotBack, payForRetry, noteRetry, pause
        busyOffered: paying, accepted 7, payForRetry
        lostOffered: paying, abandonBody, giveSlotBack, payForRetry
        rejected403: session after a 401 (0), noteRetryAfter 403, limitRest, rejected 7, askSession, giveSlotBack
        judged400: judging 400
        judgedSpent400: receiving 400 as an error
        unproven401: session, letGo, askSession, giveSlotBack
        unprovenSpent401: receiving 401 spent
        """,
        .receivingStream: """
        ringLooks: streaming 200, deadline 50, look
        ringOverLooks: streaming 200, deadline 100, look
        cancelled: ended cancelled answered, no deadline, stop, tell
        ringEarly, goesOn, ringPause: streaming 200, deadline 11
        ringSilent, ringOver, ringSilentAgain: ended -1001 answered, no deadline, stop, tell
        part, bigPart: streaming 200, keepPart
        sinkFailed: ended -1103 maybeSent, no deadline, stop, tell
        finished: ended 200, no deadline, deliver
        bodyKept: ended 200 with 2 bytes, no deadline, tell
        refusedByDestination: session, noteRetryAfter 200, askSession, deadline 101, stop
        paused: streaming 200 paused, no deadline
        lostUnsent, lostUnsentAgain: ended -1004 answered, abandonBody, no deadline, tell
        lost, lostAgain, lostUnpaid, lostOffered: ended -1005 answered, abandonBody, no deadline, tell
        offline: ended -1009 answered, abandonBody, no deadline, tell
        bodyRejected: ended 200 with 2 bytes, no deadline, tell
        """,
        .receivingPaused: """
        ringLooks, ringOverLooks: streaming 200 paused, no deadline
        cancelled: ended cancelled answered, no deadline, stop, tell
        ringEarly, ringSilent, ringOver, paused, ringSilentAgain, ringPause: streaming 200 paused, no deadline
        part, bigPart: streaming 200 paused, keepPart
        sinkFailed: ended -1103 maybeSent, no deadline, stop, tell
        finished: ended 200, no deadline, deliver
        bodyKept: ended 200 with 2 bytes, no deadline, tell
        refusedByDestination: session, noteRetryAfter 200, askSession, deadline 101, stop
        goesOn: streaming 200, deadline 11
        lostUnsent, lostUnsentAgain: ended -1004 answered, abandonBody, no deadline, tell
        lost, lostAgain, lostUnpaid, lostOffered: ended -1005 answered, abandonBody, no deadline, tell
        offline: ended -1009 answered, abandonBody, no deadline, tell
        bodyRejected: ended 200 with 2 bytes, no deadline, tell
        """,
        .receivingSpent: """
        ringLooks: receiving 307 spent, deadline 50, look
        ringOverLooks: receiving 307 spent, deadline 100, look
        cancelled: ended cancelled answered holding a slot, no deadline, stop, tell
        ringEarly, ringPause: receiving 307 spent, deadline 11
        ringSilent, ringOver, ringSilentAgain: ended 307 cut holding a slot, no deadline, stop, tell
        part, bigPart: receiving 307 spent, keepPart
        sinkFailed, refusedByDestination: ended 307 cut holding a slot, no deadline, deliverPart, stop
        finished: ended 307, no deadline, deliver as an error, giveSlotBack
        bodyKept: ended 307 with 2 bytes, no deadline, tell, giveSlotBack
        lostUnsent, lostUnsentAgain, lost, lostAgain, lostUnpaid, lostOffered,
            offline: ended 307 cut, no deadline, deliverPart, giveSlotBack
        bodyRejected: ended 307 with 2 bytes, no deadline, tell, giveSlotBack
        """,
        .judgedAndComplete: """
        cancelled: ended cancelled answered, no deadline, stop, tell
        part, bigPart: judging 400, complete, keepPart
        sinkFailed, refusedByDestination: ended 400 cut, no deadline, deliverPart, stop
        finished: judging 400, complete, keepBody
        bodyKept: ended 400 with 2 bytes, accepted 7, no deadline, tell
        bodyRejected: session after a 401 (complete), noteRetryAfter 400, rejected 7, askSession
        lostUnsent, lost, offline,
        lostAgain, lostUnpaid, lostUnsentAgain, lostOffered: ended 400 cut, no deadline, deliverPart
        """,
        .endedWhileJudged: """
        queuedBySession: ended cancelled answered, leaveSession
        queuedForSlot: ended cancelled answered, leaveLane at 3
        """,
        .receivingJudged: """
        cancelled: ended cancelled answered holding a slot, no deadline, stop, tell
        ringEarly, ringPause: judging 400, deadline 11
        ringSilent, ringOver, ringSilentAgain: ended 400 cut holding a slot, no deadline, stop, tell
        ringLooks: judging 400, deadline 50, look
        ringOverLooks: judging 400, deadline 100, look
        part, bigPart: judging 400, keepPart
        sinkFailed, refusedByDestination: ended 400 cut holding a slot, no deadline, deliverPart, stop
        finished: judging 400, complete, keepBody, giveSlotBack
        bodyKept: ended 400 with 2 bytes, accepted 7, no deadline, tell, giveSlotBack
        bodyRejected: session after a 401 (complete), noteRetryAfter 400, rejected 7, askSession, giveSlotBack
        lostUnsent, lost, offline,
        lostAgain, lostUnpaid, lostUnsentAgain, lostOffered: ended 400 cut, no deadline, deliverPart, giveSlotBack
        """,
        .receivingError: """
        ringLooks: receiving 404 as an error, deadline 50, look
        ringOverLooks: receiving 404 as an error, deadline 100, look
        cancelled: ended cancelled answered holding a slot, no deadline, stop, tell
        ringEarly, ringPause: receiving 404 as an error, deadline 11
        ringSilent, ringOver, ringSilentAgain: ended 404 cut holding a slot, no deadline, stop, tell
        part, bigPart: receiving 404 as an error, keepPart
        sinkFailed, refusedByDestination: ended 404 cut holding a slot, no deadline, deliverPart, stop
        finished: ended 404, no deadline, deliver, giveSlotBack
        bodyKept: ended 404 with 2 bytes, no deadline, tell, giveSlotBack
        lostUnsent, lostUnsentAgain, lost, lostAgain, lostUnpaid, lostOffered,
            offline: ended 404 cut, no deadline, deliverPart, giveSlotBack
        bodyRejected: ended 404 with 2 bytes, no deadline, tell, giveSlotBack
        """,
        .payingAfterHead: """
        cancelled: ended cancelled answered holding a slot, no deadline, stop, tell
        ringEarly, ringSilent, ringLooks, ringSilentAgain, ringPause: paying, deadline 100
        ringOver, ringOverLooks: ended -1001 answered holding a slot, no deadline, stop, tell
        paid: pausing until 6, noteRetry, letGo, pause, giveSlotBack
        unpaid: receiving 503 as an error
        """,
        .payingAfterLoss: """
        cancelled: ended cancelled maybeSent, no deadline, tell
        ringEarly, ringSilent, ringLooks, ringSilentAgain, ringPause: paying, deadline 100
        ringOver, ringOverLooks: ended -1001 maybeSent, no deadline, tell
        paid: pausing until 6, noteRetry, pause
        unpaid: ended -1005 maybeSent, no deadline, tell
        """,
        .pausing: """
        refusedMissing, refusedOver,
            refusedOffline: ended authentication answered, no deadline, leavePause, giveBack 5, tell, releaseNotice
        cancelled: ended cancelled answered, no deadline, leavePause, giveBack 5, tell
        ringEarly, pauseNoted: pausing until 6, deadline 6
        ringSilent, ringLooks, ringSilentAgain, ringPause: session, leavePause, askSession
        ringOver, ringOverLooks: ended -1001 answered, no deadline, leavePause, giveBack 5, tell
        """,
        .pausingUnsigned: """
        refusedMissing, refusedOver,
            refusedOffline: ended authentication answered, no deadline, leavePause, giveBack 5, tell, releaseNotice
        cancelled: ended cancelled answered, no deadline, leavePause, giveBack 5, tell
        ringEarly, pauseNoted: pausing until 6, deadline 6
        ringSilent, ringLooks, ringSilentAgain, ringPause: lane, leavePause, enterLane
        ringOver, ringOverLooks: ended -1001 answered, no deadline, leavePause, giveBack 5, tell
        """,
        .pausingForNetwork: """
        refusedMissing, refusedOver,
            refusedOffline: ended authentication notSent, no deadline, leavePause, tell, releaseNotice
        cancelled: ended cancelled notSent, no deadline, leavePause, tell
        ringEarly, pauseNoted: pausing until 6, deadline 6
        ringSilent, ringLooks, networkReturned, ringSilentAgain, ringPause: session, leavePause, askSession
        ringOver, ringOverLooks: ended -1009 notSent, no deadline, leavePause, tell
        """,
        .ended: """
        queuedBySession: ended 200, leaveSession
        queuedForSlot: ended 200, leaveLane at 3
        """,
        .endedHoldingSlot: """
        queuedBySession: ended cancelled answered holding a slot, leaveSession
        queuedForSlot: ended cancelled answered holding a slot, leaveLane at 3
        finished, lostUnsent, lost, offline, lostAgain, lostUnpaid, lostUnsentAgain,
            lostOffered: ended cancelled answered, abandonBody, giveSlotBack
        """,
    ]

    /// What a step is, in the table's words.
    static func describe(_ commands: [ExchangeMachine.Command], _ machine: ExchangeMachine) -> String {
        ([describe(machine)] + commands.map(describe)).joined(separator: ", ")
    }

    private static func describe(_ command: ExchangeMachine.Command) -> String {
        switch command {
        case .askSessionWithSlot(let place): "askSessionWithSlot at \(place)"
        case .tokenAccepted(let version): "accepted \(version)"
        case .tokenRejected(let version): "rejected \(version)"
        case .enterLane(let place): place.map { "enterLane at \($0)" } ?? "enterLane"
        case .leaveLane(let place): "leaveLane at \(place)"
        case .sign(let place): "sign at \(place)"
        case .limitRest(let isKept): isKept ? "limitRest" : "letGo"
        case .giveBack(let cost): "giveBack \(cost)"
        case .setDeadline(let instant, _): "deadline \(instant.nanoseconds / 1_000_000_000)"
        case .removeDeadline: "no deadline"
        case .deliver(let isError): isError ? "deliver as an error" : "deliver"
        case .noteRetryAfter(let status): "noteRetryAfter \(status)"
        default: "\(command)"
        }
    }

    /// What is always done to undo a command that came too late.
    static func remedy(_ event: ExchangeEvent) -> String? {
        switch event {
        case .slotSigned, .slotUnsigned, .slotUseless, .admittedWithSlot: "giveSlotBack"
        case .pauseNoted: "leavePause"
        case .part, .bigPart, .oldPart: "dropPart"
        case .finished, .oldFinished, .lost, .lostUnsent, .lostAgain, .lostUnpaid, .lostUnsentAgain, .lostOffered,
            .offline, .oldLost:
            "abandonBody"
        case .refusedMissing, .refusedOver, .refusedOffline: "releaseNotice"
        case .paid, .oldPaid: "giveBack 14"
        default: nil
        }
    }

    static func describe(_ machine: ExchangeMachine) -> String {
        switch machine.state {
        case .waitingForSession(let rejection, let place):
            let body =
                switch rejection?.body {
                case nil: ""
                case .arriving(let received): " after a 401 (\(received))"
                case .complete: " after a 401 (complete)"
                case .givenUp: " after a 401 (given up)"
                }
            return "session\(body)\(place == nil ? "" : " in its place")"
        case .waitingForSlot(let place): return place == nil ? "lane" : "lane in its place"
        case .paying: return "paying"
        case .pausing(let until): return "pausing until \(until.nanoseconds / 1_000_000_000)"
        case .sending(let version, _): return "sending\(version.map { " \($0)" } ?? "")"
        case .receiving(let head, .whole): return "receiving \(head.statusCode)"
        case .receiving(let head, .unacceptable): return "receiving \(head.statusCode) as an error"
        case .receiving(let head, .judged(_, _, let isComplete)):
            return "judging \(head.statusCode)\(isComplete ? ", complete" : "")"
        case .receiving(let head, .bodyNotRepeatable): return "receiving \(head.statusCode) spent"
        case .receiving(let head, .rejected): return "receiving \(head.statusCode) that was rejected"
        case .receiving(let head, .streamed(let isPaused)):
            return "streaming \(head.statusCode)\(isPaused ? " paused" : "")"
        case .ended(let outcome, let holdsSlot):
            return "ended \(describe(outcome))\(holdsSlot ? " holding a slot" : "")"
        }
    }

    private static func describe(_ outcome: ExchangeMachine.Outcome) -> String {
        switch outcome {
        case .response(let head): "\(head.statusCode)"
        case .rejection(let head, let body): "\(head.statusCode) with \(body.count) bytes"
        case .cut(let head, _, _): "\(head.statusCode) cut"
        case .failure(.cancelled(let delivery)): "cancelled \(delivery)"
        case .failure(.authentication(let error)): "authentication \(error.delivery)"
        case .failure(.session(let error as URLError)): "\(error.code.rawValue) \(AtomError.session(error).delivery)"
        case .failure: "failure"
        }
    }
}
