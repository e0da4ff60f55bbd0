import AtomNetworking
import Combine
import Foundation
import Testing

@Suite("Publishers", .limited)
struct PublisherTests {
    struct Seat: Model, Equatable {
        var row: Int
    }

    struct SeatEndpoint: Requestable {
        var pathString = "/v1/seat"
        var requiresAuthorization: Bool { false }
        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        func path() throws(AtomError) -> URLPath { try URLPath(pathString) }
    }

    private func service(
        _ transport: ScriptedTransport, endpoint: SeatEndpoint = SeatEndpoint()
    ) -> Service {
        // Longer than the suite may take, so that no deadline ends a wait of
        // the test.
        let timeout = ServiceTimeout(request: 600, resource: 600)
        var configuration = ServiceConfiguration(dispatchQueue: DeliveryQueue.queue, timeout: timeout)
        configuration.transport = transport
        return Atom(serviceConfiguration: configuration).enqueue(endpoint)
    }

    // MARK: Demand

    @Test("Making a publisher sends nothing, and so does a subscriber that asks for nothing")
    func nothingIsSentBeforeDemand() async {
        let transport = ScriptedTransport()
        let publisher = service(transport).publisher(expecting: Seat.self)
        let subscriber = RecordingSubscriber<Seat>(demand: .none)
        publisher.subscribe(subscriber)
        subscriber.request(.none)
        await DeliveryQueue.drain()
        #expect(transport.paths == [])
        #expect(subscriber.events.all.isEmpty)
    }

    @Test("The first demand sends the request before it returns, later demand sends nothing")
    func firstDemandSends() {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<Seat>(demand: .none)
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        subscriber.request(.max(1))
        #expect(transport.paths == ["/v1/seat"])
        subscriber.request(.max(3))
        subscriber.request(.unlimited)
        #expect(transport.paths == ["/v1/seat"])
    }

    @Test("Demand that comes when the answer was delivered sends nothing")
    func lateDemandSendsNothing() async throws {
        let transport = ScriptedTransport { $0.answer(#"{"row": 7}"#) }
        let subscriber = RecordingSubscriber<Seat>(demand: .max(1))
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        try await subscriber.events.first(2)
        subscriber.request(.unlimited)
        await DeliveryQueue.drain()
        #expect(transport.paths.count == 1)
        #expect(subscriber.events.all.count == 2)
    }

    // MARK: Outcome

    @Test("A model arrives once, on the configured queue, and then the end")
    func modelArrives() async throws {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<Seat>(demand: .unlimited)
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        try #require(transport.started.all.first).answer(#"{"row": 7}"#)
        let events = try await subscriber.events.first(2)
        guard case .value(let seat, isOnQueue: true) = events[0], case .finished(isOnQueue: true) = events[1] else {
            Issue.record("\(events)")
            return
        }
        #expect(seat == Seat(row: 7))
    }

    @Test("Without an expected model the response arrives unchanged")
    func responseArrives() async throws {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<AtomResponse>(demand: .max(1))
        service(transport).publisher().subscribe(subscriber)
        try #require(transport.started.all.first).answer("plain", status: 201)
        let events = try await subscriber.events.first(2)
        guard case .value(let response, isOnQueue: true) = events[0], case .finished(isOnQueue: true) = events[1] else {
            Issue.record("\(events)")
            return
        }
        #expect(response.statusCode == 201)
        #expect(response.data == Data("plain".utf8))
    }

    @Test("An answer from inside the transport's start loses nothing")
    func answerAtOnce() async throws {
        let transport = ScriptedTransport { $0.answer(#"{"row": 1}"#) }
        let subscriber = RecordingSubscriber<Seat>(demand: .unlimited)
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        let events = try await subscriber.events.first(2)
        guard case .value(Seat(row: 1), isOnQueue: true) = events[0], case .finished = events[1] else {
            Issue.record("\(events)")
            return
        }
    }

    @Test("A status that isn't acceptable is a failure and no value")
    func statusFails() async throws {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<AtomResponse>(demand: .unlimited)
        service(transport).publisher().subscribe(subscriber)
        try #require(transport.started.all.first).answer("no", status: 503)
        let events = try await subscriber.events.first(1)
        guard case .failed(.response(let response), isOnQueue: true) = events[0] else {
            Issue.record("\(events)")
            return
        }
        #expect(response.statusCode == 503)
        await DeliveryQueue.drain()
        #expect(subscriber.events.all.count == 1)
    }

    @Test("A body that isn't the model is a decoder failure")
    func decodingFails() async throws {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<Seat>(demand: .unlimited)
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        try #require(transport.started.all.first).answer("{}")
        let events = try await subscriber.events.first(1)
        guard case .failed(.decoder, isOnQueue: true) = events[0] else {
            Issue.record("\(events)")
            return
        }
    }

    @Test("An invalid request fails on the queue, not inside the demand, and sends nothing")
    func invalidRequestFails() async throws {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<AtomResponse>(demand: .none)
        service(transport, endpoint: SeatEndpoint(pathString: "no slash")).publisher().subscribe(subscriber)
        subscriber.request(.max(1))
        let events = try await subscriber.events.first(1)
        guard case .failed(.requestable(.invalidURLPath), isOnQueue: true) = events[0] else {
            Issue.record("\(events)")
            return
        }
        #expect(transport.paths == [])
    }

    @Test("The subscriber is released after the response was delivered")
    func subscriberIsReleased() async throws {
        let transport = ScriptedTransport { $0.answer(#"{"row": 1}"#) }
        weak var released: RecordingSubscriber<Seat>?
        let publisher = service(transport).publisher(expecting: Seat.self)
        do {
            let subscriber = RecordingSubscriber<Seat>(demand: .unlimited)
            released = subscriber
            publisher.subscribe(subscriber)
            try await subscriber.events.first(2)
        }
        await DeliveryQueue.drain()
        #expect(released == nil)
    }

    @Test("Nothing is left when the answer was delivered before the demand returned")
    func nothingIsLeft() async throws {
        weak var released: ScriptedTransport?
        do {
            let transport = ScriptedTransport { exchange in
                exchange.answer(#"{"row": 1}"#)
                DeliveryQueue.queue.sync {}
            }
            released = transport
            let subscriber = RecordingSubscriber<Seat>(demand: .unlimited)
            service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
            try await subscriber.events.first(2)
        }
        await DeliveryQueue.drain()
        #expect(released == nil)
    }

    // MARK: Cancellation

    @Test("Cancelling cancels the exchange, and the subscriber gets nothing more")
    func cancellingCancels() async throws {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<Seat>(demand: .unlimited)
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        let exchange = try #require(transport.started.all.first)
        subscriber.cancel()
        try await exchange.cancellations.first(1)
        exchange.answer(#"{"row": 7}"#)
        subscriber.cancel()
        await DeliveryQueue.drain()
        #expect(subscriber.events.all.isEmpty)
        #expect(transport.paths.count == 1)
    }

    @Test("A cancellation during the start cancels the exchange")
    func cancellingDuringTheStart() async throws {
        let subscriber = RecordingSubscriber<Seat>(demand: .none)
        let transport = ScriptedTransport { _ in subscriber.cancel() }
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        subscriber.request(.max(1))
        try await #require(transport.started.all.first).cancellations.first(1)
        await DeliveryQueue.drain()
        #expect(subscriber.events.all.isEmpty)
    }

    @Test("A subscription that is cancelled before any demand sends nothing")
    func cancellingBeforeDemandSendsNothing() async {
        let transport = ScriptedTransport()
        let subscriber = RecordingSubscriber<Seat>(demand: .none)
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        subscriber.cancel()
        subscriber.request(.unlimited)
        await DeliveryQueue.drain()
        #expect(transport.paths == [])
        #expect(subscriber.events.all.isEmpty)
    }

    @Test("Cancelling after the end cancels nothing")
    func cancellingAfterTheEnd() async throws {
        let transport = ScriptedTransport { $0.answer(#"{"row": 1}"#) }
        let subscriber = RecordingSubscriber<Seat>(demand: .unlimited)
        service(transport).publisher(expecting: Seat.self).subscribe(subscriber)
        try await subscriber.events.first(2)
        subscriber.cancel()
        await DeliveryQueue.drain()
        #expect(subscriber.events.all.count == 2)
        #expect(try #require(transport.started.all.first).cancellations.all.isEmpty)
    }

    @Test("Letting go of a sink's token cancels the exchange")
    func droppingTheTokenCancels() async throws {
        let transport = ScriptedTransport()
        var token: AnyCancellable? = service(transport).publisher().sink(
            receiveCompletion: { _ in Issue.record("the subscription was cancelled") },
            receiveValue: { _ in Issue.record("the subscription was cancelled") })
        let exchange = try #require(transport.started.all.first)
        withExtendedLifetime(token) {}
        token = nil
        try await exchange.cancellations.first(1)
        await DeliveryQueue.drain()
    }

    // MARK: Several subscribers

    @Test("A second subscriber sends again and gets its own response")
    func secondSubscriberSendsAgain() async throws {
        let transport = ScriptedTransport()
        let publisher = service(transport).publisher(expecting: Seat.self)
        let first = RecordingSubscriber<Seat>(demand: .unlimited)
        let second = RecordingSubscriber<Seat>(demand: .unlimited)
        publisher.subscribe(first)
        publisher.subscribe(second)
        let exchanges = try await transport.started.first(2)
        exchanges[1].answer(#"{"row": 2}"#)
        exchanges[0].answer(#"{"row": 1}"#)
        guard case .value(Seat(row: 1), _) = try await first.events.first(2)[0],
            case .value(Seat(row: 2), _) = try await second.events.first(2)[0]
        else {
            Issue.record("\(first.events.all) \(second.events.all)")
            return
        }
    }

    @Test("One subscriber's cancellation leaves the other alone")
    func cancellationIsOnesOwn() async throws {
        let transport = ScriptedTransport()
        let publisher = service(transport).publisher(expecting: Seat.self)
        let first = RecordingSubscriber<Seat>(demand: .unlimited)
        let second = RecordingSubscriber<Seat>(demand: .unlimited)
        publisher.subscribe(first)
        publisher.subscribe(second)
        let exchanges = try await transport.started.first(2)
        first.cancel()
        try await exchanges[0].cancellations.first(1)
        exchanges[1].answer(#"{"row": 2}"#)
        #expect(try await second.events.first(2).count == 2)
        #expect(exchanges[1].cancellations.all.isEmpty)
        #expect(first.events.all.isEmpty)
    }

    @Test("Answers and cancellations that race end in two events or in none")
    func answersRaceCancellations() async throws {
        let transport = ScriptedTransport()
        let publisher = service(transport).publisher(expecting: Seat.self)
        let subscribers = (0..<200).map { _ in RecordingSubscriber<Seat>(demand: .none) }
        for subscriber in subscribers {
            publisher.subscribe(subscriber)
            subscriber.request(.max(1))
        }
        await withTaskGroup(of: Void.self) { group in
            for (subscriber, exchange) in zip(subscribers, transport.started.all) {
                group.addTask { exchange.answer(#"{"row": 1}"#) }
                group.addTask { subscriber.cancel() }
            }
        }
        // On the queue, where every delivery is complete.
        let counts = await DeliveryQueue.drain { subscribers.map(\.events.all.count) }
        #expect(counts.allSatisfy { $0 == 0 || $0 == 2 })
        // The service still works.
        let last = RecordingSubscriber<Seat>(demand: .unlimited)
        publisher.subscribe(last)
        try await transport.started.first(201)[200].answer(#"{"row": 1}"#)
        try await last.events.first(2)
    }
}
