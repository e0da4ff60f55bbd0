/// The sessions of the process, one for each object that keeps tokens.
///
/// Otherwise two services with the same store would spend the same refresh
/// token, and a server that rotates refresh tokens would sign both out.
final class SessionRegistry: Sendable {
    static let shared = SessionRegistry()

    private struct Entry {
        weak var session: SessionActor?
    }

    /// A session holds its object, so an identifier in use can't belong to another one.
    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    /// The session that exists for this object, or a new one.
    ///
    /// The leeway and the window are those of the service that comes first.
    func session(for bearer: BearerAuthentication, time: any TimeSource) -> SessionActor {
        entries.withLock { entries in
            let identifier = ObjectIdentifier(bearer.keeper.object)
            if let session = entries[identifier]?.session { return session }
            entries = entries.filter { $0.value.session != nil }
            let session = SessionActor(keeper: bearer.keeper, policy: RefreshPolicy(bearer), time: time)
            entries[identifier] = Entry(session: session)
            return session
        }
    }
}
