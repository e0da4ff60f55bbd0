import AtomNetworking
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited) struct JSONWebKeyTests {
    // The first is in RFC 9449 §6.2; the second one is of the key of RFC 7515 §A.3, computed with jwcrypto.
    @Test(
        "A thumbprint is that of RFC 7638",
        arguments: [
            (
                "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs", "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
                "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
            ),
            (
                "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"
            ),
        ])
    func thumbprint(_ x: String, _ y: String, _ thumbprint: String) throws {
        let point = try Data([4] + #require(Base64URL.decode(x)) + #require(Base64URL.decode(y)))
        #expect(try DPoP(key: FixedKey(publicKey: point)).keyThumbprint == thumbprint)
        // A part of other data, whose first index isn't zero.
        #expect(try JSONWebKey(point: (Data([1, 2]) + point).dropFirst(2)).thumbprint == thumbprint)
    }

    @Test("A coordinate keeps the zero at its beginning (RFC 7518 §6.2.1.2)")
    func zeroAtTheBeginning() throws {
        // The public key of the private key 379; the thumbprint was computed with jwcrypto.
        let digits = Array(
            "005543894af3d00ed7d740abdbd75c96b06877b787db5f70eea78b90a8d7c00a"
                + "bb4c85a3d8ea29efaafa24406912dd84d5b14dc32bf656ef6c6bd58a5d943f92")
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        let key = try JSONWebKey(point: Data([4] + bytes))
        #expect(key.json.contains(#""x":"AFVDiUrz0A7X10Cr29dclrBod7eH219w7qeLkKjXwAo""#))
        #expect(key.thumbprint == "7Yxe6c_3bAa6kiaK1G-BZmi9EeNsUmlcbdnrtLeuK4E")
    }

    @Test(
        "A public key in another form is refused",
        arguments: [
            Data(), FixedKey.point.dropFirst(), Data([2]) + FixedKey.point.dropFirst(), FixedKey.point + [0],
            Data([2]) + FixedKey.point[1..<33],
        ])
    func otherForms(_ point: Data) {
        let error = #expect(throws: AtomError.self) { try DPoP(key: FixedKey(publicKey: point)) }
        guard case .requestable(.unsupportedConfiguration) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
