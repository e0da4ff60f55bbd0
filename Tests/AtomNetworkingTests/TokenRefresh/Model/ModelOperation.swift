@testable import AtomNetworking

/// Something that the session does with its store; one after the other, as
/// the session's actor does it.
struct ModelOperation: Hashable {
    enum Kind: Hashable {
        case load(Int)
        /// A refresh with the store held.
        case refresh(Int)
        /// The look at the store before a provider is asked.
        case look(Int)
        /// The store takes what a provider has brought; what was there at the
        /// look.
        case keep(Int, ModelCredential, over: ModelCredential)
        /// A sign-in, or a sign-out, of the machine's generation.
        case write(ModelCredential, generation: Int)
        /// What could not be written is written.
        case writeAgain
        /// What a spent credential has come to is written over it.
        case rewrite(ModelCredential, version: Int)
    }

    enum Stage: Hashable {
        case queued
        /// The server has been asked for another one.
        case sent(ModelCredential)
        /// What is to be stored is known.
        case answered
        /// All is done but telling the session.
        case ended(hasFailed: Bool)
    }

    enum Outcome: Hashable {
        /// The store could not be had.
        case nothing
        case abandoned
        case granted(version: Int)
        case rejected
        case failed(retryAfter: Int?)
        /// Its answer is still to come, for a session that is over.
        case leftBehind
    }

    let kind: Kind
    var stage = Stage.queued
    var outcome = Outcome.nothing
    /// What the store held.
    var stored = ModelCredential()
    /// What it is to hold.
    var result = ModelCredential()
    var isCancelled = false
    /// Whether what the app has said goes before what the store held.
    var isSaid = false
    /// The model's own count, when it was asked for, or begun.
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

/// What the store held for a load, when the session hears of it later.
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
    /// What a store hands over.
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
            case .write(let credential, let generation):
                scribe.key.add(generation == machine.generation ? 18 : 19)
                scribe.credential(credential)
            case .writeAgain: scribe.key.add(20)
            case .rewrite(let credential, let version):
                scribe.key.add(machine.mayStore(version: version) ? 21 : 22)
                scribe.credential(credential)
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
            case .granted(let version): scribe.key.add(machine.mayStore(version: version) ? 2 : 3)
            case .rejected: scribe.key.add(4)
            case .failed(let retryAfter): scribe.key.add(retryAfter ?? 5)
            case .leftBehind: scribe.key.add(6)
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
        if let unwritten {
            scribe.credential(unwritten.credential.map { ModelCredential($0) } ?? ModelCredential())
            if case .known(let replaced) = unwritten.replaced {
                scribe.credential(replaced.map { ModelCredential($0) } ?? ModelCredential())
            }
        }
        scribe.key.add(-12)
        if let missed {
            scribe.credential(missed.credential)
            scribe.credential(missed.over)
        }
        scribe.key.add(-13)
        if let lastWord { scribe.credential(lastWord) }
        scribe.key.add(isWriteAlarmSet)
    }
}
