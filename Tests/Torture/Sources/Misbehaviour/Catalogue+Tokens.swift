import AtomNetworking
import Foundation

// A token endpoint that misbehaves.
extension Catalogue {
    private static func token(
        _ name: String, expecting expectation: Behaviour.Expectation, _ change: (inout Behaviour) -> Void = { _ in },
        serve: @escaping @Sendable (Line, Head, Int) -> Ending
    ) -> Behaviour {
        Behaviour("tokens", name, expecting: expectation) {
            $0.hasSession = true
            // What is not a refresh is a fault, and so is a second one beside it.
            $0.timeout = (5, 10)
            change(&$0)
        } serve: { line, head, hit in
            if head.path == "/token" { return serve(line, head, hit) }
            guard line.readBody(of: head) != nil else { return .close }
            let isSigned =
                head["Authorization"].map { $0.hasPrefix("Bearer ") && $0 != "Bearer \(Trial.token)" } ?? false
            line.write(isSigned ? sound() : sound("not signed", status: 401))
            return .keep
        }
    }

    private static func answering(
        _ name: String, _ text: String, then ending: Ending = .keep, expecting expectation: Behaviour.Expectation,
        _ change: (inout Behaviour) -> Void = { _ in }
    ) -> Behaviour {
        token(name, expecting: expectation, change) { line, head, _ in
            guard line.readBody(of: head) != nil else { return .close }
            line.write(text)
            return ending
        }
    }

    /// The refresh failed for now, and the request wasn't sent.
    private static let failsForNow = Behaviour.Expectation.judged { outcome, record in
        guard case .failure(.authentication(.refreshFailed(_, _, let delivery))) = outcome, delivery == .notSent else {
            return "expected a failed refresh"
        }
        if record.heads.contains(where: { $0.path == "/x" }) { return "the request was sent" }
        let count = record.heads.count { $0.path == "/token" }
        return count <= 1 ? nil : "\(count) refreshes"
    }
    private static let succeeds = Behaviour.Expectation.response(200, hello)

    static var tokens: [Behaviour] {
        var behaviours: [Behaviour] = []
        let grant = sound(Trial.grant)
        for count in 0..<grant.utf8.count {
            for ending in [Ending.close, .reset, .halfClose] {
                behaviours.append(
                    answering(
                        "cut after \(count) bytes, \(ending)",
                        String(decoding: grant.utf8.prefix(count), as: UTF8.self), then: ending, expecting: failsForNow
                    ) {
                        $0.isLong = count % 9 != 0 || ending != .close && count % 27 != 0
                    })
            }
        }
        for ending in [Ending.close, .abruptly, .reset] {
            behaviours.append(token("lost before it is read, \(ending)", expecting: failsForNow) { _, _, _ in ending })
            behaviours.append(
                token("lost after it is read, \(ending)", expecting: failsForNow) { line, head, _ in
                    _ = line.readBody(of: head)
                    return ending
                })
        }
        let bodies: [(String, String, Bool)] = [
            ("an empty body", "", false), ("an empty object", "{}", false), ("null", "null", false),
            ("an array", "[]", false), ("a number", "1", false), ("a text", "\"x\"", false),
            ("HTML", "<html>sign in</html>", false),
            ("half an object", "{\"access_token\": \"\(Trial.newToken)\"", false),
            ("a null token", "{\"access_token\": null}", false), ("a number as token", "{\"access_token\": 1}", false),
            ("an empty token", "{\"access_token\": \"\"}", false),
            ("a token of spaces", "{\"access_token\": \"   \"}", false),
            ("a token with CR LF", "{\"access_token\": \"a\\r\\nX: y\"}", false),
            ("a token with NUL", "{\"access_token\": \"a\\u0000b\"}", false),
            ("a token with a space", "{\"access_token\": \"a b\"}", false),
            ("a token that isn't ASCII", "{\"access_token\": \"é\"}", false),
            ("a token in a list", "{\"access_token\": [\"\(Trial.newToken)\"]}", false),
            ("a nested token", "{\"data\": {\"access_token\": \"\(Trial.newToken)\"}}", false),
            ("the type mac", "{\"access_token\": \"\(Trial.newToken)\", \"token_type\": \"mac\"}", false),
            ("the type DPoP", "{\"access_token\": \"\(Trial.newToken)\", \"token_type\": \"DPoP\"}", false),
            ("no type", "{\"access_token\": \"\(Trial.newToken)\"}", true),
            ("the type null", "{\"access_token\": \"\(Trial.newToken)\", \"token_type\": null}", true),
            ("the type 1", "{\"access_token\": \"\(Trial.newToken)\", \"token_type\": 1}", true),
            ("a null refresh token", "{\"access_token\": \"\(Trial.newToken)\", \"refresh_token\": null}", true),
            ("an empty refresh token", "{\"access_token\": \"\(Trial.newToken)\", \"refresh_token\": \"\"}", true),
            ("a number as refresh token", "{\"access_token\": \"\(Trial.newToken)\", \"refresh_token\": 7}", true),
            ("a byte order mark", "\u{FEFF}\(Trial.grant)", true), ("garbage after it", Trial.grant + "x", false),
            ("two objects", Trial.grant + Trial.grant, false),
            (
                "a name twice", "{\"access_token\": \"\(Trial.newToken)\", \"access_token\": \"\(Trial.newToken)\"}",
                true
            ),
            ("error null", "{\"error\": null, \"access_token\": \"\(Trial.newToken)\"}", true),
            ("error empty", "{\"error\": \"\", \"access_token\": \"\(Trial.newToken)\"}", true),
            ("error and token", "{\"error\": \"server_error\", \"access_token\": \"\(Trial.newToken)\"}", false),
            ("an error in 200", "{\"error\": \"temporarily_unavailable\"}", false),
            ("an error that is an object", "{\"error\": {\"code\": 1}}", false),
            (
                "an error with secrets",
                "{\"error\": \"server_error\", \"error_description\": \"\(Trial.refreshToken) \(Trial.clientSecret)\", \"error_uri\": \"http://x/?t=\(Trial.refreshToken)\"}",
                false
            ),
            ("an error that is a secret", "{\"error\": \"\(Trial.refreshToken)\"}", false),
        ]
        for (name, body, isRight) in bodies {
            behaviours.append(
                answering(
                    name, sound(body, fields: "Content-Type: application/json\r\n"),
                    expecting: isRight ? succeeds : failsForNow))
        }
        behaviours.append(answering("nesting", sound(String(repeating: "[", count: 200_000)), expecting: failsForNow))
        behaviours.append(
            answering("nested objects", sound(String(repeating: "{\"a\":", count: 100_000)), expecting: failsForNow))
        behaviours.append(
            answering(
                "a huge token", sound("{\"access_token\": \"\(String(repeating: "a", count: 900_000))\"}"),
                expecting: failsForNow))
        behaviours.append(
            answering(
                "a token of 16 KB", sound("{\"access_token\": \"\(String(repeating: "a", count: 16_000))\"}"),
                expecting: succeeds))
        behaviours.append(
            answering(
                "more than a megabyte", sound("{\"x\": \"\(String(repeating: "a", count: 3 << 20))\"}"),
                expecting: failsForNow))
        for value in [
            "0", "-1", "-1e308", "1e308", "1e309", "3600.5", "\"3600\"", "\"\"", "\"soon\"", "null", "true", "false",
            "[]", "{}", "99999999999999999999", "-99999999999999999999",
            "9223372036854775807", "9223372036854775808", "1e-400", "\"NaN\"", "\"inf\"", "\"-inf\"", "\"1e400\"",
            "\" 3600 \"", "\"0x10\"", "2147483648", "1790000000", "1790000000000",
        ] {
            for name in ["expires_in", "expires_at"] {
                behaviours.append(
                    answering(
                        "\(name) is \(value)",
                        sound("{\"access_token\": \"\(Trial.newToken)\", \"\(name)\": \(value)}"),
                        expecting: .judged { outcome, record in
                            // A token that has expired already is not sent for ever.
                            let count = record.heads.count { $0.path == "/token" }
                            if count > 4 { return "\(count) refreshes" }
                            if outcome.status == 200 { return nil }
                            if case .failure(.authentication) = outcome { return nil }
                            return "expected 200 or a failed refresh"
                        }
                    ) {
                        $0.mayRepeat = true
                        // Too many fruitless refreshes are followed by a pause.
                        $0.recovers = false
                    })
            }
        }
        for status in [
            100, 201, 202, 204, 205, 206, 300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 408, 413, 415, 421,
            425, 429, 500, 502, 503, 504, 999,
        ] {
            for (name, body) in [("nothing", ""), ("HTML", "<html>"), ("a grant", Trial.grant)] {
                let takes = (200...299).contains(status) && status != 204 && name == "a grant"
                behaviours.append(
                    answering(
                        "\(status) with \(name)",
                        status == 204 || status == 304
                            ? "HTTP/1.1 \(status) X\r\nLocation: /elsewhere\r\n\r\n"
                            : sound(body, status: status, fields: "Location: /elsewhere\r\n"),
                        expecting: status == 100
                            ? .failure
                            : takes
                                ? .anything
                                : .judged { outcome, record in
                                    if outcome.error == nil { return "expected a failure" }
                                    return record.heads.contains { $0.path == "/elsewhere" }
                                        ? "the refresh token was sent elsewhere" : nil
                                }
                    ) {
                        $0.recovers = ![100, 429].contains(status)
                        $0.timeout = (3, 6)
                    })
            }
        }
        for (code, ends) in [
            ("invalid_grant", true), ("invalid_client", false), ("invalid_request", false),
            ("unauthorized_client", false), ("server_error", false), ("slow_down", false), ("x", false),
            ("INVALID_GRANT", false),
        ] {
            for status in [200, 400, 401, 403, 500, 503] {
                behaviours.append(
                    answering(
                        "\(code) with \(status)", sound("{\"error\": \"\(code)\"}", status: status),
                        expecting: .judged { outcome, _ in
                            if ends, status < 500 {
                                if case .failure(.authentication(.refreshRejected)) = outcome { return nil }
                                return "expected the end of the session"
                            }
                            if case .failure(.authentication(.refreshFailed)) = outcome { return nil }
                            return "expected a failed refresh"
                        }
                    ) { $0.recovers = !(ends && status < 500) })
            }
        }
        for value in [
            "0", "1", "-1", "3600", "99999999999999999999", "x", "Thu, 01 Jan 1970 00:00:00 GMT",
            "Fri, 31 Dec 9999 23:59:59 GMT", "",
        ] {
            for status in [503, 429, 400] {
                behaviours.append(
                    answering(
                        "\(status) with Retry-After \(value.debugDescription)",
                        sound("{}", status: status, fields: "Retry-After: \(value)\r\n"), expecting: .failure
                    ) {
                        $0.recovers = ["0", "-1", "x", "", "Thu, 01 Jan 1970 00:00:00 GMT"].contains(value)
                    })
            }
        }
        behaviours.append(
            Behaviour("tokens", "a 401 that ends with the connection", expecting: succeeds) {
                $0.hasSession = true
                // It refreshes before the first attempt, and after it.
                $0.mayRepeat = true
            } serve: { line, head, hit in
                guard line.readBody(of: head) != nil else { return .close }
                if head.path == "/token" {
                    line.write(sound(hit == 1 ? Trial.grant.replacing(Trial.newToken, with: "early") : Trial.grant))
                    return .keep
                }
                guard head["Authorization"] == "Bearer \(Trial.newToken)" else {
                    line.write("HTTP/1.1 401 X\r\nTransfer-Encoding: identity\r\n\r\nnot signed")
                    return .close
                }
                line.write(sound())
                return .keep
            })
        // Two responses to one refresh.
        for second in [grant, sound("{\"error\": \"invalid_grant\"}", status: 400), "x"] {
            behaviours.append(
                answering(
                    "a grant, and \(second.prefix(20).debugDescription) behind it", grant + second, expecting: succeeds
                ) { $0.settles = true })
        }
        behaviours.append(
            token("late, and the caller has gone", expecting: .failure) {
                $0.timeout = (1, 2)
                $0.holds = true
                // The refresh ends a moment after the request.
                $0.settles = true
            } serve: { line, head, _ in
                guard line.readBody(of: head) != nil else { return .close }
                line.holdHere()
                line.pause(3_000)
                line.write(grant)
                return .keep
            })
        behaviours.append(
            token("silence", expecting: .failure) {
                // The refresh ends as late as the request.
                $0.recovers = false
                $0.timeout = (1, 10)
                $0.holds = true
            } serve: { line, head, _ in
                guard line.readBody(of: head) != nil else { return .close }
                line.holdHere()
                line.drain(milliseconds: nil)
                return .close
            })
        behaviours.append(
            token("byte by byte", expecting: succeeds) { line, head, _ in
                guard line.readBody(of: head) != nil else { return .close }
                line.drip(Data(grant.utf8), milliseconds: 1)
                return .keep
            })
        let bomb = Deflate.gzipHead + Deflate.bomb(500_000)
        behaviours.append(
            token("a bomb", expecting: failsForNow) { line, head, _ in
                guard line.readBody(of: head) != nil else { return .close }
                line.write(
                    Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n".utf8)
                        + bomb)
                return .keep
            })
        behaviours.append(
            token("a body without end", expecting: failsForNow) { line, head, _ in
                guard line.readBody(of: head) != nil else { return .close }
                line.write("HTTP/1.1 200 OK\r\n\r\n")
                while line.write(Data(count: 65_536)) {}
                return .abruptly
            })
        for (name, place) in [
            ("another path", "/elsewhere"), ("another origin", "http://localhost:1/"), ("itself", "/token"),
        ] {
            for status in [301, 302, 303, 307, 308] {
                behaviours.append(
                    answering(
                        "\(status) to \(name)", sound("{}", status: status, fields: "Location: \(place)\r\n"),
                        expecting: failsForNow))
            }
        }
        // A resource that never accepts a token.
        for status in [401] {
            behaviours.append(
                Behaviour(
                    "tokens", "\(status) for every token",
                    expecting: .judged { outcome, record in
                        let count = record.heads.count { $0.path == "/token" }
                        return outcome.status == status && count <= 2
                            ? nil : "expected \(status) after at most two refreshes, and not \(count)"
                    }
                ) {
                    $0.hasSession = true
                    $0.mayRepeat = true
                    $0.recovers = false
                } serve: { line, head, _ in
                    guard line.readBody(of: head) != nil else { return .close }
                    line.write(head.path == "/token" ? sound(Trial.grant) : sound(status: status))
                    return .keep
                })
        }
        return behaviours
    }
}
