import Foundation

/// A response that is written beside its destination, and moved there when it is complete.
final class FileDownload: ResponseDestination {
    /// What an earlier download has left, as its notes say: digests tell what it is of and whose.
    struct Partial: Codable, Equatable, Sendable {
        /// The strong validator of the representation (RFC 9110 §8.8.3).
        var entityTag: String
        /// Of what was asked for.
        var address: String
        /// Of where redirects led to; empty if there were none.
        var location: String
        /// Of those who asked; each of these is the same person.
        var people: Set<String>
        /// The length of the whole file, if it is known.
        var total: Int64?
        /// Who may use the file when it is complete, if nothing is replaced.
        var mode: mode_t?
        /// The file's own size, which isn't written.
        var size: Int64 = 0

        private enum CodingKeys: String, CodingKey {
            case entityTag, address, location, people, total, mode
        }

        /// Where to go on: the bytes that overlap show whether it is the same file.
        var offset: Int64 { max(0, size - FileDownload.overlap) }
    }

    /// How many bytes are asked for again.
    static let overlap: Int64 = 16 << 10

    let place: DownloadPlace
    /// A digest of what is asked for, if something is kept for a later download.
    private let address: String?
    /// Whether the app says what is asked for, and not the URL.
    private let hasIdentity: Bool
    private let limit: Int64?
    private let progress: ProgressReporter?
    private let time: any TimeSource
    /// What signs the request, if anything.
    private let session: SessionActor?

    private struct State {
        /// What this download goes on with, if it may.
        var partial: Partial?
        /// Who asks, as in the notes.
        var people: Set<String> = []
        /// Where redirects have led to, as in the notes.
        var location = ""
        /// Whether the attempt asks for the rest of the partial file.
        var asksForRest = false
        var method = ""
        var asksAgain = false
        var file: DownloadFile?
        var isGivenUp = false
        /// Whose download it is; `nil` if no session signs it.
        var tenure: Tenure?
        /// The exchange, as long as the session has to tell it of a sign-out.
        var entered: Exchange?
    }

    private let state: Guarded<State>

    /// Looks for a partial file, if the download is to be resumed: not for a range, or a body that isn't in memory.
    init(
        _ place: DownloadPlace, of request: borrowing PreparedRequest, isResumable: Bool, identity: String?,
        limit: Int64?, progress: ProgressReporter?, time: any TimeSource, session: SessionActor?
    ) {
        self.place = place
        self.limit = limit
        self.progress = progress
        self.time = time
        // What the session doesn't sign is nobody's.
        self.session = request.requiresAuthorization ? session : nil
        hasIdentity = identity != nil
        var address: String?
        if isResumable, !request.headerFields.contains("Range") {
            if let identity {
                address = SHA256.hex("identity\n\(identity)")
            } else if let body = request.body == nil ? Data() : request.body?.data {
                address = SHA256.hex(Array("\(request.method) \(request.target.absoluteString)\n".utf8) + body)
            }
        }
        self.address = address
        state = Guarded(State(partial: address.flatMap { Self.partial(at: place, of: $0) }))
    }

    private static func partial(at place: DownloadPlace, of address: String) -> Partial? {
        guard state(ofOwn: place.notes) != nil, let notes = FileManager.default.contents(atPath: place.notes),
            var partial = try? JSONDecoder().decode(Partial.self, from: notes), partial.address == address,
            HTTPGrammar.violation(inFieldValue: partial.entityTag) == nil,
            let size = state(ofOwn: place.partial)?.length, size > 0,
            size <= partial.total ?? size
        else { return nil }
        partial.size = size
        return partial
    }

    /// Another user may have made the file up, and could change it later; a pipe would have to be waited for.
    private static func state(ofOwn path: String) -> FileSegment.State? {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_uid == geteuid() ? FileSegment.State(status) : nil
    }

    /// Forgets what an earlier download has left.
    private func discardPartial() {
        // Another download may be writing it.
        let descriptor = Descriptor(place.partial, O_RDWR)
        let isFree =
            descriptor.map { $0.tryLock() || errno != EWOULDBLOCK } ?? ![EMFILE, ENFILE, ENOENT].contains(errno)
        guard isFree else { return }
        unlink(place.partial)
        unlink(place.notes)
        withExtendedLifetime(descriptor) {}
    }

    /// The caller is about to be told this failure: from now on nothing is written.
    func givenUp(_ error: AtomError) -> AtomError {
        progress?.end()
        let file = state.withLock { state in
            state.isGivenUp = true
            // Whoever keeps the task of the request keeps this object, but not the file.
            return state.file.take()
        }
        if let file { end(file) }
        leave()
        return error
    }

    /// The session need not know of it any more.
    fileprivate func leave() {
        if let entered = state.withLock({ $0.entered.take() }) { session?.gate.leaves(entered) }
    }

    /// Whether the file may take its place: whoever asked for it is still signed in.
    ///
    /// What another process has stored is most often the same person's. If it is not, somebody else may have written
    /// there since.
    fileprivate var isStillWanted: Bool {
        guard let session, let tenure = state.withLock({ $0.tenure }) else { return true }
        return session.tenure.isUnbroken(since: tenure) || session.mayRead(tenure) && place.isUnchanged
    }

    /// Gives a file up, and with it what is known of it.
    fileprivate func end(_ file: DownloadFile, isUseless: Bool = false) {
        if !file.giveUp(isUseless: isUseless), file.isKept { unlink(place.notes) }
    }

    /// The response, if its body is in the file.
    func checked(_ response: AtomResponse) throws(AtomError) -> AtomResponse {
        progress?.end()
        guard state.withLock({ $0.file.take() }) != nil else {
            throw AtomError.response(response).about(response, until: time.now)
        }
        return response
    }

    // MARK: What is asked for

    func willSend(_ attempt: Attempt, by pass: Pass, cookie: String?) -> [HeaderItem]? {
        var people: Set<String>?
        if !attempt.hasLeftOrigin {
            people = self.people(of: attempt, pass, cookie)
            guard people != nil else { return nil }
        }
        let location = location(of: attempt)
        return state.withLock { state in
            // Another origin isn't told who asks, but what it sends is for whom the first one has sent there.
            if let people { state.people = people }
            if !attempt.hasLeftOrigin { state.tenure = pass.tokenNumber == nil ? nil : pass.tenure }
            state.location = location
            state.method = attempt.method
            state.asksAgain = false
            state.asksForRest = false
            guard let partial = state.partial, partial.location == location,
                !partial.people.isDisjoint(with: state.people)
            else { return [] }
            state.asksForRest = true
            return [
                .init(name: "Range", value: "bytes=\(partial.offset)-"),
                .init(name: "If-Range", value: partial.entityTag),
            ]
        }
    }

    /// Who asks: the session's person, or whoever has the credentials; `nil` if the session has another token by now.
    private func people(of attempt: Attempt, _ pass: Pass, _ cookie: String?) -> Set<String>? {
        guard let address else { return [] }
        var credentials = attempt.headerFields.filter { CredentialName.isOne($0.name) }.map {
            "\($0.name.lowercased()): \($0.value)"
        }
        guard let number = pass.tokenNumber else {
            credentials += ["authorization: \(pass.authorization ?? "")", "cookie: \(cookie ?? "")"]
            return [SHA256.hex(([address] + credentials).joined(separator: "\n"))]
        }
        guard let tokens = session?.gate.tokens(of: number) else { return nil }
        // The service's cookies are those of the session's person.
        return Set(
            ([pass.tenure.mark] + tokens).map {
                SHA256.hex(([address, "session: \($0)"] + credentials).joined(separator: "\n"))
            })
    }

    /// Where redirects led; the query of a signed URL changes, so it doesn't count if the app says what is asked for.
    private func location(of attempt: Attempt) -> String {
        guard address != nil, attempt.redirects > 0 else { return "" }
        let target = attempt.target
        guard hasIdentity else { return SHA256.hex(target.absoluteString) }
        return SHA256.hex("\(target.scheme.rawValue)://\(target.host):\(target.port)\(target.path)")
    }

    // MARK: The response

    func takes(_ statusCode: Int, isAcceptable: Bool) -> Bool {
        let (asksForRest, method) = state.withLock { ($0.asksForRest, $0.method) }
        if asksForRest, statusCode == 206 || statusCode == 416 { return true }
        return isAcceptable && (200...299).contains(statusCode) && ![204, 205].contains(statusCode) && method != "HEAD"
    }

    func revoke() -> Bool { state.withLock { $0.file != nil || $0.entered != nil } }

    var asksAgain: Bool { state.withLock { $0.asksAgain } }

    func sink(for head: AtomResponse, of attempt: AttemptOnWire) throws(AtomError) -> any ResponseSink {
        // Before a file is touched: the partial one may be the next person's.
        guard enters(attempt.exchange) else { throw .authentication(.signedOut(delivery: .answered)) }
        do throws(AtomError) {
            return try openSink(for: head)
        } catch {
            leave()
            throw error
        }
    }

    /// Lets the session tell of a sign-out from now on, and returns whether whoever asked is still signed in.
    private func enters(_ exchange: Exchange) -> Bool {
        guard let session else { return true }
        guard isStillWanted else { return false }
        let isGivenUp = state.withLock { state in
            if !state.isGivenUp { state.entered = exchange }
            return state.isGivenUp
        }
        if isGivenUp { return true }
        guard session.gate.enters(exchange) else {
            leave()
            return false
        }
        // Nobody waits any more by now.
        if state.withLock({ $0.isGivenUp }) { session.gate.leaves(exchange) }
        return true
    }

    private func openSink(for head: AtomResponse) throws(AtomError) -> FileSink {
        let sent = state.withLock { $0 }
        var rest: Partial?
        var total = Self.length(of: head)
        let isRest = sent.asksForRest && head.statusCode == 206
        if sent.asksForRest, let known = sent.partial {
            let fields = head.headerFields
            let range = ContentRange(fields["Content-Range"])
            // By its strong validator it is the same file: what is known of it holds, also if it comes as a whole.
            // By bytes: texts with other ones may be equal.
            if fields["ETag"]?.utf8.elementsEqual(known.entityTag.utf8) == true { rest = known }
            total = isRest ? range?.total : total ?? rest?.total
            let fits = total.map { $0 >= known.size && $0 == known.total ?? $0 } ?? !isRest
            let isPart = rest != nil && range?.first == known.offset && range?.last == total.map { $0 - 1 }
            // Some servers call the rest a whole.
            let slice = known.total.map { $0 - known.offset }
            let isDisguised = range.map { $0.first > 0 } ?? (!fields.contains("ETag") && total != nil && total == slice)
            guard rest == nil || fits,
                isRest ? isPart && !fields.contains("Content-Encoding") : head.statusCode != 416 && !isDisguised
            else {
                discardPartial()
                throw useless()
            }
        }
        if let limit, let total, total > limit { throw Self.tooLarge(limit) }
        // Its space is free then.
        if address != nil, rest == nil { discardPartial() }
        if let total { try place.checkSpace(for: total - (rest?.size ?? 0)) }

        let entityTag = rest?.entityTag ?? Self.strongValidator(of: head)
        let isKept = address != nil && entityTag != nil
        let replaced = place.mode
        let file = try DownloadFile(
            isKept ? place.partial : place.makeTemporary(), size: rest?.size ?? 0, isKept: isKept,
            mode: isKept || replaced != nil ? 0o600 : 0o666
        ) { () throws(AtomError) in
            if let rest { try check(rest) }
        }
        var mode = rest?.mode
        if let address, let entityTag, rest?.people != sent.people {
            let notes = Partial(
                entityTag: entityTag, address: address, location: sent.location, people: sent.people, total: total,
                mode: mode ?? replaced)
            mode = try write(notes, for: file, goesOn: rest != nil)
        }
        let isGivenUp = state.withLock { state in
            if !state.isGivenUp { state.file = file }
            return state.isGivenUp
        }
        if isGivenUp { end(file) }
        return FileSink(
            download: self, file: file, overlap: rest.map { $0.size - (isRest ? $0.offset : 0) } ?? 0, total: total,
            limit: limit, repeatsAll: rest != nil && !isRest, mode: mode)
    }

    /// The partial file must still be the one whose rest was asked for.
    private func check(_ partial: Partial) throws(AtomError) {
        var found = Self.partial(at: place, of: partial.address)
        found?.size = partial.size
        guard found == partial else { throw DownloadFile.changed(place.partial) }
    }

    /// Writes the notes of a file, for nobody else to read, and returns who may use the file when it is complete.
    ///
    /// They replace earlier ones at once: a partial file without its notes is of no use. The first ones are written
    /// in their place, so that a process that is killed leaves nothing else.
    private func write(_ notes: Partial, for file: DownloadFile, goesOn: Bool) throws(AtomError) -> mode_t? {
        var notes = notes
        let temporary = goesOn ? place.makeTemporary() : place.notes
        if !goesOn { unlink(temporary) }
        // The file is for as many people as one that the app itself creates; only the system knows how many.
        let descriptor = Descriptor(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: notes.mode == nil ? 0o666 : 0o600)
        if let descriptor, let status = descriptor.status() {
            notes.mode = notes.mode ?? mode_t(truncatingIfNeeded: status.st_mode & 0o777)
            _ = fchmod(descriptor.number, 0o600)
            if let data = try? JSONEncoder().encode(notes), descriptor.write(data), rename(temporary, place.notes) == 0
            {
                return notes.mode
            }
        }
        let code = errno
        if descriptor != nil { unlink(temporary) }
        end(file, isUseless: !goesOn)
        throw DownloadFile.failure(code, "written", place.notes)
    }

    /// The partial file is of another one: everything is asked for.
    fileprivate func useless(_ file: DownloadFile? = nil) -> AtomError {
        if let file { end(file, isUseless: true) }
        state.withLock { state in
            state.partial = nil
            state.file = nil
            // The request may be sent again: it only asks for the file.
            state.asksAgain = state.method == "GET"
        }
        return .transfer(
            .incompleteResponse,
            "The rest that the server sent doesn't belong to the partial file. The next download begins anew.")
    }

    /// The number of bytes that follow, if they arrive as they are stored.
    private static func length(of head: AtomResponse) -> Int64? {
        guard !head.headerFields.contains("Content-Encoding"), !head.headerFields.contains("Transfer-Encoding")
        else { return nil }
        return head.headerFields["Content-Length"].flatMap { Int64($0) }
    }

    /// The entity tag, if equal tags mean equal bytes.
    private static func strongValidator(of head: AtomResponse) -> String? {
        guard let tag = head.headerFields["ETag"], tag.hasPrefix("\""), tag.hasSuffix("\""), tag.utf8.count > 1,
            head.headerFields["Accept-Ranges"]?.lowercased() != "none",
            !head.headerFields.contains("Content-Encoding")
        else { return nil }
        return tag
    }

    fileprivate static func tooLarge(_ limit: Int64) -> AtomError {
        .transfer(.tooLarge, "The download is larger than its limit of \(limit) bytes.")
    }

    fileprivate func report(_ completed: Int64, of total: Int64?, isLast: Bool) {
        progress?.report(
            TransferProgress(completed: completed, total: total.map { max($0, completed) }), isLast: isLast,
            at: time.now)
    }
}

private struct FileSink: ResponseSink {
    let download: FileDownload
    /// `nil` after the end.
    var file: DownloadFile?
    /// How many bytes still come that the file already has.
    var overlap: Int64
    let total: Int64?
    let limit: Int64?
    /// Whether the server sends what a partial file has from its beginning.
    let repeatsAll: Bool
    /// Who may use the file, unless it replaces one.
    let mode: mode_t?

    mutating func receive(_ part: Data) throws(AtomError) {
        guard let file else { return }
        let known = part.prefix(Int(clamping: overlap))
        if !known.isEmpty {
            guard file.holds(known, at: file.size - overlap) else {
                self.file = nil
                throw download.useless(file)
            }
            overlap -= Int64(known.count)
        }
        let part = part.dropFirst(known.count)
        if let limit, file.size + Int64(part.count) > limit { throw FileDownload.tooLarge(limit) }
        try file.append(part)
        download.report(file.size, of: total, isLast: false)
    }

    mutating func finish() throws(AtomError) -> Data {
        guard let file = file.take() else { return Data() }
        defer { download.leave() }
        let received = file.size - overlap
        if overlap > 0 || received != total ?? received {
            // Whoever says that less is the whole would say so again.
            download.end(file, isUseless: repeatsAll || received > total ?? received)
            throw .transfer(.incompleteResponse, "The server sent \(received) of \(total ?? file.size) bytes.")
        }
        guard download.isStillWanted else {
            download.end(file)
            throw .authentication(.signedOut(delivery: .answered))
        }
        try file.move(to: download.place.destination, mode: download.place.mode ?? mode)
        if file.isKept { unlink(download.place.notes) }
        download.report(file.size, of: total, isLast: true)
        return Data()
    }

    mutating func abandon() {
        guard let file = file.take() else { return }
        download.leave()
        download.end(file)
    }
}

/// The value of `Content-Range` (RFC 9110 §14.4).
struct ContentRange: Equatable {
    var first: Int64
    var last: Int64
    /// The length of the whole representation, if it is known.
    var total: Int64?

    /// Reads `bytes 0-99/200`; `nil` for anything else.
    init?(_ value: String?) {
        guard let match = value?.wholeMatch(of: /bytes ([0-9]+)-([0-9]+)\/([0-9]+|\*)/.ignoresCase()),
            let first = Int64(match.1), let last = Int64(match.2), first <= last
        else { return nil }
        (self.first, self.last, total) = (first, last, Int64(match.3))
        guard match.3 == "*" || total.map({ last < $0 }) == true else { return nil }
    }
}
