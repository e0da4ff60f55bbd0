/// Whose something is: a request, its response, and whatever outlives them.
///
/// A session issues it with the pass of a request, in the look under its lock that admits the request. Callers that
/// share, cookies, streams, files and links carry it. It is compared by its questions alone.
struct Tenure: Hashable, Sendable {
    private enum Signer: Hashable, Sendable {
        /// Nothing signs.
        case nobody
        /// Whoever asks: the app has made the response itself.
        case anyone
        // Hashes differ between processes, and tell nothing of name and password.
        case session(hash: Int)
        case user(hash: Int)
    }

    private let signer: Signer
    /// Counts sign-ins and sign-outs.
    private var signIn: UInt32
    /// Counts the access tokens that somebody else than a sign-in or a refresh of this process has put in place of
    /// another one, or of none.
    private var takeover: UInt32
    /// Counts the people who have gone, by a sign-out or because of somebody else's credential.
    private var person: UInt32 = 0
    /// Counts how often the app has removed the cookies.
    private var jar: UInt32
    /// Whether only the cookies that were sent tell whose it is.
    private(set) var isKnownByCookies = false

    private init(_ signer: Signer, _ count: UInt32 = 0) {
        (self.signer, signIn, takeover, jar) = (signer, count, count, count)
    }

    /// Of a session, by a mark that no other session has.
    init(session mark: some Hashable) { self.init(.session(hash: mark.hashValue)) }

    /// Of whoever has this Basic credential.
    init(user credential: String) { self.init(.user(hash: credential.hashValue)) }

    static let nobody = Tenure(.nobody)
    static let anyone = Tenure(.anyone)

    /// Like no tenure of a session.
    static let over = Tenure(.nobody, .max)
}

// MARK: - Questions

extension Tenure {
    /// Whether the same session or Basic credential signs.
    func hasSameSigner(as other: Tenure) -> Bool { signer == other.signer }

    /// Whether nobody has signed in or out in between.
    func isSameSignIn(as other: Tenure) -> Bool { signIn == other.signIn }

    /// Whether it has gone on without a sign-in, a sign-out or a takeover; refreshes don't matter.
    func isUnbroken(since other: Tenure) -> Bool { signIn == other.signIn && takeover == other.takeover }

    /// Whether nobody has gone in between.
    func isSamePerson(as other: Tenure) -> Bool { hasSameSigner(as: other) && person == other.person }

    /// Whether somebody has gone since the other one.
    func isAfterDeparture(since other: Tenure) -> Bool { person > other.person }

    /// Whether both have the same cookies.
    func hasSameCookies(as other: Tenure) -> Bool { person == other.person && jar == other.jar }

    /// What notes on a disk know an unbroken tenure of a session by; the text means nothing to another process.
    var mark: String {
        // Not the case itself: an app may be built without their names.
        if case .session(let hash) = signer { "\(hash) \(signIn) \(takeover)" } else { "" }
    }
}

// MARK: - Changes

extension Tenure {
    /// The app has signed in or out.
    mutating func signInChanges(personLeaves: Bool) {
        signIn &+= 1
        if personLeaves { person &+= 1 }
    }

    /// Somebody else has put an access token in place of another one, or of none.
    mutating func tokenIsTakenOver() { takeover &+= 1 }

    /// Whoever was there is gone.
    mutating func personLeaves() { person &+= 1 }

    /// The app removes the cookies.
    mutating func cookiesAreRemoved() { jar &+= 1 }

    /// The same with the cookies of another one.
    func with(cookiesOf other: Tenure) -> Tenure {
        var tenure = self
        tenure.jar = other.jar
        return tenure
    }

    /// The same; only the cookies that were sent tell whose it is, if there were any.
    func known(byCookies hadCookies: Bool) -> Tenure {
        var tenure = self
        tenure.isKnownByCookies = hadCookies
        return tenure
    }
}
