import AtomNetworking
import Foundation

// What a server of HTTP/2 says by its frames (RFC 9113).
extension Catalogue {
    private typealias Ends = Set<FrameScript.End>

    private static let lost: Ends = [.maybeSent]
    private static let fails: Ends = [.maybeSent, .answered]
    /// Where the response may have been read before the fault.
    private static let any: Ends = [.scripted, .maybeSent, .answered]
    private static let scripted: Ends = [.scripted]

    /// A whole response.
    private static func whole(_ stream: UInt32) -> [UInt8] { HTTP2.head(stream) + HTTP2.data(stream, "scripted") }

    static var frames: [Behaviour] { resets + goodbyes + limits + unasked + heads + bodies + connections + floods }

    /// With GET and POST, as the first request of a connection and as the second one.
    private static func make(
        _ name: String, _ ends: Ends, hasHead: Bool = false, idle: Double? = nil, isLong: Bool = false,
        _ change: (inout FrameScript) -> Void = { _ in }, steps: (UInt32) -> [[String]]
    ) -> [Behaviour] {
        [("GET", 1), ("POST", 2), ("GET", 2), ("POST", 1)].enumerated().map { index, way in
            let (method, nth) = way
            // After a fault of the connection libcurl 8.12 waits for more.
            let idle = idle ?? (ends.contains(.maybeSent) ? 2.5 : 20)
            var script = FrameScript()
            (script.ends, script.hasHead, script.nth) = (ends, hasHead, nth)
            script.steps = steps(UInt32(2 * nth - 1))
            change(&script)
            return Behaviour("frames", "\(name), \(method), \(nth == 1 ? "first" : "later")", expecting: .anything) {
                $0.method = method
                $0.frames = script
                $0.timeout = (idle, idle * 2)
                $0.isLong = isLong || index > 1
            }
        }
    }

    private static func writing(
        _ name: String, _ ends: Ends, hasHead: Bool = true, idle: Double? = nil, _ bytes: (UInt32) -> [UInt8]
    ) -> [Behaviour] {
        make(name, ends, hasHead: hasHead, idle: idle) { [FrameScript.write(bytes($0))] }
    }

    /// The end of a stream, with each code, one that nobody knows among them.
    private static var resets: [Behaviour] {
        var behaviours: [Behaviour] = []
        for code in UInt32(0)...14 {
            let isRefusal = code == 7
            behaviours += make(
                "reset with \(code) before the response", isRefusal ? [.own] : lost, { $0.refuses = isRefusal },
                steps: { [FrameScript.write(HTTP2.reset($0, code))] })
            for length in [nil, 8] {
                let has = length == nil ? "" : ", with a length"
                for (place, text) in [("after the head", ""), ("within the body", "scri")] {
                    for isLater in [false, true] {
                        behaviours += make(
                            "reset with \(code) \(place)\(has)\(isLater ? ", later" : "")",
                            isLater ? [.answered] : fails, hasHead: true,
                            isLong: isLater && ![0, 7, 8, 13].contains(code)
                        ) { stream in
                            let start = HTTP2.head(stream, length: length)
                            return [
                                FrameScript.write(
                                    start + (text.isEmpty ? [] : HTTP2.data(stream, text, isLast: false))),
                                FrameScript.wait(isLater ? 0.05 : 0), FrameScript.write(HTTP2.reset(stream, code)),
                            ]
                        }
                    }
                }
            }
            behaviours += writing("reset with \(code) after the response", scripted) {
                whole($0) + HTTP2.reset($0, code)
            }
        }
        // Before a body that the server doesn't read.
        for (name, ends, refuses, hasHead, bytes) in [
            ("refused", [.own], true, false, HTTP2.reset(1, 7)), ("cancelled", lost, false, false, HTTP2.reset(1, 8)),
            ("answered, and not wanted", scripted, false, true, whole(1) + HTTP2.reset(1, 0)),
            ("answered, and cancelled", any, false, true, whole(1) + HTTP2.reset(1, 8)),
        ] as [(String, Ends, Bool, Bool, [UInt8])] {
            behaviours += post("\(name) before its body", ends) {
                ($0.isEarly, $0.refuses, $0.hasHead) = (true, refuses, hasHead)
                $0.steps = [FrameScript.write(bytes)]
            }
        }
        return behaviours + post("refused each time", [.notSent]) { $0.refusesAlways = true }
    }

    private static func post(_ name: String, _ ends: Ends, _ change: (inout FrameScript) -> Void) -> [Behaviour] {
        var script = FrameScript()
        script.ends = ends
        change(&script)
        return [
            Behaviour("frames", name, expecting: .anything) {
                $0.method = "POST"
                $0.body = .data(200_000)
                $0.frames = script
            }
        ]
    }

    private static var goodbyes: [Behaviour] {
        var behaviours: [Behaviour] = []
        let ways: [(String, [[String]])] = [
            ("", []), (", and the end", [FrameScript.end]), (", and the end of TLS", [FrameScript.alert]),
            (", and later the end", [FrameScript.wait(0.05), FrameScript.end]),
            (", and later a reset", [FrameScript.wait(0.05), FrameScript.reset]),
        ]
        for code: UInt32 in [0, 1, 2, 11] {
            for (way, ending) in ways {
                behaviours += make(
                    "goodbye before it with \(code)\(way)", [.own], isLong: code == 1 || code == 2,
                    { $0.refuses = true },
                    steps: {
                        [FrameScript.write(HTTP2.goodbye($0 > 1 ? $0 - 2 : 0, code, saying: Trial.token))] + ending
                    })
                // Stream 1 came before them; the last ones are left behind, or all of them.
                for last: UInt32 in [5, 1] {
                    for method in ["GET", "POST"] {
                        var script = FrameScript()
                        (script.nth, script.count, script.gathers, script.refuses) = (4, 3, true, true)
                        script.ends = [.own]
                        script.steps = [FrameScript.write(HTTP2.goodbye(last, code)), FrameScript.others(upTo: last)]
                        script.steps += ending
                        behaviours.append(
                            Behaviour(
                                "frames", "goodbye after \(last) of three with \(code)\(way), \(method)",
                                expecting: .anything
                            ) {
                                $0.method = method
                                $0.frames = script
                                $0.isLong = code != 0
                            })
                    }
                }
                for ahead: UInt32 in [0, 2] where !ending.isEmpty {
                    behaviours += make(
                        "goodbye after it and \(ahead) with \(code)\(way)", lost, isLong: code == 1 || code == 2
                    ) {
                        [FrameScript.write(HTTP2.goodbye($0 + ahead, code))] + ending
                    }
                    behaviours += make(
                        "goodbye after it and \(ahead) within the body with \(code)\(way)", fails, hasHead: true,
                        isLong: code == 1 || code == 2
                    ) { stream in
                        let part = HTTP2.head(stream) + HTTP2.data(stream, "scri", isLast: false)
                        return [FrameScript.write(part + HTTP2.goodbye(stream + ahead, code))] + ending
                    }
                }
                behaviours += make(
                    "goodbye, and then the response, with \(code)\(way)", scripted, hasHead: true,
                    isLong: code == 1 || code == 2
                ) { [FrameScript.write(HTTP2.goodbye(1 << 31 - 1, code) + whole($0))] + ending }
            }
        }
        return behaviours
    }

    private static func setting(_ name: UInt16, _ value: UInt32) -> [UInt8] {
        HTTP2.frame(4, 0, 0, [UInt8(name >> 8), UInt8(name & 255)] + HTTP2.number(value))
    }

    private static var limits: [Behaviour] {
        var behaviours: [Behaviour] = []
        for limit: UInt32 in [1, 10] {
            for method in ["GET", "POST"] {
                for isKept in [false, true] {
                    var script = FrameScript()
                    script.settings = setting(3, limit).hex
                    (script.limit, script.count, script.nth) = (Int(limit), 30, isKept ? 31 : 1)
                    script.ends = [.own]
                    behaviours.append(
                        Behaviour(
                            "frames", "thirty with a limit of \(limit), \(method), \(isKept ? "later" : "first")",
                            expecting: .anything
                        ) {
                            $0.method = method
                            $0.frames = script
                        })
                }
            }
        }
        for count in [1, 10] {
            for limit: UInt32 in [1, 100] {
                behaviours += make(
                    "settings late with \(limit), \(count) at once", [.own],
                    {
                        ($0.lateness, $0.settings, $0.limit) = (0.2, setting(3, limit).hex, Int(limit))
                        ($0.nth, $0.count) = ($0.nth == 1 ? 1 : count + 1, count)
                    }, steps: { _ in [] })
            }
        }
        for (name, bytes) in [
            ("of five octets", HTTP2.frame(4, 0, 0, [0, 3, 0, 0, 1])), ("with an answer", HTTP2.frame(4, 1, 0, [0])),
            ("of a stream", HTTP2.frame(4, 0, 1)), ("of a push", setting(2, 2)), ("of a window", setting(4, 1 << 31)),
            ("of tiny frames", setting(5, 1)), ("of large frames", setting(5, 1 << 24)),
        ] { behaviours += writing("settings \(name)", any) { bytes + whole($0) } }
        return behaviours + writing("settings in between", scripted) { setting(4, 1 << 20) + setting(1, 0) + whole($0) }
    }

    /// What comes for a stream that isn't open.
    private static var unasked: [Behaviour] {
        var behaviours: [Behaviour] = []
        for ahead: UInt32 in [0, 1, 2] {
            let rests: [(String, (UInt32) -> [UInt8])] = [
                ("a response", { HTTP2.head($0 + ahead) + HTTP2.data($0 + ahead, "evil") }),
                ("a head", { HTTP2.head($0 + ahead) }), ("a body", { HTTP2.data($0 + ahead, "evil") }),
                ("a reset", { HTTP2.reset($0 + ahead, 8) }), ("a refusal", { HTTP2.reset($0 + ahead, 7) }),
                ("a window", { HTTP2.frame(8, 0, $0 + ahead, HTTP2.number(9)) }),
                (
                    "a push",
                    { HTTP2.frame(5, 4, $0, HTTP2.number($0 + ahead)) + whole($0 + ahead) }
                ),
            ]
            for (name, rest) in rests {
                for isLater in [false, true] {
                    behaviours += make(
                        "\(name) for the stream \(ahead) ahead\(isLater ? ", later" : "")", scripted, hasHead: true
                    ) {
                        [
                            FrameScript.write(whole($0)), FrameScript.wait(isLater ? 0.02 : 0),
                            FrameScript.write(rest($0)),
                        ]
                    }
                }
                behaviours += writing("\(name) for the stream \(ahead) ahead, before the response", any) {
                    (ahead == 0 ? [] : rest($0)) + whole($0)
                }
            }
        }
        return behaviours
    }

    private static var heads: [Behaviour] {
        func field(_ name: String, _ value: String) -> [UInt8] { HTTP2.field(name, value) }
        func head(_ stream: UInt32, _ fields: [UInt8], flags: UInt8 = 4) -> [UInt8] {
            HTTP2.frame(1, flags, stream, fields)
        }
        func rest(_ stream: UInt32, _ fields: [UInt8], flags: UInt8 = 4) -> [UInt8] {
            HTTP2.frame(9, flags, stream, fields)
        }
        func body(_ stream: UInt32) -> [UInt8] { HTTP2.data(stream, "scripted") }
        let hint = field(":status", "103") + field("link", "<a>")
        let many = (0..<20).map { field("x-\($0)", String(repeating: "y", count: 16_000)) }
        var behaviours: [Behaviour] = []
        for (name, fields) in [
            ("no status", field("x", "y")), ("no field", []), ("a status of four digits", field(":status", "2000")),
            ("a status of letters", field(":status", "abc")), ("the status 0", field(":status", "0")),
            ("a status without a value", field(":status", "")), ("index 0", [0x80]),
            ("an index too far", [0xFF, 0x60]),
            ("an endless number", [0xFF] + [UInt8](repeating: 0xFF, count: 20)),
            ("a table too large", [0x3F, 0xFF, 0xFF, 0xFF, 0x7F, 0x88]),
        ] as [(String, [UInt8])] {
            behaviours += writing("a head with \(name)", lost, hasHead: false) { head($0, fields) + body($0) }
        }
        for (name, fields) in [
            ("two statuses", [0x88, 0x8D]), ("the same status twice", [0x88, 0x88]),
            ("another pseudo-field", field(":x", "y")), ("a path", HTTP2.ok + field(":path", "/")),
            ("a pseudo-field behind others", field("x", "y") + HTTP2.ok), ("half a field", [0, 0x10, 0x61]),
        ] as [(String, [UInt8])] {
            behaviours += writing("a head with \(name)", fails) { head($0, HTTP2.ok + fields) + body($0) }
        }
        for (name, fields) in [
            ("capitals", field("X-A", "b")), ("chunks", field("transfer-encoding", "chunked")),
            ("a connection", field("connection", "close")), ("an end of line", field("x", "a\r\ncontent-length: 1")),
            ("a NUL", field("x", "a\0b")), ("a name of nothing", field("", "a")), ("a space", field("a b", "c")),
        ] {
            behaviours += writing("a head with \(name)", any) { head($0, HTTP2.ok + fields) + body($0) }
        }
        for (name, fields) in [
            ("shorter", field("content-length", "4")), ("longer", field("content-length", "20")),
            ("two", field("content-length", "8") + field("content-length", "9")), ("no", field("content-length", "x")),
            ("a negative", field("content-length", "-1")),
        ] { behaviours += writing("\(name) length", fails) { head($0, HTTP2.ok + fields) + body($0) } }
        behaviours += writing("a head in parts", scripted) {
            head($0, [], flags: 0) + rest($0, HTTP2.ok, flags: 0) + rest($0, field("x", "y")) + body($0)
        }
        behaviours += writing("a head in parts with something between", fails) {
            head($0, HTTP2.ok, flags: 0) + HTTP2.frame(6, 0, 0, [UInt8](repeating: 0, count: 8)) + rest($0, [])
                + body($0)
        }
        behaviours += writing("a head without end", lost, hasHead: false, idle: 1.5) { head($0, HTTP2.ok, flags: 0) }
        behaviours += writing("the rest of no head", any) { rest($0, HTTP2.ok) + whole($0) }
        behaviours += writing("a head of 320 KB", fails, idle: 1.5) { stream in
            head(stream, HTTP2.ok, flags: 0) + many.dropLast().flatMap { rest(stream, $0, flags: 0) }
                + rest(stream, many[0]) + body(stream)
        }
        behaviours += writing("a head with wrong padding", lost, hasHead: false) {
            head($0, [200] + HTTP2.ok, flags: 0x0C) + body($0)
        }
        behaviours += writing("a hint", scripted) { head($0, hint) + whole($0) }
        behaviours += writing("a hundred hints", scripted) { stream in
            (0..<100).flatMap { _ in head(stream, hint) } + whole(stream)
        }
        behaviours += writing("a hint that is all", lost, hasHead: false) { head($0, hint, flags: 5) }
        behaviours += writing("a hint, and a reset", lost, hasHead: false) { head($0, hint) + HTTP2.reset($0, 8) }
        behaviours += writing("a hint, and a body", lost, hasHead: false) { head($0, hint) + body($0) }
        behaviours += writing("101", any) { head($0, field(":status", "101")) + whole($0) }
        return behaviours
    }

    private static var bodies: [Behaviour] {
        func part(_ stream: UInt32, _ text: String) -> [UInt8] { HTTP2.data(stream, text, isLast: false) }
        let x = HTTP2.field("x", "y")
        var behaviours: [Behaviour] = []
        for length in [nil, 8] {
            for (way, steps) in [
                ("the end", [FrameScript.end]), ("the end of TLS", [FrameScript.alert]),
                ("a reset", [FrameScript.reset]),
            ] {
                behaviours += make(
                    "\(way) within a body, \(length == nil ? "without" : "with") a length", fails, hasHead: true
                ) {
                    [
                        FrameScript.write(HTTP2.head($0, length: length) + part($0, "scri")), FrameScript.wait(0.02),
                    ] + steps
                }
            }
        }
        behaviours += writing("a body before its head", lost, hasHead: false) {
            part($0, "scripted") + HTTP2.frame(1, 5, $0, HTTP2.ok)
        }
        behaviours += writing("a frame that is too large", fails) {
            HTTP2.head($0) + HTTP2.data($0, String(repeating: "a", count: 16_385))
        }
        behaviours += writing("a frame of 16 MB that doesn't come", fails, idle: 1.5) {
            HTTP2.head($0) + [0xFF, 0xFF, 0xFF, 0, 0] + HTTP2.number($0) + [1, 2, 3]
        }
        behaviours += writing("wrong padding", fails) { HTTP2.head($0) + HTTP2.frame(0, 9, $0, [200, 1, 2]) }
        behaviours += writing("no padding", fails) { HTTP2.head($0) + HTTP2.frame(0, 9, $0) }
        behaviours += writing("padding", scripted) {
            HTTP2.head($0) + HTTP2.frame(0, 9, $0, [4] + Array("scripted".utf8) + [0, 0, 0, 0])
        }
        behaviours += writing("empty parts", scripted) { stream in
            HTTP2.head(stream) + (0..<100).flatMap { _ in part(stream, "") } + HTTP2.data(stream, "scripted")
        }
        behaviours += writing("trailers", scripted) {
            HTTP2.head($0) + part($0, "scripted") + HTTP2.frame(1, 5, $0, x)
        }
        behaviours += writing("trailers with a status", any) {
            HTTP2.head($0) + part($0, "scripted") + HTTP2.frame(1, 5, $0, HTTP2.ok)
        }
        behaviours += writing("trailers before the end", any) {
            HTTP2.head($0) + part($0, "scri") + HTTP2.frame(1, 4, $0, x) + HTTP2.data($0, "pted")
        }
        return behaviours + writing("more after the end", any) { whole($0) + HTTP2.data($0, "evil") }
    }

    /// What is about the connection, and how it ends.
    private static var connections: [Behaviour] {
        let eight = [UInt8](repeating: 7, count: 8)
        let window = HTTP2.number(1 << 31 - 1)
        var behaviours: [Behaviour] = []
        for (name, bytes) in [
            ("an unknown frame", { HTTP2.frame(0xEE, 0xFF, $0, eight) }),
            ("an unknown frame of the connection", { _ in HTTP2.frame(0xFE, 0xFF, 0, eight) }),
            ("flags that nobody knows", { HTTP2.frame(1, 0xD6 & ~8 & ~0x20, $0, HTTP2.ok + HTTP2.field("x", "y")) }),
            ("a ping", { _ in HTTP2.frame(6, 0, 0, eight) }),
            ("an answer to no ping", { _ in HTTP2.frame(6, 1, 0, eight) }),
            ("a priority", { HTTP2.frame(2, 0, $0, [0, 0, 0, 0, 1]) }),
            ("another service", { HTTP2.frame(10, 0, $0, [0, 0] + Array("h2=\":1\"".utf8)) }),
            ("an origin", { _ in HTTP2.frame(12, 0, 0, [0, 5] + Array("https".utf8)) }),
            ("a window", { HTTP2.frame(8, 0, $0, HTTP2.number(9)) }),
        ] as [(String, (UInt32) -> [UInt8])] {
            let isHead = name.hasPrefix("flags")
            behaviours += writing(name, scripted) {
                bytes($0) + (isHead ? HTTP2.data($0, "scripted") : whole($0))
            }
        }
        for (name, bytes) in [
            ("a window of nothing", { HTTP2.frame(8, 0, $0, HTTP2.number(0)) }),
            ("a window of nothing of the connection", { _ in HTTP2.frame(8, 0, 0, HTTP2.number(0)) }),
            ("a window that overflows", { HTTP2.frame(8, 0, $0, window) + HTTP2.frame(8, 0, $0, window) }),
            (
                "a window of the connection that overflows",
                { _ in HTTP2.frame(8, 0, 0, window) + HTTP2.frame(8, 0, 0, window) }
            ),
            ("half a window", { HTTP2.frame(8, 0, $0, [0, 1]) }), ("half a ping", { _ in HTTP2.frame(6, 0, 0, [1]) }),
            ("half a reset", { HTTP2.frame(3, 0, $0, [0]) }),
            ("half a goodbye", { _ in HTTP2.frame(7, 0, 0, [0, 0]) }),
            ("a stream that depends on itself", { HTTP2.frame(2, 0, $0, HTTP2.number($0) + [1]) }),
            ("a body of the connection", { _ in HTTP2.frame(0, 1, 0, [1]) }),
            ("a head of the connection", { _ in HTTP2.frame(1, 5, 0, HTTP2.ok) }),
            ("a reset of the connection", { _ in HTTP2.reset(0, 8) }),
            ("a goodbye of a stream", { HTTP2.frame(7, 0, $0, window + HTTP2.number(0)) }),
        ] as [(String, (UInt32) -> [UInt8])] { behaviours += writing(name, any) { bytes($0) + whole($0) } }
        for (name, bytes) in [
            ("HTTP/1.1", Array("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nscripted".utf8)),
            ("letters", [UInt8](repeating: 0x61, count: 1_000)), ("half a frame", [0, 0]),
        ] {
            behaviours += make("\(name) in place of frames", lost) { _ in [FrameScript.write(bytes), FrameScript.end] }
        }
        for (name, ending) in [
            ("the end", [FrameScript.end]), ("the end of TLS", [FrameScript.alert]),
            ("both ends", [FrameScript.alert, FrameScript.end]),
            ("a reset", [FrameScript.wait(0.02), FrameScript.reset]),
            ("a goodbye and the end", [FrameScript.write(HTTP2.goodbye(1 << 31 - 1)), FrameScript.end]),
            ("a goodbye", [FrameScript.write(HTTP2.goodbye(3))]),
        ] {
            behaviours += make("\(name) after the response", scripted, hasHead: true) {
                [FrameScript.write(whole($0))] + ending
            }
            behaviours += make("\(name) later, after the response", scripted, hasHead: true) {
                [FrameScript.write(whole($0)), FrameScript.wait(0.02)] + ending
            }
            guard !name.contains("goodbye") else { continue }
            behaviours += make("\(name) before the response", lost) { _ in ending }
        }
        return behaviours
    }

    private static var floods: [Behaviour] {
        let eight = [UInt8](repeating: 7, count: 8)
        let kinds: [(String, [UInt8], [UInt8])] = [
            ("windows", [], HTTP2.frame(8, 0, 0, HTTP2.number(1))),
            ("windows of the stream", [], HTTP2.frame(8, 0, 3, HTTP2.number(1))),
            ("priorities", [], HTTP2.frame(2, 0, 99, [0, 0, 0, 0, 1])),
            ("pings", [], HTTP2.frame(6, 0, 0, eight)), ("settings", [], HTTP2.frame(4)),
            ("unknown frames", [], HTTP2.frame(0xEE, 0, 0, eight)),
            ("hints", [], HTTP2.frame(1, 4, 3, HTTP2.field(":status", "103"))),
            ("empty parts", HTTP2.head(3), HTTP2.frame(0, 0, 3)),
            ("parts of a head", HTTP2.head(3, flags: 0), HTTP2.frame(9, 0, 3, HTTP2.field("x", "y"))),
        ]
        return kinds.flatMap { name, start, part in
            make(
                "\(name) without end", fails, hasHead: name == "empty parts", idle: 1,
                isLong: !["windows", "priorities", "pings", "empty parts"].contains(name)
            ) { _ in [FrameScript.write(start), FrameScript.flood(part)] }
            // It is met over a connection that is there.
            .filter { $0.frames?.nth == 2 }
        }
    }
}
