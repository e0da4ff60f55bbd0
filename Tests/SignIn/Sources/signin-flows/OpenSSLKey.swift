import AtomNetworkingSignIn
import Foundation

/// A key of the program `openssl`, so that the signatures are of somebody else, too.
///
/// The file is removed with the key.
final class OpenSSLKey: DPoPKey {
    let publicKey: Data
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")

    init() throws {
        let path = file.path
        _ = try Self.openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path])
        // The point is the end of the structure.
        publicKey = Data(try Self.openssl(["pkey", "-in", path, "-pubout", "-outform", "DER"]).suffix(65))
    }

    deinit { try? FileManager.default.removeItem(at: file) }

    func signature(for message: Data) throws -> Data {
        let der = [UInt8](try Self.openssl(["dgst", "-sha256", "-sign", file.path], input: message))
        // A sequence of two integers, each with a length of one octet and perhaps a zero in front.
        var (numbers, index) = (Data(), 2)
        for _ in 0..<2 {
            let length = Int(der[index + 1])
            let number = der[(index + 2)..<(index + 2 + length)].drop { $0 == 0 }
            numbers += Data(count: 32 - number.count) + number
            index += 2 + length
        }
        return numbers
    }

    private static func openssl(_ arguments: [String], input: Data = Data()) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        process.standardError = FileHandle.nullDevice
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: input)
        try standardInput.fileHandleForWriting.close()
        let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Problem("openssl has failed") }
        return output
    }
}
