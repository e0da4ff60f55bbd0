@testable import AtomNetworking

// The guarantees.
extension ProcessWorld {
    /// G0: a process goes by what its app has said last, until it reads what has
    /// reached the store later.
    private func mayUse(_ credential: IssuedCredential, _ process: Int) -> Bool {
        guard let word = processes[process].words.last, word.family != credential.family else { return true }
        // What a failed write should have replaced, others may have refreshed.
        if word.hasFailed, let over = word.over, over.family == credential.family, over.index < credential.index {
            return true
        }
        guard let landed = families[credential.family].landed else { return false }
        return landed > (word.landed ?? word.base)
    }

    /// G0, G7, G9.
    func checkStart(_ process: Int, _ credential: IssuedCredential) throws(Violation) {
        guard mayUse(credential, process) else {
            throw Violation("a request of \(process) is signed with \(credential), which is another's (G0)")
        }
        guard processes[process].words.count == processes[process].wordsBefore else {
            throw Violation("a request of \(process) is signed after a sign-in or sign-out (G9)")
        }
        let grant = families[credential.family].grants[credential.index]
        let isSignedIn = credential.index == 0
        guard grant.wasStored || grant.couldNotBeStored || isSignedIn else {
            throw Violation("a request of \(process) is signed with \(credential) before it is stored (G7)")
        }
    }

    /// G0, G1: which refresh token a process sends.
    func checkSending(_ process: Int, _ credential: IssuedCredential) throws(Violation) {
        guard !processes[process].spent.contains(credential) else {
            throw Violation("\(process) sends \(credential), which it knows to be spent (G1)")
        }
        guard !processes[process].refused.contains(credential) else {
            throw Violation("\(process) sends \(credential), which it knows to be refused (G8)")
        }
        guard mayUse(credential, process) else {
            throw Violation("\(process) sends \(credential), which is another's (G0)")
        }
        guard settings.isExclusive else { return }
        for other in processes.indices where other != process && processes[other].operations.first?.call != nil {
            throw Violation("\(process) sends \(credential) while \(other) refreshes (G1)")
        }
        // Unless this process has still to write, or has just died with it.
        guard file.credential == credential || processes[process].machine.store.outstanding != nil else {
            throw Violation("\(process) sends \(credential), but the store holds another (G1)")
        }
    }

    /// G1: the server sees a refresh token again.
    mutating func checkReuse(of credential: IssuedCredential) throws(Violation) {
        guard settings.isExclusive, !families[credential.family].isRevoked else { return }
        guard families[credential.family].isLost || families[credential.family].isGivenUp else {
            throw Violation("\(credential) is sent again, and the server revokes the session (G1)")
        }
        families[credential.family].isRevoked = true
    }

    /// What a refused process is told: whether an answer may have been lost.
    func checkRefusal(of credential: IssuedCredential, _ error: AuthenticationError) throws(Violation) {
        let family = families[credential.family]
        guard settings.isExclusive, family.isLost, !family.hasNoNote, credential.index < family.last else { return }
        guard case .refreshInterrupted = error else {
            throw Violation("nobody is told that the answer to \(credential) was lost")
        }
    }

    /// G8: no session ends that the server honours.
    func checkEnd(_ process: Int, _ error: AuthenticationError) throws(Violation) {
        guard let held = IssuedCredential(processes[process].machine.held?.credential) else { return }
        let isBehind = processes[process].machine.store.outstanding != nil
        guard processes[process].lastRead == held || isBehind else {
            throw Violation("the session of \(process) ends though the store holds another credential (G8)")
        }
        guard settings.isExclusive, !families[held.family].mayEnd else { return }
        throw Violation("the session of \(process) ends though the server honours it: \(error) (G8)")
    }

    /// G5, G8: what a request is told.
    func checkRefusal(_ process: Int, _ error: AuthenticationError) throws(Violation) {
        let process = processes[process]
        let isExpected =
            switch error {
            case .missingCredential: process.lastRead == nil || process.words.last.map { $0.family == nil } == true
            case .signedOut: process.words.count != process.wordsBefore || process.lastRead == nil
            case .refreshFailed: process.hasFailed
            case .refreshRejected, .refreshInterrupted: !process.refused.isEmpty
            default: false
            }
        guard isExpected else { throw Violation("a request is told \(error) without a reason (G5, G8)") }
    }

    /// G0, G7, G9: what a process puts into the store in place of something else.
    func checkWrite(_ new: IssuedCredential?, _ operation: StoreOperation, _ process: Int) throws(Violation) {
        guard settings.isExclusive else { return }
        let old = file.credential
        if let new, new.family == old?.family {
            guard new.index > (old?.index ?? 0) else {
                throw Violation("\(process) writes \(new) over its successor (G0)")
            }
            return
        }
        if case .write = operation.kind { return }
        // What comes from an earlier sign-in or sign-out replaces nothing newer.
        guard let word = processes[process].words.last(where: { $0.family == new?.family }) else {
            throw Violation("\(process) writes \(describe(new)) over \(describe(old)), which is another's (G0)")
        }
        guard word.landed == nil && !word.hasFailed || file.landed <= word.base else {
            throw Violation("\(process) writes \(describe(new)) over \(describe(old)), which is newer (G0, G9)")
        }
    }

    private func describe(_ credential: IssuedCredential?) -> String { credential?.description ?? "nothing" }

    /// G7, G9: what holds when everybody has heard.
    func checkQuiet() throws(Violation) {
        guard settings.isExclusive else { return }
        if let held = file.credential {
            let family = families[held.family]
            guard family.mayEnd || held.index == family.last else {
                throw Violation("the store holds \(held), and nobody has its successor (G7)")
            }
        }
        for process in processes {
            for removed in process.removed where !families[removed.family].mayEnd {
                throw Violation("a sign-out has removed \(removed), and it is not revoked")
            }
            guard let word = process.words.last, word.landed == nil, file.landed <= word.base else { continue }
            // What others have stored since a write has failed stays.
            if word.hasFailed, file.credential != word.over { continue }
            throw Violation("a sign-in or sign-out has not reached the store (G7)")
        }
        guard file.holder == nil else { throw Violation("nobody holds the lock, and it is taken") }
    }
}
