import Foundation

/// Why one of the SDK's token stores failed.
///
/// Match a case without its payload. It contains no part of a token.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum TokenStoreError: Error, Hashable, Sendable {
    /// The stored data is not a credential, for the given reason.
    ///
    /// A file has been moved to the given location, if it could be; nothing else changes.
    case corrupt(String, keptAt: URL?)

    /// A newer version of the SDK wrote the data, which stays unchanged.
    case newerFormat(version: Int)

    /// Others, usually another process, used the store for too long.
    case lockTimedOut(Duration)

    /// The disk is full, or the user's quota is used up.
    case diskFull

    /// The disk or folder can't be written.
    case readOnly

    /// The file or folder can't be used, for the given reason: a symbolic link, a folder that others can write to, a file
    /// of another user, tokens of another authorization server.
    case refused(String)

    /// The device has not been unlocked since it was started, or the entitlement of the store's app group is missing.
    case locked

    /// A system call failed.
    ///
    /// - Parameters:
    ///   - operation: The call, such as `open` or `SecItemCopyMatching`.
    ///   - code: `errno`, or the Keychain's status.
    case system(operation: String, code: Int)
}

extension TokenStoreError {
    /// What others have replaced while the process was suspended must not be spent.
    static let overtaken = refused("another process has replaced the tokens while this one was suspended")

    static let missingEntitlement = refused("the app has no entitlement for this Keychain access group")

    /// The end of a refusal that a sign-in mends.
    static let signInAgain = "to replace them, sign in again"

    /// Whether the same write may succeed some seconds later although nobody has changed a path, a permission, a file or
    /// the space on a disk.
    var mayPass: Bool {
        switch self {
        case .corrupt(_, .some), .lockTimedOut: true
        case .system(_, let code):
            ![EACCES, EPERM, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EINVAL].contains { Int($0) == code }
        case .corrupt, .newerFormat, .diskFull, .readOnly, .refused, .locked: self == .overtaken
        }
    }

    /// Whether files can't be read before the device has been unlocked.
    private static var systemProtectsFiles: Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            true
        #else
            false
        #endif
    }

    /// - Parameter permission: What this process may not do if it lacks a permission.
    init(
        _ code: Int32, during operation: String, isWriting: Bool = false, permission: String? = nil,
        protectsFiles: Bool = TokenStoreError.systemProtectsFiles
    ) {
        switch code {
        case ENOSPC, EDQUOT: self = .diskFull
        case EPERM where protectsFiles && ["open", "read"].contains(operation): self = .locked
        case EROFS: self = .readOnly
        case EACCES where isWriting, EPERM where isWriting: self = .readOnly
        case EACCES, EPERM:
            self =
                permission.map { .refused("this process has no permission to \($0)") }
                ?? .system(operation: operation, code: Int(code))
        default: self = .system(operation: operation, code: Int(code))
        }
    }
}

extension TokenStoreError {
    init(_ error: FolderError) {
        if let reason = error.reason {
            self = .refused(reason)
        } else {
            self.init(
                error.code, during: error.operation, isWriting: error.isWriting, permission: error.permission)
        }
    }
}

extension TokenStoreError: RedactedError {
    /// The system's words for `errno`; the Keychain's codes are negative.
    private static func words(for code: Int) -> String? {
        code > 0 ? Int32(exactly: code).map { String(cString: strerror($0)) } : nil
    }

    /// A sentence that says what happened.
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
        case .locked: "The token store is locked until the device has been unlocked once."
        case .system(let operation, let code):
            "\(operation) failed with code \(code)\(Self.words(for: code).map { " (\($0))" } ?? "")."
        }
    }
}
