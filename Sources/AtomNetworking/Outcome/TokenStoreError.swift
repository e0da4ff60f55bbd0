import Foundation

/// Why a token store of the SDK's could not do what it was asked.
///
/// Match a case without its payload to tell the reasons apart. Nothing in it
/// comes from a token.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TokenStoreError: Error, Hashable, Sendable {
    /// What is stored is no credential, for the reason given.
    ///
    /// A file has been moved aside to the named place; one that can't be moved,
    /// and a Keychain item, is left as it is.
    case corrupt(String, keptAt: URL?)

    /// A newer version of the SDK wrote what is stored, in a form that this
    /// one can't read; it is left as it is.
    case newerFormat(version: Int)

    /// Others, usually another process, used the store for longer than it
    /// waits.
    case lockTimedOut(Duration)

    /// The disk is full, or the user's share of it.
    case diskFull

    /// The disk or folder can't be written.
    case readOnly

    /// The file or folder may not be used, for the reason given: a link, a
    /// folder that others may write, a file that is someone else's.
    case refused(String)

    /// The Keychain can't be used right now: the device has not been unlocked
    /// since it was started.
    case locked

    /// The system refused a call.
    ///
    /// - Parameters:
    ///   - operation: What was to be done, such as `open` or
    ///     `SecItemCopyMatching`.
    ///   - code: `errno`, or the Keychain's status.
    case system(operation: String, code: Int)
}

extension TokenStoreError: CustomStringConvertible, LocalizedError {
    /// A sentence that a person can act on.
    public var description: String {
        switch self {
        case .corrupt(let reason, let place?):
            "The stored credential can't be read (\(reason)); the file was kept as \(place.lastPathComponent)."
        case .corrupt(let reason, nil):
            "The stored credential can't be read (\(reason))."
        case .newerFormat(let version):
            "A newer version of the SDK wrote the stored credential, in format \(version)."
        case .lockTimedOut(let duration):
            "Others kept the token store locked for more than \(duration)."
        case .diskFull: "The disk is full."
        case .readOnly: "The token store can't be written: the disk or folder is read-only."
        case .refused(let reason): "The token store can't be used: \(reason)."
        case .locked: "The Keychain is locked until the device has been unlocked once."
        case .system(let operation, let code): "\(operation) failed with code \(code)."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
