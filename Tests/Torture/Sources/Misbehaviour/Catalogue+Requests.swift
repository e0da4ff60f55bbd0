import AtomNetworking
import Foundation

// Where a server leaves in a request, and what it says before the request's end.
extension Catalogue {
    private static let bodies: [(String, Behaviour.Body)] = [
        ("no body", .none), ("a small body", .data(1_000)), ("a large body", .data(4 << 20)),
        ("a file", .file(4 << 20)), ("a stream", .stream(4 << 20)), ("a stream once", .onceOnly(4 << 20)),
    ]

    static var stages: [Behaviour] {
        var behaviours: [Behaviour] = []
        for ending in [Ending.close, .abruptly, .halfClose, .reset] {
            for (name, body) in bodies {
                let method = name == "no body" ? "GET" : "POST"
                func add(
                    _ stage: String, greeting: (@Sendable (Line) -> Ending)? = nil,
                    serve: @escaping @Sendable (Line, Head, Int) -> Ending = { _, _, _ in .close }
                ) {
                    behaviours.append(
                        Behaviour(
                            "stages", "\(stage), \(ending), \(name)", expecting: .failure,
                            {
                                $0.method = method
                                $0.body = body
                                $0.greeting = greeting
                                $0.timeout = (ending == .halfClose ? 3 : 20, 40)
                                $0.isLong = name == "a file" || name == "a small body" && ending == .close
                            }, serve: serve))
                }
                add("before anything is read", greeting: { _ in ending })
                add(
                    "after a byte",
                    greeting: { line in
                        _ = line.read(atMost: 1)
                        return ending
                    })
                add("after the head", serve: { _, _, _ in ending })
                guard method == "POST" else { continue }
                add(
                    "within the body",
                    serve: { line, head, _ in
                        _ = line.readBody(of: head, atMost: 500)
                        return ending
                    })
                add(
                    "after the body",
                    serve: { line, head, _ in
                        _ = line.readBody(of: head)
                        return ending
                    })
                add(
                    "after an interim response",
                    serve: { line, head, _ in
                        line.write("HTTP/1.1 100 Continue\r\n\r\n")
                        return ending
                    })
            }
        }
        // A server that reads nothing, and one that stops reading.
        for (name, body) in bodies {
            for stage in ["nothing", "the head", "a part"] {
                behaviours.append(
                    Behaviour("stages", "reads \(stage) and hangs, \(name)", expecting: .failure(.maybeSent)) {
                        $0.method = name == "no body" ? "GET" : "POST"
                        $0.body = body
                        $0.holds = true
                        $0.timeout = (1, 30)
                        if stage == "nothing" {
                            $0.greeting = { line in
                                line.holdHere()
                                line.pause(3_000)
                                return .abruptly
                            }
                            $0.disarmsWhenHeld = true
                        }
                    } serve: { line, head, _ in
                        if stage == "a part" { _ = line.readBody(of: head, atMost: 500) }
                        line.holdHere()
                        line.pause(3_000)
                        return .abruptly
                    })
            }
        }
        return behaviours
    }

    /// Responses that come before the request has been read.
    static var early: [Behaviour] {
        let responses: [(String, Int, String)] = [
            ("413", 413, "Connection: close\r\n"), ("200", 200, "Connection: close\r\n"),
            ("401", 401, "Connection: close\r\n"),
            ("200 kept", 200, ""), ("413 kept", 413, ""), ("500", 500, "Connection: close\r\n"),
            ("401 with Basic", 401, "WWW-Authenticate: Basic realm=\"x\"\r\nConnection: close\r\n"),
            ("417", 417, "Connection: close\r\n"), ("303", 303, "Connection: close\r\nX: y\r\n"),
        ]
        var behaviours: [Behaviour] = []
        for (response, status, fields) in responses {
            for (name, body) in bodies where name != "no body" {
                for ending in [Ending.close, .keep, .halfClose, .abruptly, .reset] {
                    let text = sound(status: status, fields: fields)
                    let isSure = ending != .abruptly && ending != .reset
                    behaviours.append(
                        Behaviour(
                            "early", "\(response) before \(name), \(ending)",
                            expecting: isSure
                                ? .response(status, hello)
                                : .judged { outcome, _ in
                                    outcome.status == nil
                                        || outcome.status == status && outcome.body == Data(hello.utf8)
                                        ? nil : "expected a failure or \(status)"
                                }
                        ) {
                            $0.method = "POST"
                            $0.body = body
                            // libcurl sends a 417 again without its Expect.
                            $0.mayRepeat = status == 417
                            $0.isLong = name == "a file" || status == 500 || response == "413 kept"
                        } serve: { line, head, _ in
                            line.write(text)
                            return ending
                        })
                }
            }
        }
        // A session's first 401 for a body that can't be sent again.
        for ending in [Ending.close, .keep, .halfClose] {
            behaviours.append(
                Behaviour(
                    "early", "401 for a stream that can't be sent again, \(ending)",
                    expecting: .judged { outcome, _ in
                        guard case .failure(let error) = outcome else { return "expected a failure" }
                        return error.response?.statusCode == 401 && error.delivery == .answered
                            ? nil : "expected the 401"
                    }
                ) {
                    $0.method = "POST"
                    $0.body = .onceOnly(4 << 20)
                    $0.hasSession = true
                    // It isn't spent while nothing of it has been read.
                    $0.mayRepeat = true
                    $0.recovers = false
                } serve: { line, head, _ in
                    if head.path == "/token" {
                        guard line.readBody(of: head) != nil else { return .close }
                        line.write(sound(Trial.grant))
                        return .keep
                    }
                    line.write(sound(status: 401, fields: "Connection: close\r\n"))
                    return ending
                })
        }
        return behaviours
    }
}
