import Foundation

@testable import AtomNetworking

/// A credential that the authorization server has issued.
///
/// Each sign-in begins a family, as if another person had signed in, and each
/// refresh adds a credential to it.
struct IssuedCredential: Hashable, Sendable, CustomStringConvertible {
    let family: Int
    let index: Int

    var description: String { "\(family).\(index)" }

    var next: IssuedCredential { IssuedCredential(family: family, index: index + 1) }

    var accessToken: String { Self.tokens[family][index].access }
    var refreshToken: String { Self.tokens[family][index].refresh }

    init(family: Int, index: Int) {
        self.family = family
        self.index = index
    }

    /// `nil` for an empty one.
    init?(_ credential: TokenCredential?) {
        guard let credential, !credential.isEmpty else { return nil }
        self.init(accessToken: credential.accessToken)
    }

    init(accessToken: String) {
        let digits = accessToken.utf8.map { Int($0) - 48 }
        self.init(family: digits[1], index: digits[3])
    }

    /// One digit each.
    private static let tokens = (0..<10).map { family in
        (0..<10).map { (access: "a\(family).\($0)", refresh: "r\(family).\($0)") }
    }
}

/// What the authorization server has issued for one sign-in.
///
/// It takes each refresh token once, and revokes the family when one is sent
/// again (RFC 9700 §4.14.2).
struct TokenFamily: Hashable, Sendable {
    struct Grant: Hashable, Sendable {
        let expiresAt: Int
        var isAccessRevoked = false
        /// Whether the store has held it.
        var wasStored = false
        /// Whether writing it has failed.
        var couldNotBeStored = false
    }

    /// The refresh token of the last one is the valid one.
    var grants: [Grant]
    var isRevoked = false
    /// Whether nobody has, or can store, what was issued last: an answer was lost, a
    /// process died with it, or the store couldn't be written.
    var isLost = false
    /// Whether its last answer is for a process that has signed in or out meanwhile.
    var isGivenUp = false
    /// Whether a note could not be written.
    var hasNoNote = false
    /// When the store held it first, as a count of sign-ins and sign-outs that have
    /// reached the store.
    var landed: Int?

    var last: Int { grants.count - 1 }

    /// Whether a session of it may end although the server honours it.
    var mayEnd: Bool { isRevoked || isLost || isGivenUp }
}

/// A request for a new credential.
struct TokenCall: Hashable, Sendable {
    enum Answer: Hashable, Sendable {
        case granted(IssuedCredential)
        case refused
    }

    let number: Int
    let credential: IssuedCredential
    let sentAt: Int
    /// What the server has answered, and the process hasn't heard.
    var answer: Answer?
}

/// What the processes share: a file that holds the credential, and its lock.
struct SharedFile: Sendable {
    var content: StoredCredential?
    /// When the sign-in or sign-out landed that the content comes from.
    var landed = 0
    /// The process that holds the lock.
    var holder: Int?
    /// Whether a process has died between its temporary file and the renaming.
    var hasLeftover = false

    var credential: IssuedCredential? { IssuedCredential(content?.credential) }
}
