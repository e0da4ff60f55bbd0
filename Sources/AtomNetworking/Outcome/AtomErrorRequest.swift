extension AtomError {
    /// The request that an error is about, without the values of its query and without what looks like a token.
    public struct Request: Sendable, Hashable {
        /// The method, as the endpoint names it.
        public let method: String

        let address: String
        let finalAddress: String?

        /// How often it was sent, with redirects, after a 401 and by a ``RetryPolicy``; 0 if it never was.
        public let attempts: Int

        /// The time from `resume` to the error, with all waiting.
        public let duration: Duration

        /// The endpoint's URL, without the values of its query.
        public var url: String { Redaction.url(address) }

        /// Where a redirect has led, without the values of the query; `nil` if none has.
        public var redirectedURL: String? { finalAddress.flatMap { $0 == address ? nil : Redaction.url($0) } }
    }
}

extension AtomError.Request: Redacted {
    /// The method and the URL, and where a redirect has led.
    public var description: String {
        "\(Redaction.name(method)) \(url)" + (redirectedURL.map { ", redirected to \($0)" } ?? "")
    }

    /// A text about the request, behind it.
    func naming(_ text: String) -> String {
        let first = text.prefix { $0 != " " }
        // The sentence goes on after the colon.
        let goesOn = ["The", "There", "This", "A", "An", "It", "No", "Nothing"].contains(first)
        return "\(self): " + (goesOn ? first.lowercased() + text.dropFirst(first.count) : text)
    }

    static let key = "AtomNetworking.request"

    /// For the `userInfo` of an error, which may be archived and shown.
    var propertyList: [String: Any] {
        var list: [String: Any] = [
            "method": Redaction.name(method), "url": url, "attempts": attempts, "seconds": duration.seconds,
        ]
        list["redirectedURL"] = redirectedURL
        return list
    }

    init?(propertyList: Any?) {
        guard let list = propertyList as? [String: Any], let method = list["method"] as? String,
            let url = list["url"] as? String, let attempts = list["attempts"] as? Int,
            let seconds = list["seconds"] as? Double
        else { return nil }
        self.init(
            method: method, address: url, finalAddress: list["redirectedURL"] as? String, attempts: attempts,
            duration: .seconds(seconds))
    }
}

/// What a response remembers of its request, for an error that it causes later.
struct RequestRecord: Sendable {
    /// What was asked for; `nil` for a GET that no redirect has led elsewhere.
    let first: FirstAttempt?
    let attempts: Int
    let startedAt: MonotonicInstant
    /// Whether a redirect has led to another origin, which may say nothing about the credential.
    let hasLeftOrigin: Bool

    func request(at address: String, until now: MonotonicInstant) -> AtomError.Request {
        AtomError.Request(
            method: first?.method ?? "GET", address: first?.address ?? address, finalAddress: address,
            attempts: attempts, duration: startedAt.duration(to: now))
    }
}

final class FirstAttempt: Sendable {
    let method: String
    let address: String
    /// Where the response is from.
    let source: AtomResponse.Source
    /// With which fields it was asked for, if a cache may keep it.
    let sent: HeaderFields?

    init(method: String, address: String, source: AtomResponse.Source = .server, sent: HeaderFields? = nil) {
        self.method = method
        self.address = address
        self.source = source
        self.sent = sent
    }
}
