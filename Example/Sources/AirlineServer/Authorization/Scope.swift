/// What a token allows (RFC 6749 §3.3).
enum Scope: String, CaseIterable {
    case openid, profile, bookings
    case miles = "miles:spend"

    /// What a token has if none is asked for.
    static let usual: Set<Scope> = [.profile, .bookings]

    /// For the page on which a user grants it.
    var meaning: String {
        switch self {
        case .openid: "know who you are"
        case .profile: "see your name, your tier and your miles"
        case .bookings: "see and change your bookings"
        case .miles: "spend your miles"
        }
    }
}

extension Set<Scope> {
    /// The scopes of a request, as far as it may have them; none means the usual ones.
    init(_ text: String?, of allowed: Set<Scope> = Set(Scope.allCases)) throws(OAuthRefusal) {
        self = Scope.usual
        guard let words = text?.split(separator: " "), !words.isEmpty else { return }
        let scopes = words.map { Scope(rawValue: String($0)) }
        guard !scopes.contains(nil) else {
            throw OAuthRefusal("invalid_scope", "The scopes are \(Set(Scope.allCases).text).")
        }
        self = Set(scopes.compactMap(\.self)).intersection(allowed)
        guard !isEmpty else { throw OAuthRefusal("invalid_scope", "This grant has only \(allowed.text).") }
    }

    /// As it is sent.
    var text: String { Scope.allCases.filter(contains).map(\.rawValue).joined(separator: " ") }
}
