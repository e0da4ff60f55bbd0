@testable import AtomNetworking

/// An operation of the session on its store; they run one after the other, as
/// the store's keeper runs them.
struct ModelOperation: Hashable {
    enum Kind: Hashable {
        case load(Int)
        /// A refresh in an exchange with the store.
        case refresh(Int)
        /// The load of the store before a provider is asked.
        case look(Int)
        /// A provider's credential is stored; with what the store held when it
        /// was loaded.
        case keep(Int, ModelCredential, over: ModelCredential)
        /// A sign-in, or a sign-out, of the machine's tenure.
        case write(ModelCredential, of: Tenure)
        /// A write that failed is tried again, or the successor of a spent
        /// credential is written over it.
        case writeAgain
    }

    enum Stage: Hashable {
        case queued
        /// The server has been asked for a new credential.
        case sent(ModelCredential)
        /// It is known what has to be stored.
        case answered
        /// The session has to be told.
        case ended(hasFailed: Bool)
    }

    enum Outcome: Hashable {
        /// The store could not be reached.
        case nothing
        case abandoned
        case granted(tokenNumber: Int)
        case rejected
        case failed(retryAfter: Int?)
        /// Its session is over, and its answer is still to come.
        case leftBehind
        /// Its time is over, and its answer is still to come.
        case overdue
    }

    let kind: Kind
    var stage = Stage.queued
    var outcome = Outcome.nothing
    /// What the store held.
    var stored = ModelCredential()
    /// What it has to hold.
    var result = ModelCredential()
    var isCancelled = false
    /// Whether a sign-in or sign-out replaces what the store held.
    var isSaid = false
    /// The model's own generation when it was asked for, or begun.
    var generation: Int

    init(_ kind: Kind, in generation: Int) {
        self.kind = kind
        self.generation = generation
    }

    /// Whether a store that is shared keeps others out.
    var isExclusive: Bool {
        switch stage {
        case .sent, .answered: true
        case .queued, .ended: false
        }
    }

    var isGranted: Bool { if case .granted = outcome { true } else { false } }
}

/// What the store held for a load; the session is told later.
struct ModelLoad: Hashable {
    let number: Int
    let stored: ModelCredential
    /// The model's own count.
    let generation: Int
}

/// A refresh that the app's provider is asked for, and what the store held.
struct ModelProviderCall: Hashable {
    let number: Int
    let stored: ModelCredential
}

extension ModelCredential {
    /// What a store returns.
    var inStore: TokenCredential? { isEmpty ? nil : real }

    func hasTokens(of other: ModelCredential) -> Bool { access == other.access && refresh == other.refresh }
}

extension ModelWorld {
    func describeStore(to scribe: inout ModelScribe) {
        guard settings.hasStore else { return }
        let machine = sut.machine
        for operation in operations {
            switch operation.kind {
            case .load(let number): scribe.key.add(number == machine.runningLoad ? 10 : 11)
            case .refresh(let number): scribe.key.add(number == machine.running?.number ? 12 : 13)
            case .look(let number): scribe.key.add(number == machine.running?.number ? 14 : 15)
            case .keep(let number, let credential, let old):
                scribe.key.add(number == machine.running?.number ? 16 : 17)
                scribe.credential(credential)
                scribe.credential(old)
            case .write(let credential, let tenure):
                scribe.key.add(tenure.isSameSignIn(as: machine.tenure) ? 18 : 19)
                scribe.credential(credential)
                if let (ended, account) = endings[tenure] {
                    scribe.credential(ModelCredential(ended.held ?? .empty))
                    scribe.credential(ModelCredential(ended.store.last ?? .empty))
                    scribe.key.add(ended.store.outstanding == nil)
                    scribe.key.add(account ?? -1)
                }
            case .writeAgain: scribe.key.add(20)
            }
            switch operation.stage {
            case .queued: scribe.key.add(0)
            case .sent(let credential):
                scribe.key.add(1)
                scribe.credential(credential)
            case .answered: scribe.key.add(2)
            case .ended(let hasFailed): scribe.key.add(hasFailed ? 3 : 4)
            }
            switch operation.outcome {
            case .nothing: scribe.key.add(0)
            case .abandoned: scribe.key.add(1)
            case .granted(let tokenNumber): scribe.key.add(machine.mayStore(tokenNumber: tokenNumber) ? 2 : 3)
            case .rejected: scribe.key.add(4)
            case .failed(let retryAfter): scribe.key.add(retryAfter ?? 5)
            case .leftBehind: scribe.key.add(6)
            case .overdue: scribe.key.add(7)
            }
            scribe.credential(operation.stored)
            scribe.credential(operation.result)
            scribe.key.add((operation.isCancelled ? 1 : 0) + (operation.isSaid ? 2 : 0))
            scribe.key.add(operation.generation == generation)
        }
        scribe.key.add(-9)
        for load in loads {
            scribe.key.add(load.number == machine.runningLoad)
            scribe.key.add(load.generation == generation)
            scribe.credential(load.stored)
        }
        scribe.key.add(-10)
        for call in provided {
            scribe.key.add(call.number == machine.running?.number)
            scribe.credential(call.stored)
        }
        for number in leftBehind { scribe.key.add(number == machine.running?.number) }
        scribe.key.add(-11)
        switch machine.store.outstanding {
        case .first(let tenure): scribe.key.add(tenure.isSameSignIn(as: machine.tenure) ? 1 : 2)
        case .overAnything: scribe.key.add(3)
        case .overOld: scribe.key.add(4)
        case nil: scribe.key.add(0)
        }
        scribe.key.add(-12)
        if let missed {
            scribe.credential(missed.credential)
            scribe.credential(missed.over)
        }
        scribe.key.add(-13)
        if let lastWord { scribe.credential(lastWord) }
        scribe.key.add(machine.store.retryAt != nil)
    }
}
