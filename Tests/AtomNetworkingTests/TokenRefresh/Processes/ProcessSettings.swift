@testable import AtomNetworking

/// A configuration of the model of several processes.
struct ProcessSettings: Sendable {
    /// What may go wrong, or happen besides the requests.
    enum Disturbance: String, Sendable {
        case crash
        /// A token request, or its answer, is lost: nobody knows whether the server
        /// has taken the refresh token.
        case lose
        /// The authorization server isn't ready, and takes nothing.
        case fail
        case signIn
        case signOut
        /// The server accepts no access token any more that it has issued.
        case revokeAccess
        case writingFails
        /// A process waits too long for the lock.
        case lockTimesOut
        case time
    }

    var name: String
    var processes = 2
    /// Of each process, one after the other.
    var requests = 1
    var disturbances: Set<Disturbance> = []
    /// The largest number of them.
    var limit = 0
    /// Whether the store has a lock and keeps notes, as `FileTokenCredentialStore` does.
    ///
    /// Otherwise it has the default exchange, and the server takes no second use of a refresh token for a theft.
    var isExclusive = true
    /// The life of the first access token, in seconds.
    var firstLife = 0
}

/// One step of the model; a process is named by its number.
enum ProcessStep: Hashable, Sendable, CustomStringConvertible {
    case ask(Int)
    case answer(Int)
    /// The first operation on the store goes on: it takes the lock, reads, writes…
    case proceed(Int, StoreOperation.Name)
    /// The server acts on a token request, and its answer arrives.
    case serve(Int)
    case hear(Int)
    /// The same for one that nobody waits for any more.
    case serveAdrift(Int)
    case hearAdrift(Int)
    /// A token request arrives whose sender has died, or waits no longer.
    case serveOrphan(IssuedCredential)
    /// The exchange ends, because the app has signed in or out.
    case giveUp(Int)
    case revoke(Int)
    /// A write that has failed is due again.
    case ring(Int)
    case disturb(ProcessSettings.Disturbance, Int)

    var description: String {
        switch self {
        case .ask(let process): "\(process) makes its request"
        case .answer(let process): "\(process) gets a response"
        case .proceed(let process, let name): "\(process) goes on: \(name.rawValue)"
        case .serve(let process), .serveAdrift(let process): "the server acts on the token request of \(process)"
        case .hear(let process), .hearAdrift(let process): "\(process) hears the answer"
        case .serveOrphan(let credential): "the server acts on a token request of nobody, with \(credential)"
        case .giveUp(let process): "\(process) gives its exchange up"
        case .revoke(let process): "the server revokes for \(process)"
        case .ring(let process): "\(process) tries its write again"
        case .disturb(let disturbance, let process): "\(process): \(disturbance.rawValue)"
        }
    }

    /// Whether it happens by itself, sooner or later.
    var isFair: Bool {
        switch self {
        case .ask, .answer, .proceed, .serve, .hear, .serveAdrift, .hearAdrift, .giveUp, .revoke, .ring: true
        case .serveOrphan, .disturb: false
        }
    }
}
