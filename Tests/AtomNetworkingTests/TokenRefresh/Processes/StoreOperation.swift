@testable import AtomNetworking

/// An operation of a process on the store, step by step: between two steps anybody
/// else may do theirs, and the process may die.
struct StoreOperation: Sendable {
    enum Kind: Sendable {
        case load(Int)
        case refresh(Int)
        /// A sign-in, or a sign-out of what was held; with what the process knew of the
        /// store before it.
        case write(IssuedCredential?, tenure: Tenure, before: StoreMemory, held: IssuedCredential?)
        /// A write that has failed is tried again.
        case writeAgain(tenure: Tenure)
    }

    /// What it does next.
    enum Stage: Sendable {
        /// It reads without the lock.
        case loads
        case begins
        case wantsLock
        /// It reads under the lock.
        case reads
        case notes
        case removesNote
        /// It writes a temporary file.
        case writes(StoredCredential?, Next)
        case renames(StoredCredential?, Next)
        case waits(TokenCall)
        /// A store without a lock looks whether somebody else has written, and saves.
        case compares
        case saves
        case releases
        /// Before its session ends, it reads again.
        case readsAgain
        case tells
    }

    /// What follows a write.
    enum Next: Sendable {
        case sends
        case settles
        case releases
        case tells
    }

    enum Name: String, Sendable {
        case load, begin, lock, read, note, removeNote, write, rename, compare, save, release, readAgain, tell
    }

    enum Outcome: Sendable {
        /// The store could not be reached.
        case nothing
        case abandoned
        case granted(IssuedCredential, tokenNumber: Int)
        case rejected(AuthenticationError)
        case failed
        /// Its session is over, and its answer is still to come.
        case leftBehind
    }

    let kind: Kind
    var stage: Stage
    var outcome = Outcome.nothing
    /// What the store held at first, and what it will hold.
    var old: TokenCredential?
    var result: TokenCredential?
    /// What it holds if nothing comes of a refresh.
    var unchanged: TokenCredential?
    /// What it sends.
    var sends: IssuedCredential?
    var wasInterrupted = false
    var isCancelled = false
    var hasFailed = false

    init(_ kind: Kind, at stage: Stage) {
        self.kind = kind
        self.stage = stage
    }

    /// The next step that happens by itself; `nil` while it waits for the server.
    var name: Name? {
        switch stage {
        case .loads: .load
        case .begins: .begin
        case .wantsLock: .lock
        case .reads: .read
        case .notes: .note
        case .removesNote: .removeNote
        case .writes: .write
        case .renames: .rename
        case .waits: nil
        case .compares: .compare
        case .saves: .save
        case .releases: .release
        case .readsAgain: .readAgain
        case .tells: .tell
        }
    }

    var call: TokenCall? { if case .waits(let call) = stage { call } else { nil } }

    /// The credential that it has got and that isn't written yet.
    var granted: IssuedCredential? { if case .granted(let credential, _) = outcome { credential } else { nil } }
}
