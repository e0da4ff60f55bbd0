import AtomNetworking
import Foundation

// Statuses, redirects, and what a server asks for.
extension Catalogue {
    static var statuses: [Behaviour] {
        var behaviours: [Behaviour] = []
        func add(
            _ name: String, _ text: String, _ expectation: Behaviour.Expectation,
            _ change: (inout Behaviour) -> Void = { _ in }
        ) {
            for ending in [Ending.close, .keep] {
                behaviours.append(
                    .sending("statuses", "\(name), \(ending)", text, then: ending, expecting: expectation) {
                        $0.timeout.idle = ending == .keep ? 3 : 20
                        $0.settles = true
                        change(&$0)
                    })
            }
        }
        for status in [204, 304] {
            for (name, framing) in [
                ("a length", "Content-Length: 12\r\n\r\n\(hello)"),
                ("chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), ("bytes", "\r\nbytes"),
                ("another response", "\r\n" + sound("forged")),
            ] {
                add(
                    "\(status) with \(name)", "HTTP/1.1 \(status) X\r\n\(framing)",
                    .judged { outcome, _ in
                        if outcome.status == nil { return nil }
                        return outcome.status == status && outcome.body == Data()
                            ? nil : "expected \(status) without a body"
                    })
            }
        }
        add("205 with a length", sound(status: 205), .failureOr([Data(hello.utf8), Data()]))
        for call in [Behaviour.Call.data, .bytes, .download] {
            for (name, framing) in [
                ("its length", "Content-Length: 12\r\n\r\n"), ("a body", "Content-Length: 12\r\n\r\n\(hello)"),
                ("chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                ("another response", "Content-Length: 12\r\n\r\n" + sound("forged")),
                ("gzip", "Content-Encoding: gzip\r\nContent-Length: 32\r\n\r\n"),
                ("a wrong length", "Content-Length: 5\r\nContent-Length: 6\r\n\r\n"),
            ] {
                let expectation =
                    name == "a wrong length"
                    ? .failure
                    : Behaviour.Expectation.judged { outcome, _ in
                        if call.isDownload { return nil }
                        if outcome.status == nil {
                            return name == "its length" || name == "gzip" ? "expected 200" : nil
                        }
                        return outcome.status == 200 && outcome.body == Data() ? nil : "expected 200 without a body"
                    }
                add("HEAD with \(name), \(call)", "HTTP/1.1 200 OK\r\n\(framing)", expectation) {
                    $0.method = "HEAD"
                    $0.call = call
                }
            }
        }
        for status in [
            400, 402, 403, 404, 405, 407, 408, 409, 410, 418, 421, 422, 425, 426, 429, 431, 451, 500, 501, 502, 503,
            504, 511, 599, 600, 999,
        ] {
            add("\(status)", sound(status: status), .response(status, hello))
            add("\(status) to a POST", sound(status: status), .response(status, hello)) {
                $0.method = "POST"
                $0.body = .data(100)
            }
        }
        for challenge in [
            "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"", "Bearer", "NTLM", "Negotiate", "", "Basic", "\"",
            "Bearer error=\"invalid_token\"", "Basic realm=\"" + String(repeating: "x", count: 10_000) + "\"",
        ] {
            for status in [401, 407] {
                let field = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
                add(
                    "\(status) with \(challenge.prefix(40).debugDescription)",
                    sound(status: status, fields: "\(field): \(challenge)\r\n"), .response(status, hello))
            }
        }
        let interims = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 1_000)
        add("a thousand hints", interims + sound(), .response(200, hello))
        add(
            "a hundred of 100", String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 100) + sound(),
            .response(200, hello))
        add("102 and 199", "HTTP/1.1 102 X\r\n\r\nHTTP/1.1 199 X\r\n\r\n" + sound(), .response(200, hello))
        add(
            "a hint with a length", "HTTP/1.1 103 X\r\nContent-Length: 5\r\n\r\n" + sound(),
            .failureOr([Data(hello.utf8)]))
        add(
            "a hint with chunks", "HTTP/1.1 103 X\r\nTransfer-Encoding: chunked\r\n\r\n" + sound(),
            .failureOr([Data(hello.utf8)]))
        for field in [
            "Content-Length: 0", "Content-Encoding: gzip", "Set-Cookie: a=b", "Location: /elsewhere",
            "Content-Range: bytes 5-9/10", "Connection: close",
        ] {
            for status in [100, 103] {
                add(
                    "\(status) with \(field)", "HTTP/1.1 \(status) X\r\n\(field)\r\n\r\n" + sound(),
                    .failureOr([Data(hello.utf8)]))
            }
        }
        add(
            "a hint with chunks, and a body that looks like them",
            "HTTP/1.1 103 X\r\nTransfer-Encoding: chunked\r\n\r\n" + sound("5\r\nhello\r\n0\r\n\r\n"),
            .failureOr([Data("5\r\nhello\r\n0\r\n\r\n".utf8)]))
        for fold in ["Content-Length: 1", "Transfer-Encoding: chunked", "Connection: close"] {
            add(
                "a fold that looks like \(fold)", sound(fields: "X: y\r\n \(fold)\r\n"),
                .failureOr([Data(hello.utf8)]))
        }
        add(
            "101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nbytes",
            .failure)
        add("101, then a response", "HTTP/1.1 101 Switching Protocols\r\n\r\n" + sound(), .failure)
        add(
            "101 to h2c", "HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n\0\0\0\u{4}\0\0\0\0\0", .failure
        )
        add(
            "206 to a request without a range", sound(status: 206, fields: "Content-Range: bytes 0-11/100\r\n"),
            .anything)
        for method in ["GET", "POST"] {
            for text in [
                "hello", "", "<html>", "SSH-2.0-OpenSSH_9.2\r\n", "220 mail ESMTP\r\n",
                "\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{16}",
                "\0\0\0\u{4}\0\0\0\0\0", "\0\0\u{8}\u{7}\0\0\0\0\0\0\0\0\0\0\0\0\0",
            ] {
                add("no HTTP \(text.debugDescription) to \(method)", text, .failure(.maybeSent)) {
                    $0.method = method
                    $0.body = method == "POST" ? .data(10) : .none
                }
            }
        }
        // Ten thousand fields, and fields of every size.
        let fields = (0..<10_000).map { "X-\($0): y\r\n" }.joined()
        add("ten thousand fields", sound(fields: fields), .failureOr([Data(hello.utf8)]))
        add(
            "ten thousand cookies", sound(fields: (0..<10_000).map { "Set-Cookie: a\($0)=b\r\n" }.joined()),
            .failureOr([Data(hello.utf8)]))
        for size in [1_000, 8_000, 16_000, 60_000, 100_000, 200_000, 300_000] {
            add(
                "a field of \(size) bytes", sound(fields: "X: \(String(repeating: "y", count: size))\r\n"),
                size < 60_000 ? .response(200, hello) : .failureOr([Data(hello.utf8)]))
        }
        for call in [Behaviour.Call.data, .download, .bytes] {
            let identity = "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\n\(hello)"
            behaviours.append(
                .sending("statuses", "identity, \(call)", identity, expecting: .response(200, hello)) { $0.call = call }
            )
            behaviours.append(
                .sending("statuses", "identity without an end, \(call)", identity, then: .keep, expecting: .failure) {
                    $0.call = call
                    $0.timeout.idle = 1
                })
        }
        return behaviours + unreadable
    }

    /// Errors whose bodies can't be read, which are errors with their status nevertheless.
    private static var unreadable: [Behaviour] {
        let large = String(repeating: "a", count: Trial.limit + 1)
        let bodies: [(String, String)] = [
            ("a wrong coding", "Content-Encoding: gzip\r\nContent-Length: 12\r\n\r\n\(hello)"),
            (
                "a wrong coding in chunks",
                "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
            ),
            ("a cut", "Content-Length: 20\r\n\r\n\(hello)"),
            ("a cut in chunks", "Transfer-Encoding: chunked\r\n\r\n20\r\n\(hello)"),
            ("a cut before a chunk", "Transfer-Encoding: chunked\r\n\r\n"),
            ("wrong chunks", "Transfer-Encoding: chunked\r\n\r\nhello\r\n"),
            ("too large a body", "Content-Length: \(large.utf8.count)\r\n\r\n\(large)"),
            ("too large a body without a length", "\r\n\(large)"),
        ]
        var behaviours: [Behaviour] = []
        for (name, body) in bodies {
            for status in [404, 500] {
                for call in [Behaviour.Call.data, .download, .bytes, .events, .jsonLines] {
                    behaviours.append(
                        .sending(
                            "statuses", "\(status) with \(name), \(call)", "HTTP/1.1 \(status) X\r\n\(body)",
                            expecting: .judged { outcome, _ in
                                guard case .failure(.response(let response)) = outcome else {
                                    return "expected an error with the status"
                                }
                                return response.statusCode == status && outcome.error?.delivery == .answered
                                    ? nil : "expected \(status), answered"
                            }
                        ) { $0.call = call })
                }
            }
        }
        return behaviours
    }

    /// Octets that aren't UTF-8, which come back as they were.
    private static var octets: [Behaviour] {
        let fields: [(String, Data)] = [
            ("a location", Data("Location: /caf".utf8) + [0xE9] + Data("?a=b".utf8)),
            (
                "a location with a host",
                Data("Location: http://127.0.0.1:PORT/caf".utf8) + [0xE9] + Data("?a=b".utf8)
            ),
            ("a cookie", Data("Location: /y\r\nSet-Cookie: a=caf".utf8) + [0xE9] + Data("; Path=/".utf8)),
        ]
        return fields.flatMap { name, field in
            [302, 307].map { status in
                Behaviour(
                    "redirects", "\(status) with octets that aren't UTF-8 in \(name)", expecting: .response(200, hello)
                ) {
                    $0.method = "PUT"
                } serve: { line, head, _ in
                    if head.path == "/x" {
                        let port = head["Host"]?.split(separator: ":").last ?? ""
                        var bytes = field
                        if let place = bytes.range(of: Data("PORT".utf8)) {
                            bytes.replaceSubrange(place, with: Data(port.utf8))
                        }
                        line.write(
                            Data("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n".utf8) + bytes + Data("\r\n\r\n".utf8))
                        return .keep
                    }
                    let isRight =
                        name == "a cookie"
                        ? head["Cookie"] == "a=caf\u{E9}"
                        : ["/caf%E9?a=b", "/caf\u{E9}?a=b"].contains(head.target)
                    line.write(isRight ? sound() : sound("\(head.target) \(head["Cookie"] ?? "")", status: 400))
                    return .keep
                }
            }
        }
    }

    /// When to come back.
    static var retries: [Behaviour] {
        let values = [
            "0", "1", "-1", "-99999999999999999999", "99999999999999999999", "1e3", "1.5", "", "soon", "0x1",
            "1, 2", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 99 Foo 2020 99:99:99 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "9223372036854775807", "9223372036854775808",
            "+1", " 1 ", "NaN", "inf", "١",
        ]
        var behaviours: [Behaviour] = []
        for status in [429, 503, 408, 425] {
            for value in values {
                for method in ["GET", "POST"] {
                    behaviours.append(
                        Behaviour(
                            "retries", "\(status) with Retry-After \(value.debugDescription), \(method)",
                            expecting: .judged { outcome, record in
                                // A POST may not be sent again, and for one that is too far away nobody waits.
                                if outcome.status == 200, method == "GET", record.heads.count == 2 { return nil }
                                return outcome.status == status && outcome.body == Data(hello.utf8)
                                    && (method == "GET" || record.heads.count == 1)
                                    ? nil : "expected \(status), or 200 after a retry"
                            }
                        ) {
                            $0.method = method
                            $0.body = method == "POST" ? .data(10) : .none
                            $0.timeout = (8, 8)
                            $0.configure = { $0.retryPolicy = .standard }
                            $0.isLong = status != 503 && value.count % 3 != 0
                        } serve: { line, head, hit in
                            guard line.readBody(of: head) != nil else { return .close }
                            line.write(
                                hit == 1 ? sound(status: status, fields: "Retry-After: \(value)\r\n") : sound())
                            return .keep
                        })
                }
            }
        }
        // Requests that a policy may or may not send again.
        for (method, body) in [
            ("GET", Behaviour.Body.none), ("PUT", .data(1_000)), ("POST", .data(1_000)), ("PATCH", .data(10)),
            ("DELETE", .none), ("POST", .onceOnly(1_000)), ("PUT", .onceOnly(1_000)), ("PUT", .stream(1_000)),
            ("PUT", .file(1_000)),
        ] {
            for ending in [Ending.close, .reset, .abruptly] {
                for policy in ["none", "standard"] {
                    behaviours.append(
                        Behaviour(
                            "retries", "the connection is lost after \(method) with \(body), \(ending), \(policy)",
                            expecting: .judged { outcome, record in
                                let isRepeatable = !["POST", "PATCH"].contains(method) && policy == "standard"
                                if case .onceOnly = body { return outcome.error == nil ? "expected a failure" : nil }
                                if isRepeatable { return outcome.status == 200 ? nil : "expected 200 after a retry" }
                                return outcome.error?.delivery == .maybeSent && record.heads.count == 1
                                    ? nil : "expected a failure after one attempt"
                            }
                        ) {
                            $0.method = method
                            $0.body = body
                            $0.configure = { $0.retryPolicy = policy == "none" ? .none : .standard }
                        } serve: { line, head, hit in
                            guard line.readBody(of: head) != nil else { return .close }
                            if hit == 1 { return ending }
                            line.write(sound())
                            return .keep
                        })
                }
            }
        }
        // Kept connections that are closed as the next request comes.
        for method in ["GET", "POST"] {
            for ending in [Ending.close, .reset] {
                behaviours.append(
                    Behaviour(
                        "retries", "a kept connection is left at the second \(method), \(ending)",
                        expecting: .judged { outcome, record in
                            let count = record.heads.count { $0.path == "/y" }
                            if method == "POST" { return count <= 1 ? nil : "POST was sent \(count) times" }
                            return nil
                        }
                    ) {
                        $0.method = method
                        $0.body = method == "POST" ? .data(100) : .none
                    } serve: { line, head, hit in
                        guard line.readBody(of: head) != nil else { return .close }
                        if head.path == "/x" {
                            line.write(sound(status: 307, fields: "Location: /y\r\n"))
                            return .keep
                        }
                        if hit == 1 { return ending }
                        line.write(sound())
                        return .keep
                    })
            }
        }
        return behaviours
    }

    static var redirects: [Behaviour] {
        var behaviours: [Behaviour] = []
        let bodies: [(String, Behaviour.Body)] = [
            ("GET", .none), ("HEAD", .none), ("POST", .data(1_000)), ("PUT", .stream(50_000)),
            ("POST", .onceOnly(50_000)),
            ("PATCH", .file(50_000)), ("DELETE", .none),
        ]
        for status in [300, 301, 302, 303, 304, 305, 306, 307, 308, 399] {
            for (method, body) in bodies {
                for isOther in [false, true] {
                    let follows = [301, 302, 303, 307, 308].contains(status)
                    let changes = status == 303 && method != "HEAD" || status < 303 && method == "POST"
                    behaviours.append(
                        Behaviour(
                            "redirects",
                            "\(status) of \(method) with \(body) to \(isOther ? "another origin" : "a path")",
                            expecting: .judged { outcome, record in
                                guard follows else {
                                    return outcome.status == status && record.heads.count == 1
                                        ? nil : "expected \(status)"
                                }
                                if case .onceOnly = body, !changes {
                                    return outcome.error?.delivery == .answered && record.heads.count == 1
                                        ? nil : "expected the redirect"
                                }
                                guard outcome.status == 200, let head = record.heads.last, record.heads.count == 2
                                else { return "expected 200" }
                                if method == "HEAD" ? outcome.body != Data() : outcome.body != Data(hello.utf8) {
                                    return "expected the body"
                                }
                                if head.method != (changes ? (method == "HEAD" ? "HEAD" : "GET") : method) {
                                    return "sent as \(head.method)"
                                }
                                if isOther, head["Authorization"] != nil || head["Cookie"] != nil {
                                    return "the credential went along"
                                }
                                if !isOther, head["Authorization"] == nil { return "the credential is missing" }
                                if changes, head["Content-Type"] != nil || (head["Content-Length"] ?? "0") != "0" {
                                    return "it has a body"
                                }
                                return nil
                            }
                        ) {
                            $0.method = method
                            $0.body = body
                        } serve: { line, head, hit in
                            guard line.readBody(of: head) != nil else { return .close }
                            let text: String
                            if head.path == "/y" {
                                text = sound()
                            } else {
                                let port = head["Host"]?.split(separator: ":").last ?? ""
                                let place = isOther ? "http://localhost:\(port)/y" : "/y"
                                let body = status == 304 ? "" : "moved"
                                text =
                                    "HTTP/1.1 \(status) X\r\nSet-Cookie: sid=\(Trial.password)\r\nLocation: \(place)\r\n"
                                    + (status == 304 ? "" : "Content-Length: 5\r\n") + "\r\n\(body)"
                            }
                            line.write(
                                head.method == "HEAD"
                                    ? (text.range(of: "\r\n\r\n").map { String(text[..<$0.upperBound]) } ?? "") : text)
                            return .keep
                        })
                }
            }
        }
        behaviours += octets
        let places = [
            "", " ", "#", "#fragment", "?", "?a=b", ".", "..", "../../..", "/..//..", "//", "///", "////x",
            "//127.0.0.1:1/", "http:", "http:/x", "http://", "http:///x",
            "file:///etc/passwd", "ftp://127.0.0.1/x", "javascript:alert(1)", "data:text/plain,hi",
            "gopher://127.0.0.1:1/_x", "about:blank", "ws://127.0.0.1/", "HTTP://127.0.0.1:1/", "http://127.0.0.1:1/",
            "https://127.0.0.1:1/",
            "http://127.0.0.1:0/", "http://127.0.0.1:65536/", "http://127.0.0.1:-1/",
            "http://127.0.0.1:99999999999999999999/", "http://[::1", "http://[::1%25eth0]:1/", "http://[", "http://]",
            "http://[::]:1/",
            "http://user:\(Trial.password)@127.0.0.1:1/", "//user:\(Trial.password)@127.0.0.1:1/x",
            "http://\(Trial.password)@127.0.0.1:1/", "http://a b/", "http://a%20b/", "http://a\u{0}b/",
            "http://exa mple.com/",
            "/a\rb", "/a\r\nX: y", "/a\\b", "\\\\127.0.0.1\\x", "/\u{7F}", "/é", "/%", "/%zz", "/%0d%0aX:%20y",
            "/\u{202E}x", "http://127.1:1/", "http://2130706433:1/", "http://0x7f.1:1/", "http://0177.0.0.1:1/",
            "http://no-such-host.invalid/", "http://\(String(repeating: "a", count: 300)).invalid/",
            "/" + String(repeating: "a", count: 70_000), "/?" + String(repeating: "b", count: 70_000),
            "http://127.0.0.1:1#@x/", "http://127.0.0.1:1?@x/", "http://x@y@127.0.0.1:1/", "http://127.0.0.1:1:1/",
            "://x", ":80/", "/x:y", "x:y", "1:2",
        ]
        for place in places {
            for status in [302, 307] {
                behaviours.append(
                    Behaviour(
                        "redirects", "\(status) to \(place.prefix(60).debugDescription) (\(place.utf8.count))",
                        expecting: .judged { outcome, record in
                            if let error = outcome.error, case .response = error { return nil }
                            if outcome.error != nil { return nil }
                            return outcome.status == 200 ? nil : "expected the redirect, a failure or 200"
                        }
                    ) {
                        $0.method = status == 307 ? "POST" : "GET"
                        $0.body = status == 307 ? .data(100) : .none
                        $0.mayRepeat = true
                        $0.timeout = (10, 20)
                        $0.redirectLimit = 5
                    } serve: { line, head, hit in
                        guard line.readBody(of: head) != nil else { return .close }
                        line.write(
                            hit == 1 && head.path == "/x"
                                ? sound(status: status, fields: "Location: \(place)\r\n") : sound())
                        return .keep
                    })
            }
        }
        for status in [301, 302, 303, 307, 308] {
            for call in [Behaviour.Call.data, .download, .bytes] {
                func chain(
                    _ name: String, _ expectation: Behaviour.Expectation, _ place: @escaping @Sendable (Int) -> String?
                ) {
                    behaviours.append(
                        Behaviour("redirects", "\(name) of \(status), \(call)", expecting: expectation) {
                            $0.call = call
                            $0.isLong = status == 303 || status == 308
                        } serve: { line, head, hit in
                            guard line.readBody(of: head) != nil else { return .close }
                            let step = Int(head.path.dropFirst(2)) ?? hit - 1
                            line.write(
                                place(step).map { sound("moved", status: status, fields: "Location: \($0)\r\n") }
                                    ?? sound())
                            return .keep
                        })
                }
                let tooMany = Behaviour.Expectation.judged { outcome, record in
                    guard case .failure(.session(let error as URLError)) = outcome, error.code == .httpTooManyRedirects,
                        outcome.error?.delivery == .answered
                    else { return "expected too many redirects" }
                    return record.heads.count == 21 ? nil : "after \(record.heads.count) requests"
                }
                chain("a loop", tooMany) { _ in "/x" }
                chain("a chain without an end", tooMany) { "/y\($0 + 1)" }
                chain("a chain of twenty", .response(200, hello)) { $0 < 20 ? "/y\($0 + 1)" : nil }
                chain("no location", .judged { outcome, _ in outcome.status == status ? nil : "expected \(status)" }) {
                    _ in "\r\nX: y"
                }
                chain(
                    "two locations",
                    .judged { outcome, _ in
                        outcome.status == nil || outcome.status == 200 || outcome.status == status
                            ? nil : "expected \(status)"
                    }
                ) { $0 == 0 ? "/y1\r\nLocation: /y2" : nil }
            }
        }
        // A redirect whose own body misbehaves.
        for (name, body) in [
            ("a cut body", "Content-Length: 100\r\n\r\nshort"),
            ("an endless body", "Transfer-Encoding: chunked\r\n\r\n"),
            ("a bomb", "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
            ("two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        ] {
            behaviours.append(
                Behaviour(
                    "redirects", "302 with \(name)", expecting: name == "two lengths" ? .failure : .response(200, hello)
                ) {
                    $0.timeout = (3, 20)
                } serve: { line, head, _ in
                    guard line.readBody(of: head) != nil else { return .close }
                    if head.path == "/y" {
                        line.write(sound())
                        return .keep
                    }
                    line.write("HTTP/1.1 302 X\r\nLocation: /y\r\n\(body)")
                    if name == "an endless body" {
                        while line.write("1000\r\n" + String(repeating: "a", count: 4_096) + "\r\n") {}
                    }
                    return .close
                })
        }
        return behaviours
    }
}

extension Behaviour.Call {
    var isDownload: Bool {
        switch self {
        case .download, .resumedDownload: true
        default: false
        }
    }
}
