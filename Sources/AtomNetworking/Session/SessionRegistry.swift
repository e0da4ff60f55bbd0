/// The sessions of the process, one for each object that keeps tokens.
///
/// Two services with the same store would otherwise refresh with the same
/// refresh token, and a server that rotates would sign both out.
final class SessionRegistry: Sendable {
    static let shared = SessionRegistry()

    private struct Entry {
        weak var session: SessionActor?
    }

    /// A live session holds its store, so an identifier in use can't be another
    /// object's.
    private let entries = Guarded<[ObjectIdentifier: Entry]>([:])

    /// The session of a store: the one that exists, or a new one.
    ///
    /// Leeway and window are those of whoever asks first.
    func session(for bearer: BearerAuthentication, time: any TimeSource) -> SessionActor {
        entries.withLock { entries in
            let identifier = ObjectIdentifier(bearer.source.object)
            if let session = entries[identifier]?.session { return session }
            entries = entries.filter { $0.value.session != nil }
            let session = SessionActor(keeper: bearer.source.keeper, policy: RefreshPolicy(bearer), time: time)
            entries[identifier] = Entry(session: session)
            return session
        }
    }
}

extension CredentialSource {
    /// What keeps a session's credential there.
    fileprivate var keeper: any SessionKeeper {
        switch self {
        case .writable(let writable): VariableKeeper(writable)
        case .store(let store): StoreKeeper(store)
        }
    }
}
