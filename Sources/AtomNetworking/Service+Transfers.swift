import Foundation

// Uploads with progress, and downloads to files.
extension Service {
    // The progress comes first: a closure behind the call is meant for the result. Once the deprecated order is gone, it
    // can't be taken for the progress.

    /// Sends the request, tells the progress of its body, and decodes the response.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let receipt = try await atom.enqueue(Photo.upload(file)).resume(
    ///     progress: { print($0.fraction ?? 0) }, expecting: Receipt.self)
    /// ```
    ///
    /// - Parameters:
    ///   - progress: Called on the configuration's queue, at most thirty times a second, and always when the body has
    ///     been sent. It begins anew when the request is sent again.
    ///   - type: The type of the response's body.
    /// - Returns: The decoded body.
    /// - Throws: ``AtomError``, as ``resume(expecting:)`` does.
    public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        progress: @escaping @Sendable (TransferProgress) -> Void, expecting type: T.Type
    ) async throws(AtomError) -> T {
        let pending = try begin(progress: reporter(progress))
        defer { manager.resultHandler?() }
        do {
            return try await pending.model()
        } catch {
            throw announced(error)
        }
    }

    /// Sends the request and writes the body of the response to a file.
    ///
    /// The body is written beside the destination and moved there when it is complete, in place of a file that is
    /// there. A failure or a cancellation leaves nothing behind, unless the download is resumable. The body of an
    /// unsuccessful response is collected in memory, and is in the error.
    ///
    /// A signed download ends with ``AuthenticationError/signedOut(delivery:)`` when its person signs out, or somebody
    /// signs in: it replaces no file of whoever comes next.
    ///
    /// `timeout.resource` ends with the head of the response;
    /// `timeout.request` limits the time in which nothing arrives.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// try await atom.enqueue(Departures(airport: "SEA")).download(
    ///     progress: { print($0.fraction ?? 0) }, to: file, isResumable: true)
    /// ```
    ///
    /// - Parameters:
    ///   - progress: Called on the configuration's queue, at most thirty
    ///     times a second, and always when the body is complete.
    ///   - fileURL: The destination. Its folder must exist.
    ///   - isResumable: Whether a download that fails leaves `NAME.partial` and `NAME.partial.json` beside the
    ///     destination, with which the next one goes on (RFC 9110 §14), for the same URL and the same person. The
    ///     server must send a strong `ETag`. If the file has changed on the server, it is downloaded from its
    ///     beginning.
    ///   - identity: What is downloaded, in place of the URL, if that changes although it names the same: a signed URL
    ///     with a new signature. A partial file is continued only for the same identity.
    ///   - maximumSize: A limit in bytes; `nil` for none.
    /// - Returns: The response without its body.
    /// - Throws: ``AtomError``; ``AtomError/transfer(_:)`` if the file can't be written.
    @discardableResult
    public nonisolated(nonsending) func download(
        progress: (@Sendable (TransferProgress) -> Void)? = nil, to fileURL: URL, isResumable: Bool = false,
        identity: String? = nil, maximumSize: Int64? = nil
    ) async throws(AtomError) -> AtomResponse {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        defer { manager.resultHandler?() }
        if let chain = manager.plugins {
            let sender = sender(to: fileURL, isResumable, identity, maximumSize, reporter(progress))
            do {
                return try await PendingResponse(plug(sender, chain, listener: .awaiting)).response()
            } catch {
                throw announced(error)
            }
        }
        let (request, download) = try prepareDownload(
            requestable, to: fileURL, isResumable, identity, maximumSize, reporter(progress))
        let pending = PendingResponse(manager.run(request, listener: .awaiting, destination: download))
        let outcome = await pending.result()
        caching?.passed(request, outcome)
        do {
            return try download.checked(outcome.get())
        } catch {
            throw announced(download.givenUp(error))
        }
    }

    /// Sends the request, tells the progress of its body, and calls the completion once.
    ///
    /// Both closures are called on the configuration's queue, the completion last.
    ///
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    public func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, progress: @escaping @Sendable (TransferProgress) -> Void,
        completion: @escaping @Sendable (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        start(decoding: type, progress: reporter(progress), deliver: onQueue(completion))
    }

    /// Writes the body of the response to a file and calls the completion once, on the configuration's queue.
    ///
    /// - Returns: A handle that can cancel the download.
    @discardableResult
    public func download(
        to fileURL: URL, isResumable: Bool = false, identity: String? = nil, maximumSize: Int64? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completion: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        download(to: fileURL, isResumable, identity, maximumSize, reporter(progress), deliver: onQueue(completion))
    }

    /// Sends the request, tells the progress of its body, and calls the completion once, both on the main actor.
    ///
    /// The completion is called last.
    ///
    /// - Returns: A handle that can cancel the request.
    @discardableResult
    // A trailing closure is called on the queue, as before there was this form.
    @_disfavoredOverload
    public func resume<T: Decodable & Sendable>(
        // The type must be usable on every actor: make it a `nonisolated struct`, or a `Model`.
        expecting type: T.Type, progress: @escaping @MainActor (TransferProgress) -> Void,
        onMainActor completion: @escaping @MainActor (Result<T, AtomError>) -> Void
    ) -> ServiceTask {
        start(decoding: type, progress: ProgressReporter(onMainActor: progress), deliver: onMainActor(completion))
    }

    /// Writes the body of the response to a file and calls the completion once,
    /// as it does the progress, on the main actor.
    ///
    /// - Returns: A handle that can cancel the download.
    @discardableResult
    // A trailing closure is called on the queue, as before there was this form.
    @_disfavoredOverload
    public func download(
        to fileURL: URL, isResumable: Bool = false, identity: String? = nil, maximumSize: Int64? = nil,
        progress: (@MainActor (TransferProgress) -> Void)? = nil,
        onMainActor completion: @escaping @MainActor (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        download(
            to: fileURL, isResumable, identity, maximumSize, progress.map { ProgressReporter(onMainActor: $0) },
            deliver: onMainActor(completion))
    }

    /// - Parameter deliver: Called on any thread, and also inside this method.
    private func download(
        to fileURL: URL, _ isResumable: Bool, _ identity: String?, _ maximumSize: Int64?,
        _ progress: ProgressReporter?, deliver: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) -> ServiceTask {
        do {
            if let chain = manager.plugins {
                let sender = sender(to: fileURL, isResumable, identity, maximumSize, progress)
                return ServiceTask(try plug(sender, chain, listener: .completion(deliver)))
            }
            let (request, download) = try prepareDownload(
                requestable, to: fileURL, isResumable, identity, maximumSize, progress)
            return ServiceTask(run(request, to: download, deliver: deliver))
        } catch {
            deliver(.failure(error))
            return ServiceTask(nil)
        }
    }

    /// - Parameter deliver: Called on any thread, when nothing more is written.
    func run(
        _ request: PreparedRequest, to download: FileDownload,
        deliver: @escaping @Sendable (Result<AtomResponse, AtomError>) -> Void
    ) -> Exchange {
        let listener = Exchange.Listener.completion { [caching] result in
            caching?.passed(request, result)
            deliver(
                Result { () throws(AtomError) in try download.checked(result.get()) }
                    .mapError { download.givenUp($0) })
        }
        return manager.run(request, listener: listener, destination: download)
    }

    private func sender(
        to fileURL: URL, _ isResumable: Bool, _ identity: String?, _ maximumSize: Int64?,
        _ progress: ProgressReporter?
    ) -> DownloadSender {
        DownloadSender(service: self, progress: progress) { [self] (requestable, progress) throws(AtomError) in
            try prepareDownload(requestable, to: fileURL, isResumable, identity, maximumSize, progress)
        }
    }

    private func reporter(_ progress: (@Sendable (TransferProgress) -> Void)?) -> ProgressReporter? {
        progress.map { ProgressReporter(on: manager.dispatchQueue, $0) }
    }

    private func prepareDownload(
        _ requestable: any Requestable, to fileURL: URL, _ isResumable: Bool, _ identity: String?,
        _ maximumSize: Int64?,
        _ progress: ProgressReporter?
    ) throws(AtomError) -> (PreparedRequest, FileDownload) {
        var request = try manager.prepare(requestable)
        let place = try check(request, of: requestable) { () throws(AtomError) in
            try DownloadPlace(fileURL, isResumable: isResumable)
        }
        let download = FileDownload(
            place, of: request, isResumable: isResumable, identity: identity, limit: maximumSize,
            progress: progress, time: manager.time, session: manager.session)
        // Ranges, lengths and progress count the bytes of the file.
        request.set("Accept-Encoding", "identity")
        return (request, download)
    }
}

// MARK: - Deprecated

extension Service {
    /// Sends the request, tells the progress of its body, and decodes the response.
    @available(
        *, deprecated,
        message: "Write resume(progress:expecting:). A closure for the response has the label completion:."
    )
    public nonisolated(nonsending) func resume<T: Decodable & Sendable>(
        expecting type: T.Type, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(AtomError) -> T {
        try await resume(progress: progress, expecting: type)
    }

    /// Writes the body of the response to a file.
    @available(
        *, deprecated, message: "Write download(progress:to:). A closure for the response has the label completion:."
    )
    @discardableResult
    public nonisolated(nonsending) func download(
        to fileURL: URL, isResumable: Bool = false, identity: String? = nil, maximumSize: Int64? = nil,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws(AtomError) -> AtomResponse {
        try await download(
            progress: progress, to: fileURL, isResumable: isResumable, identity: identity, maximumSize: maximumSize)
    }
}
