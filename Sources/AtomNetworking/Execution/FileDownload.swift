import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// A response that goes to a file.
///
/// The body is written beside its destination, and moved there when it is
/// complete.
final class FileDownload: ResponseDestination {
    /// What an earlier download has left.
    struct Partial: Codable, Sendable {
        /// The strong validator of the representation (RFC 9110 §8.8.3).
        var entityTag: String
        /// The URL that the endpoint named, without the values of its query,
        /// which may be secret.
        var address: String
        /// Where to go on: at the last byte, so that there is always one to ask
        /// for.
        ///
        /// It isn't written, since the file's size says it.
        var offset: Int64 = 0

        private enum CodingKeys: String, CodingKey {
            case entityTag, address
        }
    }

    let place: DownloadPlace
    /// What this download goes on with, if anything.
    let partial: Partial?
    private let keepsPartial: Bool
    /// Whether the endpoint itself asks for a range.
    private let isOfRange: Bool
    private let address: String
    private let limit: Int64?
    private let progress: ProgressReporter?
    private let time: any TimeSource

    private struct State {
        var file: DownloadFile?
        var isGivenUp = false
    }

    private let state = Guarded(State())

    /// Looks for a partial file, if the download is to be resumed.
    ///
    /// What the endpoint's own range names is a whole file, which can't be
    /// resumed.
    init(
        _ place: DownloadPlace, address: String, isResumable: Bool, isOfRange: Bool, limit: Int64?,
        progress: ProgressReporter?, time: any TimeSource
    ) {
        self.place = place
        self.address = address
        self.limit = limit
        self.progress = progress
        self.time = time
        self.isOfRange = isOfRange
        keepsPartial = isResumable && !isOfRange
        partial = keepsPartial ? Self.partial(at: place, of: address) : nil
    }

    private static func partial(at place: DownloadPlace, of address: String) -> Partial? {
        guard let notes = FileManager.default.contents(atPath: place.notes),
            var partial = try? JSONDecoder().decode(Partial.self, from: notes), partial.address == address,
            HTTPGrammar.violation(inFieldValue: partial.entityTag) == nil,
            let attributes = try? FileManager.default.attributesOfItem(atPath: place.partial),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = (attributes[.size] as? NSNumber)?.int64Value, size > 0
        else { return nil }
        partial.offset = size - 1
        return partial
    }

    /// Forgets what an earlier download has left.
    func discardPartial() {
        // Another download may be writing it.
        let descriptor = Descriptor(place.partial, O_RDWR)
        let isFree: Bool? = try? descriptor?.tryLock()
        guard isFree != false else { return }
        unlink(place.partial)
        unlink(place.notes)
        withExtendedLifetime(descriptor) {}
    }

    /// The caller is about to be told a failure: from now on nothing is written.
    ///
    /// The attempt may still have to end.
    func giveUp() {
        let file = state.withLock { state in
            state.isGivenUp = true
            return state.file
        }
        if let file { end(file) }
    }

    /// Gives a file up, and with it what is known of it.
    fileprivate func end(_ file: DownloadFile) {
        if !file.giveUp(), file.isKept { unlink(place.notes) }
    }

    /// The response, if its body is in the file.
    func checked(_ response: AtomResponse) throws(AtomError) -> AtomResponse {
        guard state.withLock({ $0.file != nil }) else { throw .response(response) }
        return response
    }

    func takes(_ statusCode: Int) -> Bool { (200...299).contains(statusCode) }

    func sink(for head: AtomResponse, of attempt: AttemptOnWire) throws(AtomError) -> any ResponseSink {
        var offset: Int64 = 0
        let length = Self.length(of: head)
        var total = length
        if head.statusCode == 206, !isOfRange {
            guard let partial, let range = ContentRange(head.headerFields["Content-Range"]),
                range.first == partial.offset, let end = range.total, range.last == end - 1,
                head.headerFields["ETag"] == partial.entityTag
            else {
                discardPartial()
                throw .transfer(
                    TransferError(
                        .incompleteResponse, "The server sent another range than was asked for.", delivery: .answered))
            }
            offset = partial.offset
            total = range.total ?? length.map { $0 + offset }
        }
        if let limit, let total, total > limit { throw Self.tooLarge(limit) }
        if let total { try place.checkSpace(for: total - offset) }

        let entityTag = Self.strongValidator(of: head) ?? (offset > 0 ? partial?.entityTag : nil)
        let isKept = keepsPartial && entityTag != nil
        if !isKept, keepsPartial { discardPartial() }
        let file = try DownloadFile(
            isKept ? place.partial : place.makeTemporary(), offset: offset, isKept: isKept
        ) { () throws(AtomError) in
            if offset > 0 { try checkNotes() } else if isKept { unlink(place.notes) }
        }
        if isKept, offset == 0, let entityTag { try writeNotes(entityTag, for: file) }
        let isGivenUp = state.withLock { state in
            state.file = file
            return state.isGivenUp
        }
        if isGivenUp { end(file) }
        return FileSink(download: self, file: file, total: total, limit: limit)
    }

    /// The partial file must still be of the version that was asked for.
    private func checkNotes() throws(AtomError) {
        guard let partial, Self.partial(at: place, of: address)?.entityTag == partial.entityTag else {
            throw DownloadPlace.unusable(
                "“\(DownloadPlace.name(of: place.partial))” was changed during the request", delivery: .answered)
        }
    }

    private func writeNotes(_ entityTag: String, for file: DownloadFile) throws(AtomError) {
        let notes = try? JSONEncoder().encode(Partial(entityTag: entityTag, address: address))
        guard FileManager.default.createFile(atPath: place.notes, contents: notes) else {
            // A partial file without its version is of no use.
            end(file)
            unlink(place.partial)
            let name = DownloadPlace.name(of: place.notes)
            throw .transfer(
                TransferError(.writingFailed, "The file “\(name)” could not be written.", delivery: .answered))
        }
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
        .transfer(
            TransferError(.tooLarge, "The download is larger than its limit of \(limit) bytes.", delivery: .answered))
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
    let total: Int64?
    let limit: Int64?

    init(download: FileDownload, file: DownloadFile, total: Int64?, limit: Int64?) {
        self.download = download
        self.file = file
        self.total = total
        self.limit = limit
    }

    mutating func receive(_ part: Data) throws(AtomError) {
        guard let file else { return }
        if let limit, file.size + Int64(part.count) > limit { throw FileDownload.tooLarge(limit) }
        try file.append(part)
        download.report(file.size, of: total, isLast: false)
    }

    mutating func finish() throws(AtomError) -> Data {
        guard let file = file.take() else { return Data() }
        if let total, file.size != total {
            download.end(file)
            throw .transfer(
                TransferError(
                    .incompleteResponse, "The server sent \(file.size) of \(total) bytes.", delivery: .answered))
        }
        try file.move(to: download.place.destination)
        if file.isKept { unlink(download.place.notes) }
        download.report(file.size, of: total, isLast: true)
        return Data()
    }

    mutating func abandon() {
        guard let file = file.take() else { return }
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
        guard let value, value.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]), first <= last
        else { return nil }
        (self.first, self.last) = (first, last)
        if parts[1] != "*" {
            guard let total = Self.number(parts[1]), last < total else { return nil }
            self.total = total
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
