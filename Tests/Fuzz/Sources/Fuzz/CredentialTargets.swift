import Foundation

@testable import AtomNetworking

enum CredentialTargets {
    private static let now = Date(timeIntervalSince1970: 1_900_000_000)
    private static let old = TokenCredential(
        accessToken: "aCc3sS.0ld.t0k3n-Zz91", expiresAt: now, refreshToken: "r3fr3sH_0ld_t0k3n-Yy82",
        idToken: "1d.0ld.t0k3n-Xx73")
    private static let clientSecret = "cl13nT-s3cr3t-Ww64"

    /// Answers of token endpoints: the body, a status and two header fields.
    @Sendable static func answers(_ input: Input) {
        let texts = input.texts
        var fields = HeaderFields([])
        for (name, value) in zip(["Retry-After", "Date"], texts.dropFirst(2)) {
            fields.append(name: name, value: value)
        }
        let status = Int(input.text(1)) ?? 200
        let body = Data(texts[0].replacingOccurrences(of: "$OLD", with: old.refreshToken).utf8)
        let response = AtomResponse(data: body, statusCode: status, headerFields: fields)
        for old in [old, nil] {
            switch TokenResponse(response, replacing: old, clientSecret: clientSecret, sentAt: now) {
            case .granted(let credential, let lifetime):
                let token = credential.accessToken
                check(!token.isEmpty && token.isVisibleASCII, "the token can be sent", [token])
                check(lifetime.map { (0...4e9).contains($0) } ?? true, "a lifetime is a time", [texts[0], lifetime])
                check(credential.expiresAt >= now, "it isn't issued expired", [texts[0], credential.expiresAt])
                check(old != nil || credential.refreshToken.isEmpty, "no refresh token comes from nowhere", [texts[0]])
                check(old == nil || !credential.refreshToken.isEmpty, "a refresh token isn't lost", [texts[0]])
                checkCredential(credential)
            case .rejected(let error):
                check(error.code == "invalid_grant" && old != nil, "only the code ends a session", [texts[0]])
                checkWords(String(reflecting: error) + (error.uri ?? ""), texts[0])
            case .failed(let error, let wait, let refreshToken):
                check(wait.map { $0 >= .zero && $0 <= .seconds(86_400) } ?? true, "a pause is one", [wait])
                check(refreshToken?.isEmpty != true, "a new refresh token isn't empty", [texts[0]])
                checkWords("\(error)" + String(reflecting: error) + ((error as? OAuthError)?.uri ?? ""), texts[0])
            }
        }
    }

    /// What the server repeats of a secret isn't shown.
    private static func checkWords(_ text: String, _ body: String) {
        for secret in [old.refreshToken, old.accessToken, old.idToken ?? "", clientSecret] {
            for start in 0...(secret.utf8.count - 8) {
                let piece = String(decoding: secret.utf8.dropFirst(start).prefix(8), as: UTF8.self)
                check(!text.has(piece), "no part of a secret is shown", [text, body])
            }
        }
    }

    /// What is decoded as a credential, and what is made of texts and a number.
    @Sendable static func credentials(_ input: Input) {
        if let credential = try? JSONDecoder().decode(TokenCredential.self, from: input.data) {
            checkCredential(credential)
        }
        let texts = input.texts
        guard texts.count > 2, let seconds = Double(texts[0]) else { return }
        checkCredential(
            TokenCredential(
                accessToken: texts[1], expiresAt: Date(timeIntervalSinceReferenceDate: seconds),
                refreshToken: texts[2], scope: texts.dropFirst(3).first, tokenType: texts.dropFirst(4).first,
                idToken: texts.dropFirst(5).first))
    }

    private static func checkCredential(_ credential: TokenCredential) {
        let secrets = [credential.accessToken, credential.refreshToken].filter { $0.utf8.count > 40 }
        let shown = String(reflecting: credential) + "\(credential)"
        check(!secrets.contains { shown.has($0) }, "it doesn't show its tokens", [shown])
        var date = credential.expiresAt
        date = date >= LooseTime.never ? .distantFuture : max(date, .distantPast)
        let expected = TokenCredential(
            accessToken: credential.accessToken, expiresAt: date, refreshToken: credential.refreshToken,
            scope: credential.scope, tokenType: credential.tokenType, idToken: credential.idToken)
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        let again = (try? encoder.encode(credential)).flatMap { try? decoder.decode(TokenCredential.self, from: $0) }
        check(again == expected, "an encoded credential is the same", [String(describing: date), secondsOf(again)])
        encoder.dateEncodingStrategy = .secondsSince1970
        decoder.dateDecodingStrategy = .secondsSince1970
        let other = (try? encoder.encode(credential)).flatMap { try? decoder.decode(TokenCredential.self, from: $0) }
        let difference = other.map { abs($0.expiresAt.timeIntervalSince(date)) }
        // Seconds since 1970 lose the last bits of a date.
        check(difference.map { $0 < 1e-3 } ?? false, "its date is the same", [secondsOf(credential), secondsOf(other)])
        let stored = StoredCredential(credential: credential)
        guard let data = try? stored.encoded() else { return }
        check((try? StoredCredential(data)) == stored, "a stored credential is the same", [secondsOf(credential)])
    }

    private static func secondsOf(_ credential: TokenCredential?) -> Double? {
        credential?.expiresAt.timeIntervalSinceReferenceDate
    }

    /// The content of a store's file, and the notes of a download.
    @Sendable static func stores(_ input: Input) {
        if let stored = try? StoredCredential(input.data) {
            if let data = try? stored.encoded() {
                check((try? StoredCredential(data)) == stored, "what was read is written", [input.text])
            }
            if let credential = stored.credential {
                checkCredential(credential)
                _ = stored.intent?.concerns(credential.refreshToken)
            }
        }
        if let notes = try? JSONDecoder().decode(FileDownload.Partial.self, from: input.data) {
            let again = (try? JSONEncoder().encode(notes)).flatMap {
                try? JSONDecoder().decode(FileDownload.Partial.self, from: $0)
            }
            check(again == notes && notes.offset >= 0, "notes are the same", [input.text])
        }
        let intent = RefreshIntent(refreshToken: input.text, salt: input.number)
        check(intent.concerns(input.text), "a note is about its token", [input.text])
        check(!intent.concerns(input.text + "x"), "and about no other", [input.text])
    }
}
