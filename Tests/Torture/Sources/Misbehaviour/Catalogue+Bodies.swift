import AtomNetworking
import Foundation

// Downloads that go on, streams, and bodies that are larger than they look.
extension Catalogue {
    /// The bytes of a file: those of another are others.
    private static func file(_ seed: Int = 0, count: Int = 100_000) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ seed &* 7) ^ ($0 >> 8)) })
    }

    static var ranges: [Behaviour] {
        let whole = file()
        let other = file(1)
        /// What comes to the request that goes on, whose range begins there.
        let answers: [(String, @Sendable (Int) -> (String, Data), Behaviour.Expectation)] = [
            (
                "the rest", { ("206\r\nETag: \"1\"\r\nContent-Range: bytes \($0)-99999/100000", whole.dropFirst($0)) },
                .response(206, whole)
            ),
            ("200", { _ in ("200\r\nETag: \"1\"", whole) }, .response(200, whole)),
            ("200 with the rest", { ("200\r\nETag: \"1\"", whole.dropFirst($0)) }, .response(200, whole)),
            ("200 of another", { _ in ("200\r\nETag: \"2\"", other) }, .response(200, other)),
            (
                "an earlier start", { _ in ("206\r\nETag: \"1\"\r\nContent-Range: bytes 0-99999/100000", whole) },
                .failureOr([whole])
            ),
            (
                "a later start",
                { ("206\r\nETag: \"1\"\r\nContent-Range: bytes \($0 + 1)-99999/100000", whole.dropFirst($0 + 1)) },
                .failureOr([whole])
            ),
            (
                "a start that lies",
                { ("206\r\nETag: \"1\"\r\nContent-Range: bytes \($0)-99999/100000", other.dropFirst($0)) },
                .failureOr([whole])
            ),
            ("a start and no range", { ("206\r\nETag: \"1\"", whole.dropFirst($0)) }, .failureOr([whole])),
            (
                "another total",
                { ("206\r\nETag: \"1\"\r\nContent-Range: bytes \($0)-199999/200000", whole.dropFirst($0) + whole) },
                .failureOr([whole, whole + whole])
            ),
            (
                "an unknown total",
                { ("206\r\nETag: \"1\"\r\nContent-Range: bytes \($0)-99999/*", whole.dropFirst($0)) },
                .failureOr([whole])
            ),
            (
                "a part of the rest",
                {
                    (
                        "206\r\nETag: \"1\"\r\nContent-Range: bytes \($0)-\($0 + 9)/100000",
                        whole.dropFirst($0).prefix(10)
                    )
                }, .failureOr([whole])
            ),
            (
                "a range that runs backwards",
                { ("206\r\nETag: \"1\"\r\nContent-Range: bytes 99999-\($0)/100000", whole.dropFirst($0)) },
                .failureOr([whole])
            ),
            (
                "a range of something else",
                { ("206\r\nETag: \"1\"\r\nContent-Range: lines \($0)-99999/100000", whole.dropFirst($0)) },
                .failureOr([whole])
            ),
            (
                "numbers without end",
                { _ in
                    (
                        "206\r\nETag: \"1\"\r\nContent-Range: bytes 99999999999999999999-999999999999999999999/9999999999999999999999",
                        whole
                    )
                }, .failureOr([whole])
            ),
            (
                "another entity tag",
                { ("206\r\nETag: \"2\"\r\nContent-Range: bytes \($0)-99999/100000", whole.dropFirst($0)) },
                .failureOr([whole])
            ),
            (
                "no entity tag", { ("206\r\nContent-Range: bytes \($0)-99999/100000", whole.dropFirst($0)) },
                .failureOr([whole])
            ),
            (
                "two parts",
                {
                    (
                        "206\r\nETag: \"1\"\r\nContent-Type: multipart/byteranges; boundary=x",
                        Data("--x\r\nContent-Range: bytes \($0)-99999/100000\r\n\r\n".utf8) + whole.dropFirst($0)
                    )
                }, .failureOr([whole])
            ),
            (
                "two ranges",
                {
                    (
                        "206\r\nETag: \"1\"\r\nContent-Range: bytes \($0)-99999/100000\r\nContent-Range: bytes 0-99999/100000",
                        whole.dropFirst($0)
                    )
                }, .failureOr([whole])
            ),
            ("416", { _ in ("416\r\nContent-Range: bytes */100000", Data()) }, .failureOr([whole])),
            (
                "416 with the partial's length", { _ in ("416\r\nContent-Range: bytes */60000", Data("none".utf8)) },
                .failureOr([whole])
            ),
            ("304", { _ in ("304\r\nETag: \"1\"", Data()) }, .failure),
            ("204", { _ in ("204\r\nETag: \"1\"", Data()) }, .failure),
            ("412", { _ in ("412\r\nETag: \"1\"", Data()) }, .failure),
            ("503", { _ in ("503\r\nRetry-After: 1", Data()) }, .failure),
            (
                "an empty 206", { ("206\r\nETag: \"1\"\r\nContent-Range: bytes \($0)-99999/100000", Data()) },
                .failureOr([whole])
            ),
            (
                "a coded rest",
                {
                    (
                        "206\r\nETag: \"1\"\r\nContent-Encoding: gzip\r\nContent-Range: bytes \($0)-99999/100000",
                        Deflate.gzip(whole.dropFirst($0))
                    )
                }, .failureOr([whole])
            ),
        ]
        var behaviours: [Behaviour] = []
        for (name, answer, expectation) in answers {
            for isCut in [false, true] {
                behaviours.append(
                    Behaviour(
                        "ranges", name + (isCut ? ", cut" : ""),
                        expecting: isCut && name != "304" && name != "204" ? .failureOr([whole]) : expectation
                    ) {
                        $0.call = .resumedDownload
                        $0.timeout.idle = 3
                    } serve: { line, head, hit in
                        guard line.readBody(of: head) != nil else { return .close }
                        if hit == 1 {
                            line.write("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100000\r\n\r\n")
                            line.write(whole.prefix(60_000))
                            return .close
                        }
                        let range = head["Range"]?.dropFirst("bytes=".count).prefix { $0 != "-" } ?? ""
                        // Whoever asks for no range gets all of it.
                        guard let start = Int(range) else {
                            line.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
                            line.write(whole)
                            return .close
                        }
                        let (fields, body) = answer(start)
                        line.write(
                            "HTTP/1.1 \(fields.replacing("\r\n", with: " X\r\n", maxReplacements: 1))\r\n"
                                + (fields.hasPrefix("204") || fields.hasPrefix("304")
                                    ? "" : "Content-Length: \(body.count)\r\n") + "\r\n")
                        line.write(isCut ? body.prefix(body.count / 2) : body)
                        return isCut ? .close : .keep
                    })
            }
        }
        // The same without a length, which shows only at the end.
        for method in ["GET", "POST"] {
            behaviours.append(
                Behaviour("ranges", "200 with the rest in chunks, \(method)", expecting: .failureOr([whole])) {
                    $0.call = .resumedDownload
                    $0.method = method
                    $0.mayRepeat = true
                } serve: { line, head, hit in
                    guard line.readBody(of: head) != nil else { return .close }
                    let start = head["Range"].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }
                    line.write("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n")
                    let part = hit == 1 ? whole.prefix(60_000) : whole.dropFirst(start ?? 0)
                    line.write("\(String(part.count, radix: 16))\r\n")
                    line.write(part)
                    line.write("\r\n")
                    if hit > 1 { line.write("0\r\n\r\n") }
                    return .close
                })
        }
        // An entity tag comes back octet by octet.
        behaviours.append(
            Behaviour("ranges", "an entity tag that isn't UTF-8", expecting: .response(206, whole)) {
                $0.call = .resumedDownload
            } serve: { line, head, hit in
                let tag = Data("\"caf".utf8) + [0xE9] + Data("\"".utf8)
                if hit == 1 {
                    line.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nETag: ")
                    line.write(tag + Data("\r\n\r\n".utf8) + whole.prefix(60_000))
                    return .close
                }
                let range = head["Range"]?.dropFirst("bytes=".count).prefix { $0 != "-" } ?? ""
                guard let start = Int(range), head["If-Range"] == String(data: tag, encoding: .isoLatin1) else {
                    line.write(sound("another tag came back", status: 400))
                    return .close
                }
                let rest = whole.dropFirst(start)
                line.write(
                    "HTTP/1.1 206 X\r\nContent-Range: bytes \(start)-99999/100000\r\nContent-Length: \(rest.count)\r\nETag: "
                )
                line.write(tag + Data("\r\n\r\n".utf8) + rest)
                return .keep
            })
        for (name, status, fields) in [
            ("206", 206, "Content-Range: bytes 0-11/100\r\n"),
            ("206 of the whole", 206, "Content-Range: bytes 0-11/12\r\n"),
            ("206 without a range", 206, ""),
        ] {
            for call in [Behaviour.Call.download, .bytes, .data, .lines] {
                behaviours.append(
                    .sending(
                        "ranges", "\(name) to a request without a range, \(call)",
                        sound(status: status, fields: fields), then: .keep,
                        expecting: .failureOr(name == "206 of the whole" ? [Data(hello.utf8)] : [])
                    ) { $0.call = call })
            }
        }
        return behaviours
    }

    static var streams: [Behaviour] {
        var behaviours: [Behaviour] = []
        func add(
            _ name: String, _ call: Behaviour.Call, _ body: String, _ expectation: Behaviour.Expectation,
            type: String = "text/event-stream", cuts: Bool = false
        ) {
            let chunk = "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n"
            let text =
                "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n"
                + (body.isEmpty ? "" : chunk) + (cuts ? "" : "0\r\n\r\n")
            for isSlow in [false, true] where !isSlow || body.utf8.count < 200 {
                behaviours.append(
                    Behaviour("streams", "\(name), \(call)\(isSlow ? ", slowly" : "")", expecting: expectation) {
                        $0.call = call
                    } serve: { line, _, _ in
                        if isSlow {
                            // Each byte is a chunk of its own.
                            line.write("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n")
                            for byte in body.utf8 { line.write(Data("1\r\n".utf8) + [byte] + Data("\r\n".utf8)) }
                            if !cuts { line.write("0\r\n\r\n") }
                        } else {
                            line.write(text)
                        }
                        return .close
                    })
            }
        }
        let long = String(repeating: "a", count: 70_000)
        add("an event", .events, "data: a\n\n", .response(200, "a"))
        add("two lines", .events, "data: a\ndata: b\n\n", .response(200, "a\nb"))
        add("CR and CR LF", .events, "data: a\r\r\ndata: b\r\n\r\ndata: c\r\r", .response(200, "a|b|c"))
        add("a byte order mark", .events, "\u{FEFF}data: a\n\n", .response(200, "a"))
        add("a comment", .events, ": x\n\ndata: a\n\n", .response(200, "a"))
        add("no end", .events, "data: a\n\ndata: b", .response(200, "a"))
        add("an unfinished event", .events, "data: a\n\ndata: b\n", .response(200, "a"))
        add("a NUL in an ID", .events, "id: a\0b\ndata: a\n\n", .response(200, "a"))
        add(
            "a retry that is none", .events, "retry: -1\nretry: x\nretry: 99999999999999999999\ndata: a\n\n",
            .response(200, "a"))
        add("unknown fields", .events, "x\n:\nfoo: bar\ndata\ndata: a\n\n", .response(200, "\na"))
        add("nothing", .events, "", .response(200, ""))
        add("a cut", .events, "data: a\n\n", .failure(.answered), cuts: true)
        add("an event that is too long", .events, "data: \(long)\n\n", .failure(.answered))
        add("many lines that are too long", .events, String(repeating: "data: a\n", count: 70_000), .failure(.answered))
        add("a name that is too long", .events, "event: \(long)\n\n", .failure)
        add("a comment that is too long", .events, ": \(long)\(long)\n\ndata: a\n\n", .failureOr([Data("a".utf8)]))
        for type in [
            "text/html", "", "text/plain", "application/json", "text/event-streamx", "TEXT/EVENT-STREAM; charset=utf-8",
            "text/event-stream;charset=latin1",
        ] {
            let isRight = type.lowercased().hasPrefix("text/event-stream") && !type.hasSuffix("x")
            add(
                "events as \(type.debugDescription)", .events, "data: a\n\n",
                isRight ? .failureOr([Data("a".utf8)]) : .failure(.answered), type: type)
        }
        add("lines", .lines, "a\nb\r\nc", .response(200, "a|b|c"))
        add("blank lines", .lines, "\n\na\n\n", .response(200, "||a|"))
        add("letters of several bytes", .lines, "é𝄞\n漢", .response(200, "é𝄞|漢"))
        add("a cut", .lines, "a\nb", .failure(.answered), cuts: true)
        add("a line that is too long", .lines, long, .failure(.answered))
        add("a line that is too long, cut", .lines, long, .failure(.answered), cuts: true)
        add("no line", .lines, "", .response(200, ""))
        add("items", .jsonLines, "{\"id\":1}\n{\"id\":2}\n", .response(200, "2"), type: "application/jsonl")
        add("no JSON", .jsonLines, "{\"id\":1}\nhello\n", .failure(.answered), type: "application/jsonl")
        add("half an item", .jsonLines, "{\"id\":1}\n{\"id\":", .failure(.answered), type: "application/jsonl")
        add("an item that is too long", .jsonLines, "{\"id\":\(long)}", .failure(.answered), type: "application/jsonl")
        add(
            "nesting", .jsonLines, String(repeating: "[", count: 60_000), .failure(.answered), type: "application/jsonl"
        )
        for (name, bytes) in [("not UTF-8", Data([0x61, 0xFF, 0xFE, 0x0A])), ("half a letter", Data([0x61, 0xC3]))] {
            for call in [Behaviour.Call.lines, .events] {
                behaviours.append(
                    .sending(
                        "streams", "\(name), \(call)",
                        Data(
                            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: \(bytes.count)\r\n\r\n"
                                .utf8) + bytes,
                        expecting: call == .lines ? .failure(.answered) : .anything
                    ) { $0.call = call })
            }
        }
        // Without a line that ends, for ever.
        for call in [Behaviour.Call.events, .lines, .jsonLines] {
            for part in ["a", "data: a\n", "\0"] where call == .events || part != "data: a\n" {
                behaviours.append(
                    Behaviour(
                        "streams", "\(part.debugDescription) without end, \(call)", expecting: .failure(.answered)
                    ) {
                        $0.call = call
                        $0.timeout = (10, 30)
                    } serve: { line, _, _ in
                        line.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                        let many = Data(String(repeating: part, count: 65_536 / part.utf8.count).utf8)
                        while line.write(many) {}
                        return .abruptly
                    })
            }
        }
        return behaviours
    }

    /// Little that becomes much, and much that has no end.
    static var bombs: [Behaviour] {
        let gzip = Deflate.gzipHead + Deflate.bomb(500_000)
        let codings: [(String, String, Data)] = [
            ("gzip", "gzip", gzip), ("x-gzip", "x-gzip", gzip),
            ("deflate", "deflate", Data([0x78, 0x01]) + Deflate.bomb(500_000)),
            ("raw deflate", "deflate", Deflate.bomb(500_000)), ("br", "br", Deflate.brotliBomb),
            ("zstd", "zstd", Deflate.zstdBomb(512)),
            ("gzip in gzip", "gzip, gzip", Deflate.gzip(gzip)),
            ("gzip in deflate", "gzip, deflate", Deflate.zlib(gzip)),
            ("deflate in gzip", "deflate, gzip", Deflate.gzip(Data([0x78, 0x01]) + Deflate.bomb(500_000))),
            ("members", "gzip, gzip", Deflate.emptyMembers(500_000)),
            ("a bomb in two fields", "gzip\r\nContent-Encoding: gzip", Deflate.gzip(gzip)),
            ("thrice", "gzip, gzip, gzip", Deflate.gzip(Deflate.gzip(gzip))),
        ]
        var behaviours: [Behaviour] = []
        for (name, coding, bytes) in codings {
            for call in [Behaviour.Call.data, .bytes, .lines, .download] {
                for isChunked in [false, true] {
                    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
                    let body =
                        isChunked
                        ? Data("Transfer-Encoding: chunked\r\n\r\n\(String(bytes.count, radix: 16))\r\n".utf8) + bytes
                            + Data("\r\n0\r\n\r\n".utf8)
                        : Data("Content-Length: \(bytes.count)\r\n\r\n".utf8) + bytes
                    behaviours.append(
                        .sending(
                            "bombs", "\(name), \(call)\(isChunked ? ", in chunks" : "")", Data(head.utf8) + body,
                            then: .keep, expecting: .anything
                        ) {
                            $0.call = call
                            $0.timeout = (20, 60)
                            $0.isLong = isChunked && call != .data
                        })
                }
            }
        }
        for (name, head, part) in [
            ("a body", "\r\n", String(repeating: "a", count: 65_536)),
            (
                "chunks", "Transfer-Encoding: chunked\r\n\r\n",
                "10000\r\n" + String(repeating: "a", count: 65_536) + "\r\n"
            ),
            ("tiny chunks", "Transfer-Encoding: chunked\r\n\r\n", String(repeating: "1\r\na\r\n", count: 10_000)),
            ("a length", "Content-Length: 9223372036854775807\r\n\r\n", String(repeating: "a", count: 65_536)),
            ("a failure", "X: y\r\n\r\n", String(repeating: "a", count: 65_536)),
        ] {
            for call in [Behaviour.Call.data, .download] {
                for status in [200, 500] {
                    behaviours.append(
                        Behaviour("bombs", "\(name) without end, \(status), \(call)", expecting: .failure(.answered)) {
                            $0.call = call
                        } serve: { line, _, _ in
                            line.write("HTTP/1.1 \(status) OK\r\n\(head)")
                            while line.write(part) {}
                            return .abruptly
                        })
                }
            }
        }
        return behaviours
    }

    /// Every beginning of a compressed body.
    static var wholeCodings: [Behaviour] {
        var behaviours: [Behaviour] = []
        let text = Data(String(repeating: hello, count: 20).utf8)
        for (name, coding, bytes) in [
            ("gzip", "gzip", Deflate.gzip(text)), ("zlib", "deflate", Deflate.zlib(text)),
            ("twice", "gzip, gzip", Deflate.gzip(Deflate.gzip(text))),
        ] {
            for count in 0...bytes.count where count < 20 || count > bytes.count - 12 || count % 16 == 0 {
                for framing in ["length", "chunks", "close"] {
                    let part = bytes.prefix(count)
                    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
                    let body: Data =
                        switch framing {
                        case "length": Data("Content-Length: \(count)\r\n\r\n".utf8) + part
                        case "chunks":
                            Data("Transfer-Encoding: chunked\r\n\r\n".utf8)
                                + (part.isEmpty
                                    ? Data() : Data("\(String(count, radix: 16))\r\n".utf8) + part + Data("\r\n".utf8))
                                + Data("0\r\n\r\n".utf8)
                        default: Data("\r\n".utf8) + part
                        }
                    behaviours.append(
                        .sending(
                            "codings whole", "\(count) of \(bytes.count) bytes of \(name), \(framing)",
                            Data(head.utf8) + body,
                            expecting: count == bytes.count
                                ? .response(200, text) : count == 0 ? .failureOr([Data()]) : .failure(.answered)
                        ) { $0.isLong = framing != "length" && count % 3 != 0 })
                }
            }
        }
        return behaviours
    }

    /// A server that repeats what it was sent, wherever it can.
    static var echoes: [Behaviour] {
        let places: [(String, String)] = [
            ("the reason", "HTTP/1.1 400 $\r\nContent-Length: 0\r\n\r\n"),
            ("the body", "HTTP/1.1 400 X\r\nContent-Type: text/plain\r\n\r\nno: $"),
            ("JSON", "HTTP/1.1 400 X\r\nContent-Type: application/json\r\n\r\n{\"error\":\"$\",\"message\":\"$\"}"),
            (
                "a problem",
                "HTTP/1.1 400 X\r\nContent-Type: application/problem+json\r\n\r\n{\"title\":\"$\",\"detail\":\"with $\",\"type\":\"http://x/?a=$\"}"
            ),
            ("HTML", "HTTP/1.1 400 X\r\nContent-Type: text/html\r\n\r\n<h1>$</h1>"),
            ("a field", "HTTP/1.1 400 X\r\nX-Debug: $\r\nContent-Length: 0\r\n\r\n"),
            (
                "a challenge",
                "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer realm=\"$\", error_description=\"$\"\r\nContent-Length: 0\r\n\r\n"
            ),
            ("a location", "HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:1/$?t=$#$\r\nContent-Length: 0\r\n\r\n"),
            ("a path", "HTTP/1.1 302 X\r\nLocation: /echo/$\r\nContent-Length: 0\r\n\r\n"),
            ("a query", "HTTP/1.1 302 X\r\nLocation: /echo?$=$\r\nContent-Length: 0\r\n\r\n"),
            ("a scheme", "HTTP/1.1 302 X\r\nLocation: ftp://$@x/$\r\nContent-Length: 0\r\n\r\n"),
            ("a status line", "$ 200 OK\r\n\r\n"),
            ("a size of a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n$\r\n"),
            ("a length", "HTTP/1.1 200 OK\r\nContent-Length: $\r\n\r\n"),
            ("a transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: $\r\n\r\n"),
            ("a content coding", "HTTP/1.1 200 OK\r\nContent-Encoding: $\r\nContent-Length: 1\r\n\r\nx"),
            ("a name", "HTTP/1.1 200 OK\r\n$\r\n\r\n"),
            ("Retry-After", "HTTP/1.1 503 X\r\nRetry-After: $\r\nContent-Length: 0\r\n\r\n"),
            ("a cookie", "HTTP/1.1 400 X\r\nSet-Cookie: a=$\r\nContent-Length: 0\r\n\r\n"),
            ("the media type", "HTTP/1.1 200 OK\r\nContent-Type: $\r\nContent-Length: 1\r\n\r\nx"),
        ]
        return places.flatMap { name, text in
            [Behaviour.Call.data, .download, .events, .jsonLines].map { call in
                Behaviour("echoes", "the credential in \(name), \(call)", expecting: .anything) {
                    $0.call = call
                    $0.timeout.idle = 3
                } serve: { line, head, hit in
                    guard line.readBody(of: head) != nil else { return .close }
                    let secret = head["Authorization"]?.split(separator: " ").last.map(String.init) ?? Trial.token
                    line.write(
                        head.path.hasPrefix("/echo")
                            ? sound(status: 404) : text.replacingOccurrences(of: "$", with: secret))
                    return .close
                }
            }
        }
    }

    /// What comes in place of a TLS handshake.
    static var handshakes: [Behaviour] {
        // The beginning of a ServerHello, and alerts.
        let hello =
            Data([0x16, 3, 3, 0, 0x7A, 2, 0, 0, 0x76, 3, 3]) + Data(repeating: 7, count: 32) + Data([0x20])
            + Data(repeating: 9, count: 32)
        let answers: [(String, Data)] = [
            ("nothing", Data()), ("a response", Data(sound().utf8)), ("bytes", Data((0..<200).map { UInt8($0) })),
            ("zeros", Data(count: 1_000)),
            ("half a record", Data([0x16, 3, 3])), ("half a ServerHello", hello),
            ("a fatal alert", Data([0x15, 3, 3, 0, 2, 2, 40])),
            ("a warning", Data([0x15, 3, 3, 0, 2, 1, 90])),
            ("an alert of internal error", Data([0x15, 3, 3, 0, 2, 2, 80])),
            ("an alert to notify of the end", Data([0x15, 3, 3, 0, 2, 1, 0])),
            ("application data", Data([0x17, 3, 3, 0, 5, 1, 2, 3, 4, 5])),
            ("a huge record", Data([0x16, 3, 3, 0xFF, 0xFF]) + Data(count: 70_000)),
            ("SSL 2", Data([0x80, 0x2E, 4, 0, 1])), ("an old version", Data([0x16, 3, 0, 0, 5, 2, 0, 0, 1, 0])),
            ("an SSH greeting", Data("SSH-2.0-x\r\n".utf8)),
            ("a redirect", Data("HTTP/1.1 400 The plain HTTP request\r\n\r\n".utf8)),
        ]
        return answers.flatMap { name, bytes in
            [Ending.close, .abruptly, .reset, .halfClose].flatMap { ending in
                [true, false].map { reads in
                    Behaviour(
                        "handshakes", "\(name), \(ending), \(reads ? "after" : "before") the ClientHello",
                        expecting: .failure(.notSent)
                    ) {
                        $0.isSecure = true
                        $0.method = "POST"
                        $0.body = .data(100)
                        $0.timeout = (2, 20)
                        $0.isLong = !reads && ending != .close
                        $0.greeting = { line in
                            if reads { _ = line.read() }
                            line.write(bytes)
                            return ending
                        }
                    }
                }
            }
        }
    }
}
