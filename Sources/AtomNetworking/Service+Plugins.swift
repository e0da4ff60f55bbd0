import Foundation

// What is inside the app's plugins.
extension Service {
    /// Sends the request through the plugins; they begin in a task.
    @inline(never)
    func plug(
        _ sender: any PluggedSender, _ chain: PluginChain, listener: Exchange.Listener
    ) throws(AtomError) -> PluggedRequest {
        let timeouts: RequestTimeouts
        do throws(AtomError) {
            timeouts = try (requestable.timeout ?? manager.timeout).checked()
        } catch {
            manager.preparation.refused(requestable, error)
            throw error
        }
        let request = PluggedRequest(
            requestable, timeouts: timeouts, sender: sender, listener: listener, manager: manager)
        request.start(chain)
        return request
    }

    /// Sends the request for a response in memory through the plugins.
    ///
    /// - Parameter person: Whose response it has to be; `nil` for whoever is signed in.
    @inline(never)
    func plug(
        _ progress: ProgressReporter?, _ chain: PluginChain, of person: Tenure?, listener: Exchange.Listener
    ) throws(AtomError) -> PluggedRequest {
        try plug(MemorySender(service: self, progress: progress, person: person), chain, listener: listener)
    }

    /// Opens a stream through the plugins, and waits for its head.
    func openPlugged(_ chain: PluginChain) async throws(AtomError) -> (StreamHandle, AtomResponse) {
        let sender = StreamSender(service: self)
        let response = try await PendingResponse(plug(sender, chain, listener: .awaiting)).response()
        guard let handle = sender.stream.value else { throw .unexpected }
        return (handle, response)
    }

    /// Opens a stream of events through the plugins, and waits for its head.
    func openPlugged(
        _ chain: PluginChain, reconnection: Reconnection, lastEventID: String
    ) async throws(AtomError) -> (EventSource, AtomResponse) {
        let sender = EventSender(service: self, reconnection: reconnection, lastEventID: lastEventID)
        let response = try await PendingResponse(plug(sender, chain, listener: .awaiting)).response()
        guard let source = sender.source.value else { throw .unexpected }
        return (source, response)
    }
}

/// Sends requests for responses in memory.
private struct MemorySender: PluggedSender {
    let service: Service
    let progress: ProgressReporter?
    /// Whose response it has to be; `nil` for whoever is signed in.
    let person: Tenure?
    let product: String? = nil

    func start(_ requestable: any Requestable, within duration: Duration) throws(AtomError) -> any PluggedExchange {
        var request = try service.manager.prepare(requestable)
        if let person { request.tenure = person }
        // Callers with different deadlines would share nothing.
        let isLimited = !request.sharesIdenticalRequests || progress != nil
        if isLimited { request.timeouts = request.timeouts.ending(within: duration) }
        let outcome = FirstValue<Result<AtomResponse, AtomError>>()
        let running = service.run(
            request, of: requestable, listener: .completion({ outcome.settle($0) }), progress: progress?.another())
        return Call(isLimited: isLimited, running: running, outcome: outcome)
    }

    func end() { progress?.end() }
}

/// Sends requests whose bodies are written to a file.
struct DownloadSender: PluggedSender {
    let service: Service
    let progress: ProgressReporter?
    /// Prepares a download of an endpoint.
    let prepare:
        @Sendable (any Requestable, ProgressReporter?) throws(AtomError) -> (
            request: PreparedRequest, download: FileDownload
        )
    var product: String? { "file" }

    func start(_ requestable: any Requestable, within duration: Duration) throws(AtomError) -> any PluggedExchange {
        var (request, download) = try prepare(requestable, progress?.another())
        request.timeouts = request.timeouts.ending(within: duration)
        let outcome = FirstValue<Result<AtomResponse, AtomError>>()
        let running = service.run(request, to: download) { outcome.settle($0) }
        return Call(isLimited: true, running: running, outcome: outcome)
    }

    func end() { progress?.end() }
}

/// A request, or a download.
private struct Call: PluggedExchange {
    let isLimited: Bool
    let running: any RunningRequest
    let outcome: FirstValue<Result<AtomResponse, AtomError>>

    func response() async throws(AtomError) -> AtomResponse {
        let result = await withTaskCancellationHandler {
            await outcome.value()
        } onCancel: {
            running.cancel()
        }
        return try result.get()
    }

    func cancel() { running.cancel() }

    var delivery: AtomError.Delivery {
        switch outcome.known {
        case .success: .answered
        case .failure(let error): error.delivery
        case nil: .maybeSent
        }
    }
}

/// The last of several values.
private final class LastValue<T: Sendable>: Sendable {
    private let state = Guarded<T?>(nil)

    var value: T? { state.withLock { $0 } }

    /// The one before is released outside the lock.
    func set(_ value: T) {
        let last = state.withLock { state in
            defer { state = value }
            return state
        }
        withExtendedLifetime(last) {}
    }
}

/// Opens streams.
private struct StreamSender: PluggedSender {
    let service: Service
    let stream = LastValue<StreamHandle>()
    var product: String? { "stream" }

    func start(_ requestable: any Requestable, within duration: Duration) throws(AtomError) -> any PluggedExchange {
        var request = try service.manager.prepare(requestable)
        request.timeouts = request.timeouts.ending(within: duration)
        let handle = service.manager.openStream(request)
        return Opening(handle: handle) { [stream, caching = service.caching, request] () async throws(AtomError) in
            do throws(AtomError) {
                let response = try await handle.stream.head()
                caching?.passed(request, .success(response))
                stream.set(handle)
                return response
            } catch {
                caching?.passed(request, .failure(error))
                throw error
            }
        }
    }

    func end() {}
}

/// Opens streams of events.
private struct EventSender: PluggedSender {
    let service: Service
    let reconnection: Reconnection
    let lastEventID: String
    let source = LastValue<EventSource>()
    var product: String? { "stream" }

    func start(_ requestable: any Requestable, within duration: Duration) throws(AtomError) -> any PluggedExchange {
        let request = try service.prepareEvents(requestable, lastEventID: lastEventID)
        let events = EventSource(
            request, lastEventID: lastEventID, reconnection: reconnection, manager: service.manager)
        let handle = events.connect(within: duration)
        return Opening(handle: handle) { [source, caching = service.caching, request] () async throws(AtomError) in
            do throws(AtomError) {
                let response = try await events.head(of: handle)
                caching?.passed(request, .success(response))
                source.set(events)
                return response
            } catch {
                caching?.passed(request, .failure(error))
                throw error
            }
        }
    }

    func end() {}
}

/// A stream, until its head is there.
private struct Opening: PluggedExchange {
    let handle: StreamHandle
    let head: @Sendable () async throws(AtomError) -> AtomResponse
    let isLimited = true

    func response() async throws(AtomError) -> AtomResponse { try await head() }

    func cancel() { handle.stream.drop() }

    var delivery: AtomError.Delivery { handle.stream.delivery }
}
