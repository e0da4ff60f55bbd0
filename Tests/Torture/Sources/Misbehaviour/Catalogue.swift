import AtomNetworking
import AtomNetworkingTesting
import Foundation

/// All behaviours.
enum Catalogue {
    /// Behaviours that are run in one process.
    struct Family: Sendable {
        let name: String
        let behaviours: @Sendable () -> [Behaviour]
        /// Whether a server of HTTP/2 is met.
        var hasFrames = false

        /// A transport's reason not to meet it.
        func obstacle(of transport: String) -> String? {
            guard hasFrames else { return nil }
            return transport == "libcurl" ? FramesServer.obstacle : "it has no authority of its own for TLS"
        }
    }

    static let families: [Family] =
        [Family(name: "cut", behaviours: { cuts })]
        + HostileAnswer.Family.allCases.map(\.rawValue).map { name in
            Family(name: name, behaviours: { HostileAnswer.Family(rawValue: name).map(hostile) ?? [] })
        }
        + [
            Family(name: "stages", behaviours: { stages }), Family(name: "early", behaviours: { early }),
            Family(name: "drip", behaviours: { drips }), Family(name: "statuses", behaviours: { statuses }),
            Family(name: "retries", behaviours: { retries }), Family(name: "redirects", behaviours: { redirects }),
            Family(name: "leftovers", behaviours: { leftovers }), Family(name: "ranges", behaviours: { ranges }),
            Family(name: "streams", behaviours: { streams }), Family(name: "bombs", behaviours: { bombs }),
            Family(name: "codings whole", behaviours: { wholeCodings }),
            Family(name: "echoes", behaviours: { echoes }), Family(name: "handshakes", behaviours: { handshakes }),
            Family(name: "tokens", behaviours: { tokens }),
            Family(name: "frames", behaviours: { frames }, hasFrames: true),
        ]

    static let hello = "hello, world"

    /// A sound response.
    static func sound(_ text: String = hello, status: Int = 200, fields: String = "") -> String {
        "HTTP/1.1 \(status) X\r\n\(fields)Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
    }
}

extension Behaviour {
    var title: String { "\(family): \(name)" }
}

// MARK: - Responses that end early, and those that no server should send

extension Catalogue {
    /// Every beginning of a sound response, and every way to leave after it.
    static var cuts: [Behaviour] {
        NormalAnswer.all.flatMap { answer in
            (0...answer.bytes.count).flatMap { count in
                [Ending.close, .abruptly, .halfClose, .reset].flatMap { ending -> [Behaviour] in
                    let calls: [Behaviour.Call] = [.data, .download, .bytes]
                    return calls.enumerated().map { index, call in
                        .sending(
                            "cut",
                            "\(answer.testDescription) after \(count) bytes, \(place(in: answer, at: count)), \(ending), \(call)",
                            answer.bytes.prefix(count), then: ending,
                            expecting: expectation(of: answer, cutAt: count, ending)
                        ) {
                            $0.call = call
                            // A sound body without an end of its own isn't whole while the connection is.
                            $0.timeout.idle = 20
                            $0.isLong =
                                (count + index) % 3 != 0 && ending == .close
                                || ending != .close && (count + index) % 9 != 0
                        }
                    }
                }
            }
        }
    }

    /// Which part of a response ends there.
    private static func place(in answer: NormalAnswer, at count: Int) -> String {
        if count == answer.bytes.count { return "whole" }
        let text = String(decoding: answer.bytes.prefix(count), as: UTF8.self)
        if count < answer.headSize {
            let last = text.range(of: "\r\n\r\n", options: .backwards).map { text[$0.upperBound...] } ?? text[...]
            return last.contains("\r\n") ? "in the fields" : "in the status line"
        }
        return text.contains("\r\n0\r\n") ? "in the trailers" : "in the body"
    }

    private static func expectation(
        of answer: NormalAnswer, cutAt count: Int, _ ending: Ending
    ) -> Behaviour.Expectation {
        let status =
            Int(answer.head.split(separator: "\r\n").last { $0.hasPrefix("HTTP/") }?.split(separator: " ")[1] ?? "")
            ?? 0
        if ending == .reset {
            // A reset may overtake what was sent before it.
            guard answer.isFramed else { return .failureOr([answer.coded.prefix(max(0, count - answer.headSize))]) }
            return count < answer.firstComplete ? .failure : .failureOr([answer.body])
        }
        if !answer.isFramed, count >= answer.headSize {
            return .response(status, answer.body.prefix(count - answer.headSize))
        }
        if count == answer.bytes.count { return .response(status, answer.body) }
        if count >= answer.firstComplete { return .failureOr([answer.body]) }
        if count >= answer.headSize { return .failure(.answered) }
        guard place(in: answer, at: count) == "in the fields" else { return .failure(.maybeSent) }
        // Not every transport shows a status without its head.
        return .judged { outcome, _ in
            [.answered, .maybeSent].contains(outcome.error?.delivery) ? nil : "expected a failure after the status"
        }
    }

    /// The answers of the tests over libcurl.
    static func hostile(_ family: HostileAnswer.Family) -> [Behaviour] {
        var seen: [String: Int] = [:]
        return HostileAnswer.all(family).map { answer in
            let number = seen[answer.name, default: 0]
            seen[answer.name] = number + 1
            let name = answer.name + (number == 0 ? "" : " (\(number + 1))")
            return Behaviour(family.rawValue, name, expecting: expectation(of: answer, family)) {
                $0.timeout = (answer.mayWait ? 0.4 : 20, 40)
                $0.redirectLimit = nil
                $0.configure = { $0.retryPolicy = .none }
            } serve: { line, head, _ in
                guard line.readBody(of: head) != nil else { return .close }
                for step in answer.steps {
                    switch step {
                    case .write(let data): guard line.write(data) else { return .abruptly }
                    case .hang: line.drain(milliseconds: nil)
                    case .close: return .close
                    case .reset: return .reset
                    default: break
                    }
                }
                return .keep
            }
        }
    }

    private static func expectation(of answer: HostileAnswer, _ family: HostileAnswer.Family) -> Behaviour.Expectation {
        if family == .endless { return .failure }
        var isClosed = false
        var bytes = Data()
        for step in answer.steps {
            if case .write(let data) = step { bytes += data }
            if case .close = step { isClosed = true }
        }
        switch ReferenceReader.read(bytes, isClosed: isClosed) {
        case .incomplete, .broken: return .failure
        case .coded: return .anything
        case .whole(let status, let body, let isImpeccable):
            let isSmall = bytes.count < 64 << 10
            if status == 401 || status == 407 { return .anything }
            if !(200...299).contains(status) {
                return .judged { outcome, _ in
                    if outcome.status == nil { return isImpeccable && isSmall ? "expected \(status)" : nil }
                    // The status is told also if the rest can't be read.
                    let fits = outcome.body.map { isImpeccable ? $0 == body : body.starts(with: $0) } ?? false
                    return outcome.status == status && fits ? nil : "expected \(status)"
                }
            }
            return isImpeccable && isSmall ? .response(status, body) : .failureOr([body])
        }
    }

    /// Sound responses, slowly.
    static var drips: [Behaviour] {
        var behaviours: [Behaviour] = NormalAnswer.all.flatMap { answer in
            [Behaviour.Call.data, .download, .bytes].map { call in
                Behaviour(
                    "drip", "\(answer.testDescription), byte by byte, \(call)",
                    expecting: expectation(of: answer, cutAt: answer.bytes.count, .close)
                ) {
                    $0.call = call
                } serve: { line, _, _ in
                    line.drip(answer.bytes, milliseconds: 1)
                    return .close
                }
            }
        }
        let silences: [(String, String)] = [
            ("no byte", ""), ("half a status line", "HTTP/1."), ("half a head", "HTTP/1.1 200 OK\r\nContent-Le"),
            ("a head", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"),
            ("half a body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"),
            ("half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"),
            ("no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
            ("an interim response", "HTTP/1.1 100 Continue\r\n\r\n"), ("a hint", "HTTP/1.1 103 Early Hints\r\n\r\n"),
            ("a body without an end", "HTTP/1.1 200 OK\r\n\r\nhello"),
        ]
        for (name, start) in silences {
            for call in [Behaviour.Call.data, .download, .bytes] {
                for method in ["GET", "POST"] {
                    behaviours.append(
                        Behaviour(
                            "drip", "silence after \(name), \(method), \(call)",
                            expecting: .judged { outcome, _ in
                                guard case .failure(.session(let error as URLError)) = outcome, error.code == .timedOut
                                else {
                                    return "expected a timeout"
                                }
                                let isAnswered =
                                    start.contains("\r\n\r\n") && !name.contains("interim") && !name.contains("hint")
                                return outcome.error?.delivery == (isAnswered ? .answered : .maybeSent)
                                    ? nil : "wrong delivery"
                            }
                        ) {
                            $0.call = call
                            $0.method = method
                            $0.body = method == "POST" ? .data(1_000) : .none
                            $0.holds = true
                            $0.timeout = (1, 30)
                            $0.isLong = method == "POST" && call == .bytes
                        } serve: { line, head, _ in
                            guard line.readBody(of: head) != nil else { return .close }
                            line.write(start)
                            line.holdHere()
                            line.drain(milliseconds: nil)
                            return .close
                        })
                }
            }
        }
        // Never silent, and never at an end: the whole time ends it.
        let endless: [(String, String, String)] = [
            ("hints", "", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"), ("a status line", "HTTP/1.1 200 ", "a"),
            ("fields", "HTTP/1.1 200 OK\r\n", "A: b\r\n"), ("a body", "HTTP/1.1 200 OK\r\n\r\n", "a"),
            ("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"),
            ("the size of a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0"),
            ("trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n"),
        ]
        for (name, start, part) in endless {
            behaviours.append(
                Behaviour("drip", "\(name) without end", expecting: .failure) {
                    $0.timeout = (5, 1.5)
                    $0.holds = true
                } serve: { line, _, _ in
                    line.write(start)
                    line.write(part)
                    line.holdHere()
                    while line.write(part) { line.pause(20) }
                    return .abruptly
                })
        }
        return behaviours
    }

    /// What comes behind a response over a kept connection.
    static var leftovers: [Behaviour] {
        let first = sound()
        let forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        let ends = [
            ("another response", forged), ("a byte", "x"), ("an end of line", "\r\n"),
            ("a 408", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            ("a hint", "HTTP/1.1 103 Early Hints\r\n\r\n"), ("two others", forged + forged),
            ("half a head", "HTTP/1.1 200 OK\r\nX-"), ("a megabyte", String(repeating: "forged", count: 180_000)),
        ]
        let behind = ends.flatMap { name, rest in
            [0, 1, 5, 20, 100].flatMap { delay in
                [Ending.keep, .close, .reset].map { ending in
                    Behaviour("leftovers", "\(name) after \(delay) ms, \(ending)", expecting: .response(200, hello)) {
                        $0.settles = true
                        $0.isLong = delay == 1 || delay == 20
                    } serve: { line, _, _ in
                        line.write(first)
                        line.pause(delay)
                        // The client may have closed it already.
                        line.write(rest)
                        return ending
                    }
                }
            }
        }
        // Heads that say something else of the connection than is true.
        let heads =
            ["HTTP/2 200 X\r\n", "HTTP/2.0 200 X\r\n", "HTTP/3 200 X\r\n"]
            + [
                "", "keep-alive", "close, keep-alive", "Keep-Alive, Close", "close;q=0", "upgrade", "\"close\"",
                "cl ose", "keep-alive\r\nConnection: close", "keep-alive\r\n close",
            ].flatMap { value in ["1.0", "1.1"].map { "HTTP/\($0) 200 X\r\nConnection: \(value)\r\n" } }
            + ["HTTP/1.0 200 X\r\nProxy-Connection: keep-alive\r\n", "HTTP/2 103 X\r\n\r\nHTTP/1.1 200 X\r\n"]
        let pretending = heads.flatMap { head in
            ["", forged].map { rest in
                Behaviour(
                    "leftovers", "\(rest.isEmpty ? "nothing" : "another response") after \(head.debugDescription)",
                    expecting: .failureOr([Data(hello.utf8)])
                ) {
                    $0.settles = true
                } serve: { line, _, _ in
                    line.write("\(head)Content-Length: \(hello.utf8.count)\r\n\r\n\(hello)")
                    line.pause(rest.isEmpty ? 0 : 100)
                    line.write(rest)
                    return .keep
                }
            }
        }
        return behind + pretending
    }
}
