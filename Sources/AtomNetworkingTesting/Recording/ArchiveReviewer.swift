import AtomNetworking
import Foundation

/// Goes through the entries of a recording.
struct ArchiveReviewer {
    typealias Finding = HTTPArchive.Review.Finding

    private struct Subject: Hashable {
        let kind: HTTPArchive.Review.Kind
        let place: String
        let reason: String
    }

    private var order: [Subject] = []
    private var entries: [Subject: [Int]] = [:]

    /// What has been found, in the order of the file.
    var findings: [Finding] {
        order.map { Finding(kind: $0.kind, place: $0.place, reason: $0.reason, entries: entries[$0] ?? []) }
    }

    private mutating func found(_ kind: HTTPArchive.Review.Kind, _ place: String, _ reason: String, _ number: Int) {
        let subject = Subject(kind: kind, place: place, reason: reason)
        if entries[subject] == nil { order.append(subject) }
        if entries[subject]?.last != number { entries[subject, default: []].append(number) }
    }

    mutating func review(_ entry: HTTPArchive.Entry) {
        let number = entry.number
        for segment in entry.address.path.split(separator: "/") {
            look(at: segment.removingPercentEncoding ?? String(segment), named: "", place: "path", number)
        }
        if let at = entry.url.range(of: "@"), let slashes = entry.url.range(of: "://"),
            slashes.upperBound <= at.lowerBound, !entry.url[slashes.upperBound..<at.lowerBound].contains("/")
        {
            found(.secret, "URL", "it has user information", number)
        }
        for item in entry.address.query {
            look(at: item.value, named: item.name, place: "query item \(item.name)", number)
        }
        review(entry.requestFields, "request header field", number)
        review(entry.requestBody, "request body", number)
        review(entry.responseFields, "response header field", number)
        review(entry.responseBody, "response body", number, isAnswer: true)
        if case .impossible? = entry.answer.content as ScriptedResponse.Content? {
            found(
                .unanswerable, "response body", entry.obstacle ?? entry.responseBody.comment ?? "it isn't in the file",
                number)
        }
    }

    private mutating func review(_ fields: HeaderFields, _ subject: String, _ number: Int) {
        for field in fields where !SuspiciousText.isPlainField(field.name) {
            look(at: field.value, named: field.name, place: "\(subject) \(field.name)", number)
        }
    }

    private mutating func review(_ body: RecordedBody, _ subject: String, _ number: Int, isAnswer: Bool = false) {
        guard let data = body.data, !data.isEmpty else { return }
        guard let text = String(data: data, encoding: .utf8) else {
            let type = body.type.isEmpty ? "without a media type" : body.type
            return found(.unread, subject, "bytes that aren't text, \(type)", number)
        }
        if body.isForm {
            for item in FormText.items(of: text) {
                look(at: item.value, named: item.name, place: "\(subject), \(item.name)", number, isAnswer)
            }
        } else if let value = JSONText(data) {
            value.forEachValue { place, name, value in
                look(at: value, named: name, place: "\(subject), \(place)", number, isAnswer)
            }
        } else {
            // Also JSON in lines and server-sent events.
            for word in text.split(whereSeparator: { $0.isWhitespace || "\"'<>(){}[],;:=&".contains($0) }) {
                look(at: String(word), named: "", place: subject, number, isAnswer)
            }
        }
    }

    private mutating func look(
        at value: String, named name: String, place: String, _ number: Int, _ isAnswer: Bool = false
    ) {
        guard !value.contains(HiddenValue.mark) else {
            if isAnswer { found(.hidden, place, "an app that needs the value fails", number) }
            return
        }
        if let reason = SuspiciousText.secretReason(value, named: name) { return found(.secret, place, reason, number) }
        if let reason = SuspiciousText.personalReason(value, named: name) { found(.personal, place, reason, number) }
    }
}
