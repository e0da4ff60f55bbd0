@testable import AtomNetworking

/// A configuration of the model.
struct ModelSettings: Sendable {
    /// What may go wrong, or happen besides the requests.
    enum Disturbance: Hashable, Sendable {
        case cancel
        case refreshFails
        case retryAfter
        case answerLost
        case signIn
        case signOut
        case outsideRenews
        case outsideEmpties
        case outsideProlongs
        case outsideNewRefreshToken
        case revokeAccess
        case revokeSession
        /// Another process refreshes what is stored.
        case otherRefreshes
        /// Somebody else stores another access token beside the same refresh
        /// token.
        case outsideNewAccess
        /// The other of the two people signs in anew, by the app or by another
        /// process or the app's own variable.
        case signInOther
        case outsideOther
        /// The other person's earlier credential is put back.
        case signInBack
        case outsideBack
        /// The app signs in with the credential that the session holds.
        case signInAgain
        case loadingFails
        /// The store can't be reached for an exchange.
        case exchangeFails
        case writingFails
        /// A refresh is not answered in time; the answer may still come.
        case refreshIsOverdue
    }

    /// How another credential is got.
    enum Renewal: Hashable, Sendable {
        case refreshToken
        case clientCredentials
        case provider

        var means: RefreshMeans {
            switch self {
            case .refreshToken: .refreshToken
            case .clientCredentials: .clientCredentials
            case .provider: .provider
            }
        }
    }

    var name: String
    var requests: Int
    var disturbances: Set<Disturbance> = []
    /// The largest number of them.
    var limit = 0
    /// How often time moves on to the next moment that matters.
    var timeSteps = 0
    /// In seconds; the time steps decide which are reached.
    var deadlines: [Int] = []
    /// Whether two people sign in, one after the other.
    var hasTwoPeople: Bool {
        !disturbances.isDisjoint(with: [.signInOther, .signInBack, .outsideOther, .outsideBack])
    }
    /// Whether requests wait for a slot between admission and start.
    var slots = false
    /// Whether reading the store and asking are two steps.
    var readsApart = false
    /// Whether the server refuses every access token.
    var refusesEverything = false
    /// Whether the server says of every token that it issues that it has expired.
    var saysNoLifetime = false
    var storeTakes = true
    /// Whether the session reads and writes a store of its own, which other
    /// processes share.
    var hasStore = false
    var renewal = Renewal.refreshToken
    var isStoreEmpty = false
    /// Whether the server takes a refresh token only once.
    var rotates = true
    /// The life of the first token and of those that follow, in seconds.
    var firstLife = 40
    var life = 40
    var fruitlessLimit = 2

    /// What the server says of the life of its tokens.
    var saidLife: Int { saysNoLifetime ? 0 : life }
}

/// One step of the model.
enum ModelStep: Hashable, Sendable {
    case read(Int)
    case ask(Int)
    case slot
    case answer(Int)
    case cancel(Int)
    case deadline(Int)
    case release
    case enterLane
    case grant
    case fail(retryAfter: Int?, isAnswerLost: Bool)
    case isOverdue
    /// An overdue refresh is answered, or its connection has ended.
    case overdueEnds(isGranted: Bool)
    case refuse
    case write
    case written
    case ring
    case time
    case signIn
    case signInOther
    case signInBack
    case signInAgain
    case signOut
    case appSigns
    case outside(ModelSettings.Disturbance)
    case revokeAccess
    case revokeSession
    case loaded
    case loadingFails
    case begin
    case beginFails
    case cancelled
    case end
    case endFails
    case hear
    case writeAgain
    /// A token request is answered whose session is over.
    case cameLate(isGranted: Bool)

    /// Whether it happens by itself, sooner or later: no caller may depend on the
    /// other steps to be told.
    var isFair: Bool {
        switch self {
        case .read, .ask, .slot, .answer, .release, .enterLane, .grant, .refuse, .write, .written, .ring, .appSigns,
            .loaded,
            .begin, .cancelled, .end, .hear, .cameLate, .overdueEnds:
            true
        case .isOverdue, .cancel, .deadline, .fail, .time, .signIn, .signInOther, .signInBack, .signInAgain, .signOut,
            .outside,
            .revokeAccess, .revokeSession,
            .loadingFails, .beginFails, .endFails, .writeAgain:
            false
        }
    }
}
