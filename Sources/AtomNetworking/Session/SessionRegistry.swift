/// The sessions of the process, one for each object that keeps tokens.
///
/// Otherwise two services with the same store would spend the same refresh
/// token, and a server that rotates refresh tokens would sign both out.
///
/// If the object keeps the tokens of one authorization server from all others, there is one session for each server.
final class SessionRegistry: Sendable {
    static let shared = SessionRegistry()

    private struct Entry {
        weak var session: SessionActor?
    }

    /// A session holds its object, so an identifier in use can't belong to another one.
    private let entries = Guarded<[ObjectIdentifier: [Entry]]>([:])

    /// The session that exists for this object, or a new one.
    ///
    /// The leeway and the window are those of the service that comes first.
    func session(for bearer: BearerAuthentication, time: any TimeSource) -> SessionActor {
        let origin = bearer.refresh.endpoint?.address.target.origin
        // Those that are looked at are let go of outside the lock: with a session an app's store may end.
        let (session, others) = entries.withLock { entries -> (SessionActor, [SessionActor]) in
            let identifier = ObjectIdentifier(bearer.keeper.object)
            var others: [SessionActor] = []
            for entry in entries[identifier] ?? [] {
                guard let session = entry.session else { continue }
                others.append(session)
                if session.keeper.serves(origin) { return (session, others) }
            }
            entries = entries.compactMapValues { list in
                let rest = list.filter { entry in
                    guard let session = entry.session else { return false }
                    others.append(session)
                    return true
                }
                return rest.isEmpty ? nil : rest
            }
            let session = SessionActor(keeper: bearer.keeper.forSession(), policy: RefreshPolicy(bearer), time: time)
            _ = session.keeper.serves(origin)
            entries[identifier, default: []].append(Entry(session: session))
            return (session, others)
        }
        return withExtendedLifetime(others) { session }
    }
}

extension SessionKeeper {
    /// The same tokens, for one session.
    fileprivate func forSession() -> SessionKeeper {
        guard case .store(let store as any ServerBoundStore) = self else { return self }
        return .store(store.forSession())
    }

    /// Whether the session may be that of a service whose authorization server is there; `nil` if it has none.
    fileprivate func serves(_ origin: Origin?) -> Bool {
        guard let origin, case .store(let store as any ServerBoundStore) = self else { return true }
        return store.bind(to: origin)
    }
}
