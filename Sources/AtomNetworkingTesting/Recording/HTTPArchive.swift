import AtomNetworking
import AtomNetworkingExports
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a service has sent and received in a real run, from a file in the HTTP
/// Archive format (HAR 1.2).
///
/// `HARRecorder` of AtomNetworkingExports writes such a file, and so do browsers and proxies.
/// ``ScriptedTransport/replay(_:order:comparing:mustUseAll:)`` answers from it,
/// and ``review`` says what a person must look at before the file is committed.
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingExports
/// import AtomNetworkingTesting
/// import Foundation
///
/// /// Once, against the real server.
/// func record(to file: URL, _ run: (Atom) async throws -> Void) async throws {
///     let recorder = HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 1 << 20)
///     var configuration = ServiceConfiguration()
///     configuration.observers = [recorder]
///     try await run(Atom(serviceConfiguration: configuration))
///     try recorder.write(to: file)
///     print(try HTTPArchive(contentsOf: file).review)
/// }
/// ```
public struct HTTPArchive: Sendable {
    /// One attempt of a request, and what came back.
    public struct Entry: Sendable {
        /// The place in the file, from 1.
        public let number: Int
        /// The method.
        public let method: String
        /// The absolute URL; what the recorder has hidden is the word `HIDDEN`.
        public let url: String
        /// The status of the response; `nil` if there is none.
        public let statusCode: Int?

        let address: RecordedAddress
        let requestFields: HeaderFields
        let requestBody: RecordedBody
        let responseFields: HeaderFields
        let responseBody: RecordedBody
        let failure: Failure?
        /// Why there can be no answer, apart from a missing body.
        let obstacle: String?
        /// Whether the SDK has sent the request once more afterwards.
        var isSentAgain = false
        /// Which attempt of which request it is, if the SDK has recorded it.
        let attempt: HARLog.Attempt?
        /// Whether the SDK sent it for itself: for a token, or to revoke one.
        let isForSession: Bool
        let serverAddress: String?
    }

    /// Why an attempt has no complete response.
    struct Failure: Sendable {
        let code: URLError.Code
        let delivery: AtomError.Delivery
    }

    /// What stands in the file, in the order in which it was sent.
    ///
    /// Only the SDK's recorder writes that order; otherwise it is the order of the file.
    public let entries: [Entry]

    /// Reads a file.
    ///
    /// - Throws: ``HTTPArchiveError`` if it can't be read or isn't a HAR file.
    public init(contentsOf fileURL: URL) throws(HTTPArchiveError) {
        let data: Data
        do {
            data = try Data(contentsOf: fileURL)
        } catch {
            throw HTTPArchiveError("The file \(fileURL.lastPathComponent) can't be read.")
        }
        try self.init(data)
    }

    /// Reads the content of a file.
    ///
    /// - Throws: ``HTTPArchiveError`` if it isn't a HAR file.
    public init(_ data: Data) throws(HTTPArchiveError) {
        let file = try HARFile.read(data)
        var entries: [Entry] = []
        // What came from a cache was not sent.
        let recorded = file.log.entries.enumerated().filter { $1.attempt?.number != 0 }.sorted {
            // Stable, and complete only if all have one.
            ($0.element.sequence ?? 0, $0.offset) < ($1.element.sequence ?? 0, $1.offset)
        }
        for (index, entry) in recorded {
            entries.append(try Entry(entry, number: index + 1))
        }
        let last = Dictionary(entries.compactMap(\.attempt).map { ($0.requestID, $0.number) }, uniquingKeysWith: max)
        for index in entries.indices {
            guard let attempt = entries[index].attempt, let last = last[attempt.requestID] else { continue }
            entries[index].isSentAgain = attempt.number < last
        }
        self.entries = entries
    }
}

/// Why a file can't be used as an ``HTTPArchive``.
public struct HTTPArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence that says what is wrong, without any value of the file.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension HTTPArchive.Entry {
    init(_ entry: HARLog.Entry, number: Int) throws(HTTPArchiveError) {
        self.number = number
        method = entry.request.method
        url = entry.request.url
        guard let address = RecordedAddress(url) else {
            throw HTTPArchiveError("The data isn't a HAR file: log.entries[\(number - 1)].request.url isn't a URL.")
        }
        self.address = address
        requestFields = HeaderFields(entry.request.headers)
        requestBody = RecordedBody(entry.request)
        statusCode = entry.response.status > 0 ? entry.response.status : nil
        responseFields = HeaderFields(entry.response.headers)
        responseBody = RecordedBody(of: entry)
        attempt = entry.attempt
        isForSession = entry.purpose == "token" || entry.purpose == "revocation"
        serverAddress = entry.serverIPAddress.flatMap { $0.isEmpty ? nil : $0 }
        // The SDK's recorder writes no code if the SDK itself has ended it: a limit,
        // a full disk. A 401 or a redirect leads to the same end again.
        let isOfSDK = entry.sequence != nil && entry.error != nil && entry.failure == nil
        let leadsOn = statusCode.map { $0 == 401 || (300...399).contains($0) } ?? false
        obstacle = isOfSDK && !leadsOn ? "it failed for a reason that the file doesn't have" : nil
        if let failure = entry.failure {
            // On Linux only known codes are codes.
            let code: URLError.Code? = URLError.Code(rawValue: failure.code)
            self.failure = HTTPArchive.Failure(
                code: code ?? .unknown,
                delivery: failure.delivery.flatMap(AtomError.Delivery.init(rawValue:)) ?? .maybeSent)
        } else {
            // What other tools write of a request that failed.
            failure =
                statusCode == nil ? HTTPArchive.Failure(code: .networkConnectionLost, delivery: .maybeSent) : nil
        }
    }
}

extension HTTPArchive.Entry: Redacted {
    /// The number, the method and the URL without its query, and the status.
    public var description: String {
        "entry \(number), \(method) \(address.origin)\(address.path), "
            + (statusCode.map { "status \($0)" } ?? "without a response")
    }
}

extension HeaderFields {
    /// Without the pseudo-fields of HTTP/2, which some tools write.
    fileprivate init(_ pairs: [HARLog.Pair]?) {
        self.init((pairs ?? []).filter { !$0.name.hasPrefix(":") }.map { .init(name: $0.name, value: $0.value) })
    }
}
