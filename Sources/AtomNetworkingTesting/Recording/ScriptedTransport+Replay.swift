import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPArchive {
    /// Which entry answers a request.
    public enum Order: Sendable, Hashable {
        /// The first one that is for this request and hasn't answered another one.
        case byRequest
        /// The next one in the file. If it is for another request, the request fails, and says so.
        case asRecorded
    }
}

extension ScriptedTransport {
    /// Answers from a recording; each entry answers one request.
    ///
    /// An answer has the status, the header fields and the body that were
    /// recorded. An attempt that failed fails again in the same way, and one that
    /// was cancelled gets no end. What the recorder has hidden fits everything in
    /// a request, and is the word `HIDDEN` in an answer. A hidden member of JSON
    /// whose name contains `token` has the number of its entry behind that word,
    /// so that a new token is another one.
    ///
    /// If the wire's ``authorizationServer`` gives the tokens, as with
    /// `Atom.scripted(signedIn: true)`, the recorded requests of the session for
    /// tokens are left out. Otherwise they answer the service's own.
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    /// import Foundation
    ///
    /// func service(from recording: URL) throws -> (Atom, ScriptedTransport) {
    ///     let (atom, wire) = Atom.scripted(signedIn: true)
    ///     wire.replay(try HTTPArchive(contentsOf: recording))
    ///     return (atom, wire)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - archive: The recording.
    ///   - order: Which entry answers a request.
    ///   - comparison: What of a request must be as it was recorded, apart from
    ///     the method and the path.
    ///   - mustUseAll: Whether an entry that nobody has asked for is a problem.
    public func replay(
        _ archive: HTTPArchive, order: HTTPArchive.Order = .byRequest,
        comparing comparison: HTTPArchive.Comparison = .everything, mustUseAll: Bool = true
    ) {
        let hasSession = authorizationServer.isInUse
        let entries = archive.entries.filter { !hasSession || !$0.isForSession }
        let matchers = entries.map { ArchiveMatcher(entry: $0, comparison: comparison) }
        switch order {
        case .byRequest:
            for matcher in matchers { add(matcher, matcher.entry.answer, isRequired: mustUseAll) }
        case .asRecorded:
            add(matchers.map(\.nextAnswer), areRequired: mustUseAll)
        }
    }
}

extension ArchiveMatcher {
    /// The answer for the next request, whatever it is.
    fileprivate var nextAnswer: ScriptedResponse {
        ScriptedResponse(
            .computed { request in
                let mismatches = mismatches(of: request)
                guard !mismatches.isEmpty else { return entry.answer }
                let reason = "the recording continues with \(entry), but \(mismatches.joined(separator: ", "))"
                return ScriptedResponse(.impossible(reason), name: "impossible")
            }, name: "\(entry)")
    }
}

extension HTTPArchive.Entry {
    /// What was recorded.
    var answer: ScriptedResponse {
        if let obstacle { return ScriptedResponse(.impossible("\(self): \(obstacle)"), name: "\(self)") }
        guard let statusCode else {
            let failure = failure ?? HTTPArchive.Failure(code: .networkConnectionLost, delivery: .maybeSent)
            return failure.code == .cancelled ? .never : .failure(failure.code, delivery: failure.delivery)
        }
        let ending: ScriptedResponse.Ending =
            switch failure?.code {
            case nil: .complete
            case .cancelled?: .never
            case let code?: .failure(code)
            }
        guard let body = responseBody.data ?? (needsBody ? nil : Data()) else {
            let reason = "the body of its response isn't in the recording"
            return ScriptedResponse(.impossible("\(self): \(reason)"), name: "\(self)")
        }
        let shown = Self.withDistinctTokens(body, number)
        return ScriptedResponse(
            .response(status: statusCode, answerFields(for: shown), parts: [shown], ending), name: "\(self)")
    }

    /// Whether somebody reads the body: not that of a redirect, or of an answer
    /// after which the SDK has sent the request again.
    private var needsBody: Bool {
        guard let statusCode, method != "HEAD", !isSentAgain else { return false }
        return !((300...399).contains(statusCode) && responseFields.contains("Location"))
    }

    /// The header fields without those that describe the bytes on the wire: the
    /// recorded body is decoded, unless the transport couldn't do that.
    private func answerFields(for body: Data) -> HeaderFields {
        var left: Set<String> = ["content-encoding", "transfer-encoding", "connection", "keep-alive", "trailer"]
        if String(data: body, encoding: .utf8) == nil { left.remove("content-encoding") }
        return HeaderFields(
            responseFields.compactMap { field in
                let name = field.name.lowercased()
                if left.contains(name) { return nil }
                let isLength = name == "content-length" && method != "HEAD" && statusCode != 304
                return isLength ? .init(name: field.name, value: "\(body.count)") : field
            })
    }

    /// A new token must not be the one that a server has rejected, whether the session or the app has asked for it:
    /// each hidden one gets the number of its entry.
    private static func withDistinctTokens(_ body: Data, _ number: Int) -> Data {
        // Foundation drops a byte order mark.
        let order = body.prefix(body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        guard let text = String(data: body.dropFirst(order.count), encoding: .utf8), text.contains(HiddenValue.mark)
        else { return body }
        let member = #"("[^"\\]*token[^"\\]*"\s*:\s*"\#(HiddenValue.mark))""#
        let numbered = text.replacingOccurrences(
            of: member, with: "$1-\(number)\"", options: [.regularExpression, .caseInsensitive])
        return order + Data(numbered.utf8)
    }
}
