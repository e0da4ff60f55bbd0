#if os(Linux)
    import AtomNetworkingTesting
    import Foundation

    /// An answer that a broken or malicious server may send.
    struct HostileAnswer: Sendable {
        let name: String
        let steps: [LoopbackServer.Response.Step]
        /// Whether the client may wait for more, until its idle timeout.
        var mayWait = false

        /// Sends the bytes and closes the connection.
        static func closing(_ name: String, _ bytes: Data) -> Self { Self(name: name, steps: [.write(bytes), .close]) }

        static func closing(_ name: String, _ text: String) -> Self { .closing(name, Data(text.utf8)) }

        /// Sends the bytes and waits for the next request.
        static func kept(_ name: String, _ bytes: Data) -> Self {
            Self(name: name + ", kept", steps: [.write(bytes)], mayWait: true)
        }

        static func kept(_ name: String, _ text: String) -> Self { .kept(name, Data(text.utf8)) }

        /// A kind of answers.
        enum Family: String, CaseIterable {
            case statusLines, fields, lengths, chunks, codings, endless, afterwards
        }

        static func all(_ family: Family) -> [HostileAnswer] {
            switch family {
            case .statusLines: statusLines
            case .fields: fields
            case .lengths: lengths
            case .chunks: chunks
            case .codings: codings
            case .endless: endless
            case .afterwards: afterwards
            }
        }
    }

    // MARK: - The families

    extension HostileAnswer {
        private static func quoted(_ text: String) -> String {
            let start = String(text.prefix(40)).debugDescription
            return text.utf8.count > 40 ? "\(start)… (\(text.utf8.count))" : start
        }

        private static var statusLines: [HostileAnswer] {
            let lines = [
                "HTTP/1.1 000 X", "HTTP/1.1 0 X", "HTTP/1.1 42 X", "HTTP/1.1 099 X", "HTTP/1.1 600 X", "HTTP/1.1 999 X",
                "HTTP/1.1 1000 X", "HTTP/1.1 2000000000000 X", "HTTP/1.1 -200 X", "HTTP/1.1 +200 X", "HTTP/1.1 2 00 X",
                "HTTP/1.1 20x X", "HTTP/1.1 0x200 X", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1  200 OK",
                "HTTP/1.1\t200 OK", "HTTP/1.1 \t200 OK", "HTTP/1.1200 OK", "HTTP/1.1", "HTTP/1.1 ", "HTTP/ 200 OK",
                "HTTP/0.9 200 OK", "HTTP/1.0 200 OK", "HTTP/1.2 200 OK", "HTTP/1.10 200 OK", "HTTP/1 200 OK",
                "HTTP/2 200 OK", "HTTP/2.0 200 OK", "HTTP/3 200 OK", "HTTP/9.9 200 OK", "HTTP/11.1 200 OK",
                "http/1.1 200 OK", "HTTP 200 OK", "ICY 200 OK", "RTSP/1.0 200 OK", "SIP/2.0 200 OK", " HTTP/1.1 200 OK",
                "\r\nHTTP/1.1 200 OK", "\nHTTP/1.1 200 OK", "\0HTTP/1.1 200 OK", "HTTP/1.1 200 OK\0",
                "HTTP/1.1 2\u{0}0 X",
                "\u{FEFF}HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r", "HTTP/1.1 200\rOK", "HTTP/1.1 ２００ OK",
                "HTTP/1.1 200 \u{1B}[31m", "HTTP/1.1 200 " + String(repeating: "a", count: 100_000),
                "HTTP/1.1 200 " + String(repeating: "a", count: 300_000), String(repeating: "H", count: 300_000),
                "HTTP/1.1 100 Continue", "HTTP/1.1 199 X", "HTTP/1.1 101 Switching Protocols",
                "HTTP/1.1 204 No Content",
                "HTTP/1.1 205 Reset Content", "HTTP/1.1 304 Not Modified", "HTTP/1.1 401 Unauthorized",
                "HTTP/1.1 407 Proxy Authentication Required", "HTTP/1.1 417 Expectation Failed", "HTTP/1.1 426 Upgrade",
                "HTTP/1.1 303 See Other", "HTTP/1.1 399 X", "PRI * HTTP/2.0", "GET / HTTP/1.1", "",
            ]
            return lines.flatMap { line in
                [
                    closing(quoted(line), line + "\r\nContent-Length: 5\r\n\r\nhello"),
                    closing(quoted(line) + " LF", line + "\nContent-Length: 5\n\nhello"),
                    closing(quoted(line) + " without fields", line + "\r\n\r\nhello"),
                ]
            }
        }

        private static var fields: [HostileAnswer] {
            let many = String(repeating: "X: y\r\n", count: 20_000)
            let cookies = (0..<2_000).map { "Set-Cookie: a\($0)=\($0); Path=/; Domain=.\r\n" }.joined()
            let texts = [
                " folded: first", "\tfolded: first", "A: b\r\n c", "A: b\r\n\tc\r\n d\r\n\r\n e", "A: b\r\n ",
                "no colon",
                ": empty name", " : blank name", "A : b", "A\t: b", "A b: c", "A\0: b", "A: b\0c", "A: \0", "A: b\rc",
                "A: b\r\rc", "A:b", "A:", "A: ", ":", "::", "A::b", "Ä: b", "A: ä", "A: \u{2028}", "A: \u{7F}",
                "A: \u{1}",
                String(repeating: "N", count: 100_000) + ": v", "A: " + String(repeating: "v", count: 100_000),
                "A: " + String(repeating: "v", count: 300_000), "A: " + String(repeating: " ", count: 100_000) + "v",
                "A: b\r\n" + String(repeating: " c\r\n", count: 20_000) + "D: e", many + "Y: z", cookies + "Y: z",
                "Location: \0", "Location: http://[", "Location: //[::1%25eth0]:80/x", "Location: ///", "Location:",
                "Connection: close, keep-alive", "Connection: \0", "Connection: upgrade\r\nUpgrade: h2c",
                "Connection: Proxy-Connection", "Keep-Alive: timeout=-1, max=-1",
                "Keep-Alive: timeout=99999999999999999999",
                "WWW-Authenticate: Negotiate x", "WWW-Authenticate: NTLM", "Proxy-Authenticate: Basic realm=\"",
                "WWW-Authenticate: \"", "Set-Cookie: \0=\0", "Set-Cookie: =", "Set-Cookie: a=b; Expires=\u{0}",
                "Alt-Svc: h3=\":443\"; ma=1", "Strict-Transport-Security: max-age=1", "Content-Range: bytes 5-1/0",
                "Content-Range: bytes */", "Last-Modified: \0", "Refresh: 0", "Retry-After: -1", "Date: x",
                "Content-Type: \0", "Content-Type: ;;;;charset=", "Trailer: Content-Length", "HTTP/1.1 200 OK",
                "Persistent-Auth: true", "Content-Disposition: attachment; filename=\"../../x\"",
            ]
            let bad: [(String, Data)] = [
                ("not UTF-8", Data([0x41, 0x3A, 0x20, 0xFF, 0xFE])),
                ("name not UTF-8", Data([0xC3, 0x28, 0x3A, 0x20, 0x61])),
                ("all octets", Data("A: ".utf8) + Data((0...255).filter { $0 != 10 && $0 != 13 })),
            ]
            return (texts.map { (quoted($0), Data($0.utf8)) } + bad).flatMap { name, field in
                let head = Data("HTTP/1.1 200 OK\r\n".utf8) + field
                return [
                    closing(name, head + Data("\r\nContent-Length: 5\r\n\r\nhello".utf8)),
                    kept(name, head + Data("\r\nContent-Length: 5\r\n\r\nhello".utf8)),
                    closing(name + ", a redirect", Data("HTTP/1.1 302 Found\r\n".utf8) + field + Data("\r\n\r\n".utf8)),
                ]
            }
        }

        private static var lengths: [HostileAnswer] {
            let values = [
                "-1", "-0", "+5", "0x5", "5 5", "5,5", "5, 6", "5;", "5a", "1e3", "", "5.0", "５",
                "999999999999999999999",
                "18446744073709551615", "18446744073709551621", "9223372036854775807", "9223372036854775808",
                "4294967301",
                "00000005", "\t5", "5\t", "5\0", "\"5\"", "(5)", "0", "4", "6", "chunked",
            ]
            let pairs = [
                ("5", "5"), ("5", "6"), ("6", "5"), ("0", "5"), ("5", "0"), ("", "5"), ("5", ""), ("x", "5"),
                ("5", "-5"),
            ]
            let codings = [
                "chunked", "CHUNKED", "chunked, chunked", "identity", "gzip", "gzip, chunked", "chunked, gzip",
                "chunked;q=1", "xchunked", "chunkedx", "\"chunked\"", "", ",", "chunked,", "\u{B}chunked", "chunked\0",
            ]
            var heads = values.map { ("length \(quoted($0))", "Content-Length: \($0)") }
            heads += pairs.map { ("lengths \($0) and \($1)", "Content-Length: \($0)\r\nContent-Length: \($1)") }
            for coding in codings {
                heads.append(("coding \(quoted(coding))", "Transfer-Encoding: \(coding)"))
                heads.append(("length, coding \(quoted(coding))", "Content-Length: 3\r\nTransfer-Encoding: \(coding)"))
                heads.append(("coding \(quoted(coding)), length", "Transfer-Encoding: \(coding)\r\nContent-Length: 3"))
            }
            heads.append(("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"))
            heads.append(("two different codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"))
            return heads.flatMap { name, head in
                let answer = "HTTP/1.1 200 OK\r\n\(head)\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                return [
                    closing(name, answer), kept(name, answer),
                    closing(name + ", HTTP/1.0", answer.replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0")),
                ]
            }
        }

        private static var chunks: [HostileAnswer] {
            let long = String(repeating: "a", count: 100_000)
            let bodies = [
                "", "\r\n", "g\r\nhi\r\n0\r\n\r\n", "-2\r\nhi\r\n0\r\n\r\n", "+2\r\nhi\r\n0\r\n\r\n",
                "0x2\r\nhi\r\n0\r\n\r\n", " 2\r\nhi\r\n0\r\n\r\n", "2 \r\nhi\r\n0\r\n\r\n", "2\t\r\nhi\r\n0\r\n\r\n",
                "2;ext\r\nhi\r\n0\r\n\r\n", "2;a=\"b\r\nc\"\r\nhi\r\n0\r\n\r\n", "2;\(long)\r\nhi\r\n0\r\n\r\n",
                "2\0\r\nhi\r\n0\r\n\r\n", "ffffffffffffffff\r\nhi\r\n0\r\n\r\n", "fffffffffffffffff\r\nhi",
                "7fffffffffffffff\r\nhi", "8000000000000000\r\nhi", "10000000000000000\r\nhi", "fffffffe\r\nhi",
                "00000000000000000000000002\r\nhi\r\n0\r\n\r\n", "0000000000000002\r\nhi\r\n0\r\n\r\n",
                "2\nhi\n0\n\n", "2\r\nhi0\r\n\r\n", "2\r\nhi\r0\r\n\r\n", "2\r\nhix\r\n0\r\n\r\n", "2\r\nhi\n0\r\n\r\n",
                "2\r\nh", "2\r\nhi", "2\r\nhi\r\n", "2\r\nhi\r\n0", "2\r\nhi\r\n0\r\n", "2\r\nhi\r\n0\r\n\r",
                "2\r\nhi\r\n00\r\n\r\n", "2\r\nhi\r\n000000000000000000\r\n\r\n", "2\r\nhi\r\n0;x=y\r\n\r\n",
                "0\r\nA: b\r\n\r\n", "0\r\nContent-Length: 5\r\n\r\n", "0\r\nTransfer-Encoding: chunked\r\n\r\n",
                "0\r\nSet-Cookie: a=b\r\nLocation: /x\r\n\r\n", "0\r\nno colon\r\n\r\n", "0\r\n: b\r\n\r\n",
                "0\r\n folded\r\n\r\n", "0\r\nA: b\0c\r\n\r\n", "0\r\nA: b\n\n", "0\r\nHTTP/1.1 200 OK\r\n\r\n",
                "0\r\nA: \(long)\r\n\r\n", "0\r\nA: \(long)\(long)\(long)\r\n\r\n",
                "0\r\n" + String(repeating: "A: b\r\n", count: 20_000) + "\r\n",
                "0\r\n" + String(repeating: "A: b\r\n", count: 100_000) + "\r\n", "0\r\nA: b", "0\r\nA: b\r\n",
                String(repeating: "1\r\na\r\n", count: 200_000) + "0\r\n\r\n",
                String(repeating: "1;x\r\na\r\n", count: 50_000) + "0\r\n\r\n", String(repeating: "0", count: 300_000),
            ]
            return bodies.flatMap { body in
                let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
                return [closing("chunks \(quoted(body))", answer), kept("chunks \(quoted(body))", answer)]
            }
        }

        private static func coded(_ name: String, _ coding: String, _ body: Data) -> [HostileAnswer] {
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
            return [
                closing("\(name), \(coding)", Data("\(head)\r\n".utf8) + body),
                kept("\(name), \(coding)", Data("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body),
            ]
        }

        private static var codings: [HostileAnswer] {
            let gzip = Deflate.gzip(Data("hello, world".utf8))
            let zlib = Deflate.zlib(Data("hello, world".utf8))
            var answers: [HostileAnswer] = []
            for count in [0, 1, 2, 9, 10, 11, gzip.count - 8, gzip.count - 1] {
                answers += coded("\(count) bytes of gzip", "gzip", gzip.prefix(count))
                answers += coded("\(count) bytes of zlib", "deflate", zlib.prefix(count))
            }
            answers += coded("gzip", "gzip", gzip)
            answers += coded("zlib", "deflate", zlib)
            answers += coded("raw deflate", "deflate", zlib.dropFirst(2).dropLast(4))
            answers += coded("wrong checksum", "gzip", gzip.dropLast(5) + Data([1, 2, 3, 4, 5]))
            answers += coded("two members", "gzip", gzip + gzip)
            answers += coded("garbage after it", "gzip", gzip + Data("garbage".utf8))
            answers += coded("twice", "gzip, gzip", Deflate.gzip(gzip))
            answers += coded("once, said twice", "gzip, gzip", gzip)
            answers += coded("a coding inside another", "deflate, gzip", Deflate.gzip(zlib))
            answers += coded("forty codings", Array(repeating: "gzip", count: 40).joined(separator: ", "), gzip)
            answers += coded(
                "a long name in a gzip head", "gzip",
                Data([0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 0]) + Data(repeating: 0x61, count: 300_000))
            answers += coded(
                "an extra field of 64 KiB", "gzip",
                Data([0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) + Data(repeating: 0x61, count: 65_535))
            for coding in [
                "gzip", "x-gzip", "deflate", "br", "zstd", "identity", "none", "compress", "x", "", ",", "\0",
            ] {
                answers += coded("plain text", coding, Data("hello".utf8))
                answers += coded("nothing", coding, Data())
            }
            answers += coded("a bomb", "gzip", Deflate.gzipHead + Deflate.bomb(500_000))
            answers += coded("a bomb in a bomb", "gzip, gzip", Deflate.gzip(Deflate.gzipHead + Deflate.bomb(100_000)))
            answers += coded("a bomb", "deflate", Data([0x78, 0x01]) + Deflate.bomb(500_000))
            answers += coded("a bomb", "br", Deflate.brotliBomb)
            answers += coded("a bomb", "zstd", Deflate.zstdBomb(512))
            return answers
        }

        private static var endless: [HostileAnswer] {
            func endless(_ name: String, _ start: String, _ part: String) -> HostileAnswer {
                let parts = Data(String(repeating: part, count: 65_536 / part.utf8.count).utf8)
                return HostileAnswer(
                    name: name,
                    steps: [.write(Data(start.utf8))] + Array(repeating: .write(parts), count: 160) + [.hang])
            }
            return [
                endless("an endless head", "HTTP/1.1 200 OK\r\n", "A: b\r\n"),
                endless("endless folds", "HTTP/1.1 200 OK\r\nA: b\r\n", " c\r\n"),
                endless("an endless status line", "HTTP/1.1 200 ", "a"),
                endless("an endless field", "HTTP/1.1 200 OK\r\nA: ", "a"),
                endless("endless interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n"),
                endless("endless hints", "", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"),
                endless("endless trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n"),
            ]
        }

        private static var afterwards: [HostileAnswer] {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
            let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
            let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            let starts = [
                ("an answer", answer), ("chunks", chunked), ("no content", "HTTP/1.1 204 No Content\r\n\r\n"),
                ("not modified", "HTTP/1.1 304 Not Modified\r\n\r\n"),
                ("an interim answer", "HTTP/1.1 103 Early Hints\r\n\r\n" + answer),
                ("an empty answer", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            ]
            let ends = [
                ("another", forged), ("three others", forged + forged + forged), ("an end of line", "\r\n"),
                ("a byte", "x"),
                ("a byte and another", "x" + forged), ("a hint", "HTTP/1.1 103 Early Hints\r\n\r\n"),
                ("a head without end", "HTTP/1.1 200 OK\r\nX: "), ("a refusal", "HTTP/1.1 408 Request Timeout\r\n\r\n"),
                ("a hundred kilobytes", String(repeating: "forged", count: 17_000)),
            ]
            return starts.flatMap { start, first in
                ends.flatMap { end, second in
                    [
                        closing("\(start), then \(end)", first + second), kept("\(start), then \(end)", first + second),
                    ]
                }
            }
        }
    }
#endif
