/// A bug that the model of several processes has to find.
enum ProcessBug: String, CaseIterable, Sendable {
    case lockIsSkipped
    case lockOutlivesItsProcess
    case storeIsNotReadAgain
    case writesAfterTheRelease
    case fileIsEmptiedFirst
    case noteIsNotWritten
    case noteIsIgnored
    case refusalRemovesTheNote
    /// A process that has died goes on with what it had read.
    case restartUsesWhatItKnew
    /// A sign-out that could not be written removes the next person's tokens.
    case retryReplacesAnything
    /// Reading the store takes over the session that a sign-in replaces.
    case writtenOverIsNews
    /// Reading the store signs in again who was signed out.
    case loadForgetsTheSignOut
    case requestsGoBeforeTheWrite
    /// An exchange that began earlier writes a sign-out, which then finds nothing to
    /// revoke.
    case exchangeWritesForASignOut
    case signOutLeavesWaiters
    /// What a sign-out revokes was read before it had the lock.
    case signOutReadsBefore
    case endsWithoutReading
    case savesWithoutLooking
}
