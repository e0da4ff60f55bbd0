import AtomNetworkingSignIn
import Crypto
import Foundation

/// A key for DPoP proofs in a file that only its owner can read.
///
/// On Apple's systems an app would rather use a key of the Secure Enclave, which nobody can copy.
public final class FileKey: DPoPKey {
    /// The file can't be used.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The point, 65 bytes.
    public let publicKey: Data
    /// The key as it is stored: swift-crypto's own type can't be shared.
    private let privateKey: Data

    /// Reads the key.
    ///
    /// - Parameters:
    ///   - url: Its file.
    ///   - creating: Whether to make a key if there is no file; of several processes that do so one makes it.
    public init(_ url: URL, creating: Bool = false) throws {
        do {
            if creating, !FileManager.default.fileExists(atPath: url.path) { try Self.make(url) }
            privateKey = try Data(contentsOf: url)
            publicKey = try P256.Signing.PrivateKey(rawRepresentation: privateKey).publicKey.x963Representation
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(description: "The key of the session in \(url.path) is missing, or can't be read.")
        }
    }

    private static func make(_ url: URL) throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let draft = url.path + ".\(UUID().uuidString)"
        let file = open(draft, O_CREAT | O_EXCL | O_WRONLY, 0o600)
        guard file >= 0 else { throw Failure(description: "A key can't be written to \(url.path).") }
        defer { unlink(draft) }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: P256.Signing.PrivateKey().rawRepresentation)
        try handle.synchronize()
        try handle.close()
        // The whole file appears at once, and never in place of another one.
        guard link(draft, url.path) == 0 || errno == EEXIST else {
            throw Failure(description: "A key can't be written to \(url.path).")
        }
    }

    /// The signature, 64 bytes.
    public func signature(for message: Data) throws -> Data {
        try P256.Signing.PrivateKey(rawRepresentation: privateKey).signature(for: message).rawRepresentation
    }
}
