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
        // Those that are looked at are let go of outside the lock: with a session an app's store may end.
        let (session, others) = entries.withLock { entries -> (SessionActor, [SessionActor]) in
            let identifier = ObjectIdentifier(bearer.keeper.object)
            if let session = entries[identifier]?.session { return (session, []) }
            var others: [SessionActor] = []
            entries = entries.filter { entry in
                guard let session = entry.value.session else { return false }
                others.append(session)
                return true
            }
            let session = SessionActor(keeper: bearer.keeper, policy: RefreshPolicy(bearer), time: time)
            entries[identifier] = Entry(session: session)
            return (session, others)
        }
        return withExtendedLifetime(others) { session }
    }
}
