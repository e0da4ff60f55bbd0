import Foundation
import Testing

@testable import AtomNetworking

@Suite("A response that a cache keeps", .limited)
struct StoredResponseTests {
    // MARK: Age

    @Test(
        "Age is the first number in the field; what is none doesn't count (RFC 9111 §5.1)",
        arguments: [
            ("5", 5), ("005", 5), ("5, 7", 5), ("0, 7", 0), (" 5 ,x", 5), ("", 0), ("-5", 0), ("5.0", 0), ("5;x=1", 0),
            ("x", 0), (", 5", 5), ("2147483649", 2_147_483_648), ("99999999999999999999", 2_147_483_648),
        ] as [(String, Int64)])
    func ageField(value: String, seconds: Int64) {
        let stored = StoredResponse.sample("Age: \(value)", "Age: 1000")
        #expect(stored.age(at: .later(0)) == .seconds(seconds))
        #expect(stored.age(at: .later(2.5)) == .seconds(seconds) + .milliseconds(2_500))
    }

    @Test("The time that the response took counts, and a clock that is set meanwhile doesn't count back")
    func delay() {
        var stored = StoredResponse.sample("Age: 5")
        stored.requestedAt = StoredResponse.arrival.addingTimeInterval(-3)
        #expect(stored.age(at: .later(1)) == .seconds(9))
        stored.requestedAt = StoredResponse.arrival.addingTimeInterval(3)
        #expect(stored.age(at: .later(1)) == .seconds(6))
        stored.requestedAt = .distantPast
        #expect(stored.age(at: .later(1)) > .seconds(86_400))
    }

    @Test("In its own process a response ages by the clock that is never set, and in another one by the wall clock")
    func clocks() {
        var stored = StoredResponse.sample("Cache-Control: max-age=60")
        let reset = Moment(instant: Moment.later(5).instant, date: StoredResponse.arrival.addingTimeInterval(-86_400))
        #expect(stored.age(at: reset) == .seconds(5) && stored.knownAge(at: reset) == .seconds(5))
        stored.receivedInstant = nil
        #expect(stored.knownAge(at: reset) == nil && stored.age(at: reset) == .zero)
        // Instants of another process mean nothing.
        let other = Moment(instant: MonotonicInstant(nanoseconds: 1), date: Moment.later(5).date)
        #expect(stored.knownAge(at: other) == .seconds(5))
        #expect(stored.knownAge(at: Moment(instant: other.instant, date: .distantFuture)) == .seconds(2_147_483_648))
    }

    @Test("A device's wrong clock makes nothing older or fresher")
    func wrongClock() {
        for wrong in [-40_000_000.0, -3_600, 3_600, 40_000_000] {
            for line in ["Cache-Control: max-age=60", "Expires: Mon, 23 Nov 2026 10:01:00 GMT"] {
                var stored = StoredResponse.sample(line, "Date: Mon, 23 Nov 2026 10:00:00 GMT")
                stored.receivedAt += wrong
                stored.requestedAt += wrong
                #expect(stored.age(at: .later(30)) == .seconds(30), "\(wrong)")
                #expect(stored.lifetime() == .seconds(60), "\(wrong)")
            }
        }
    }

    // MARK: Freshness

    private static let date = "Date: Mon, 23 Nov 2026 10:00:00 GMT"

    @Test(
        "How long a response is fresh is what it says, and nothing if that is invalid (RFC 9111 §4.2.1)",
        arguments: [
            (["Cache-Control: max-age=60"], 60),
            (["Cache-Control: max-age=60", "Expires: 0"], 60),
            (["Cache-Control: max-age=0", "Expires: Mon, 23 Nov 2026 11:00:00 GMT"], 0),
            (["Cache-Control: max-age=x", "Expires: Mon, 23 Nov 2026 11:00:00 GMT"], 0),
            (["Cache-Control: max-age=60, max-age=61"], 0),
            (["Cache-Control: s-maxage=60"], 0),
            (["Expires: Mon, 23 Nov 2026 11:00:00 GMT", date], 3_600),
            (["Expires: Mon, 23 Nov 2026 11:00:00 GMT"], 3_600),
            (["Expires: Mon, 23 Nov 2026 11:00:00 GMT", "Date: x"], 3_600),
            (["Expires: Mon, 23 Nov 2026 11:00:00 GMT", "Date: Mon, 23 Nov 2026 10:59:00 GMT"], 60),
            (["Expires: Mon, 23 Nov 2026 09:00:00 GMT", date], 0),
            (["Expires: Mon, 23 Nov 2026 11:00:00 GMT", "Expires: Mon, 23 Nov 2026 11:00:00 GMT", date], 0),
            (["Expires: Mon, 23 Nov 2026 11:00:00 GMT, Mon, 23 Nov 2026 11:00:00 GMT", date], 0),
            (["Expires: Monday, 23-Nov-26 11:00:00 GMT", date], 3_600),
            (["Expires: Mon Nov 23 11:00:00 2026", date], 3_600),
            (["Expires: Sun, 31 Dec 9999 23:59:59 GMT", date], 2_147_483_648),
            (["Expires: 0", date], 0), (["Expires: -1"], 0), (["Expires:"], 0), (["Expires: 3600"], 0),
            (["Expires: Thu, 18 Aug 2050 02:01:18 UTC"], 0), (["Expires: Thu, 18 Aug 2050 02:01:18 AEST"], 0),
            (["Expires: Thu, 18 Aug 50 02:01:18 GMT"], 0), (["Expires: Thu 18 Aug 2050 02:01:18 GMT"], 0),
            (["Expires: Thu, 18  Aug  2050 02:01:18 GMT"], 0), (["Expires: Thu, 18-Aug-2050 02:01:18 GMT"], 0),
            (["Expires: Thu, 18 Aug 2050 02.01.18 GMT"], 0), (["Expires: Thu, 18 Aug 2050 2:01:18 GMT"], 0),
            ([], 0), (["Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", date], 0),
        ] as [([String], Int64)])
    func lifetimes(lines: [String], seconds: Int64) {
        #expect(StoredResponse.sample(lines).lifetime() == .seconds(seconds))
    }

    @Test("A heuristic is a tenth of the time since the last change, at most a day (RFC 9111 §4.2.2)")
    func heuristics() {
        func seconds(_ lines: String..., status: Int = 200) -> Duration {
            StoredResponse.sample(lines, status: status).lifetime(usesHeuristics: true)
        }
        let modified = "Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT"
        #expect(seconds(modified, Self.date) == .seconds(360))
        #expect(seconds(modified) == .seconds(360))
        #expect(seconds("Last-Modified: Fri, 23 Nov 2001 09:00:00 GMT") == .seconds(86_400))
        #expect(seconds("Last-Modified: Mon, 23 Nov 2026 11:00:00 GMT") == .zero)
        #expect(seconds("Last-Modified: x") == .zero && seconds() == .zero)
        #expect(seconds(modified, "Cache-Control: max-age=1") == .seconds(1))
        #expect(seconds(modified, "Cache-Control: max-age=x") == .zero)
        #expect(seconds(modified, "Expires: 0") == .zero)
        let heuristic = (100...999).filter { seconds(modified, status: $0) > .zero }
        #expect(heuristic == [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
    }

    // MARK: Validation

    @Test(
        "The server is asked by each validator that can be sent back (RFC 9110 §13.1)",
        arguments: [
            ([#"ETag: "a""#], [#"If-None-Match: "a""#]), ([#"ETag: W/"a, b""#], [#"If-None-Match: W/"a, b""#]),
            ([#"ETag: """#], [#"If-None-Match: """#]), (["ETag: a1-2=="], ["If-None-Match: a1-2=="]),
            (["ETag: \"é\""], ["If-None-Match: \"é\""]),
            (
                ["Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", #"etag: "a""#],
                [#"If-None-Match: "a""#, "If-Modified-Since: Mon, 23 Nov 2026 09:00:00 GMT"]
            ),
            (["Last-Modified: Monday, 23-Nov-26 09:00:00 GMT"], ["If-Modified-Since: Monday, 23-Nov-26 09:00:00 GMT"]),
            (["ETag: *"], []), (["ETag: W/*"], []), (["ETag: "], []), ([#"ETag: ""#], []), (["ETag: W/"], []),
            ([#"ETag: "a", "b""#], []), (["ETag: a, b"], []), (["ETag: \"a\u{7F}\""], []), (["ETag: \"a\u{A}\""], []),
            ([#"ETag: "a""#, #"ETag: "b""#], []), (["Last-Modified: 2026-11-23"], []), ([], []),
        ] as [([String], [String])])
    func conditions(lines: [String], conditions: [String]) {
        let expected = Array(HeaderFields(lines: conditions))
        #expect(StoredResponse.sample(lines).conditions == expected)
        #expect(StoredResponse.sample(lines, status: 404).conditions.isEmpty)
        let policy = CachePolicy(.revalidatingWithService, method: "GET", headerFields: HeaderFields())
        let decision = policy.decision(on: .sample(lines), at: .later(0))
        #expect(decision == (expected.isEmpty ? .ask : .revalidate(expected)))
    }

    private static func freshened(
        _ stored: StoredResponse, _ lines: [String], method: String = "GET"
    ) -> StoredResponse? {
        stored.freshened(
            by: HeaderFields(lines: lines), method: method, requestedAt: Moment.later(100).date, receivedAt: .later(101)
        )
    }

    @Test("A 304 replaces the fields that it has, and not those that describe the body (RFC 9111 §3.2)")
    func freshening() throws {
        var stored = StoredResponse.sample(
            #"ETag: "a""#, "Cache-Control: max-age=60", "cache-control: must-revalidate", "Content-Type: text/plain",
            "Content-Length: 2", "X-Old: 1", "X-New: 1", "Age: 7", Self.date, "Content-Language: de")
        stored.varying = [HeaderItem(name: "accept", value: "x")]
        let fresh = try #require(
            Self.freshened(
                stored,
                [
                    #"ETag: "a""#, "CACHE-CONTROL: max-age=5", "Content-Type: text/html", "Content-Length: 0",
                    "Content-Encoding: gzip", "Content-Range: bytes 0-1/2", "x-new: 2", "X-New: 3", "Set-Cookie: a=b",
                    "Connection: X-Hop", "X-Hop: 1", "Content-Language: en",
                ]))
        #expect(
            Array(fresh.headerFields)
                == Array(
                    HeaderFields(lines: [
                        "Content-Type: text/plain", "Content-Length: 2", "X-Old: 1", #"ETag: "a""#,
                        "CACHE-CONTROL: max-age=5", "x-new: 2", "X-New: 3", "Content-Language: en",
                    ])))
        // The age and the date were those of the old response.
        #expect(fresh.age(at: .later(103)) == .seconds(3))
        #expect(fresh.requestedAt == Moment.later(100).date && fresh.receivedAt == Moment.later(101).date)
        #expect(fresh.receivedInstant == Moment.later(101).instant)
        #expect(fresh.body == stored.body && fresh.statusCode == 200 && fresh.address == stored.address)
        #expect(fresh.varying == stored.varying)
        let dated = try #require(Self.freshened(stored, ["Age: 4", "Date: Mon, 23 Nov 2026 10:02:00 GMT"]))
        #expect(dated.age(at: .later(101)) == .seconds(5))
        #expect(dated.headerFields.values(for: "Date") == ["Mon, 23 Nov 2026 10:02:00 GMT"])
    }

    @Test(
        "A 304 of another representation freshens nothing (RFC 9111 §4.3.4)",
        arguments: [
            // Of what is kept, of the 304; whether they are of one, by a 304 and by HEAD (`=`: nothing changes).
            (#"ETag: "a""#, #"ETag: "a""#, "y", "y"), (#"ETag: "a""#, #"ETag: "b""#, "n", "n"),
            (#"ETag: W/"a""#, #"ETag: "a""#, "y", "y"), (#"ETag: "a""#, #"ETag: W/"a""#, "y", "y"),
            (#"ETag: "a""#, #"ETag: W/"b""#, "n", "n"), (#"ETag: "a""#, #"ETag: "A""#, "n", "n"),
            ("ETag: \"\u{E9}\"", "ETag: \"e\u{301}\"", "n", "n"),
            ("X: y", #"ETag: "a""#, "n", "n"), (#"ETag: "a""#, "X: y", "y", "="), ("X: y", "X: z", "y", "="),
            ("Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", "Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", "y", "y"),
            ("Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", "Last-Modified: Mon Nov 23 09:00:00 2026", "y", "y"),
            ("Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", "Last-Modified: Mon, 23 Nov 2026 09:00:01 GMT", "n", "n"),
            ("Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", "Last-Modified: x", "n", "n"),
            (#"ETag: "a""#, "Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", "n", "n"),
            ("Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", #"ETag: "a""#, "n", "n"),
            ("Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT", "X: y", "y", "="),
            ("Content-Length: 2", "Content-Length: 3", "y", "n"), ("Content-Length: 2", "Content-Length: 2", "y", "="),
            ("X: y", "Content-Length: 3", "y", "="),
        ])
    func representations(own: String, new: String, confirmed: String, byHead: String) {
        let stored = StoredResponse.sample("Cache-Control: max-age=60", own)
        for (method, expected) in [("GET", confirmed), ("HEAD", byHead)] {
            let found = Self.freshened(stored, [new, "Cache-Control: max-age=90"], method: method)
            switch expected {
            case "n": #expect(found == nil, "\(method)")
            case "y": #expect(found?.lifetime() == .seconds(90), "\(method)")
            default: #expect(found == stored, "\(method)")
            }
        }
    }

    @Test("A tag counts more than a date, and a length more than a tag for HEAD")
    func several() {
        let modified = "Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT"
        let later = "Last-Modified: Mon, 23 Nov 2026 09:30:00 GMT"
        let stored = StoredResponse.sample(#"ETag: "a""#, modified, "Content-Length: 2")
        #expect(Self.freshened(stored, [#"ETag: "a""#, later]) != nil)
        #expect(Self.freshened(stored, [#"ETag: "b""#, modified]) == nil)
        #expect(Self.freshened(stored, [later]) == nil)
        #expect(Self.freshened(stored, [#"ETag: "a""#, "Content-Length: 3"], method: "HEAD") == nil)
        // Many servers send a length of 0 with a 304.
        #expect(Self.freshened(stored, [#"ETag: "a""#, "Content-Length: 0"]) != nil)
        // A tag that the kept response has not may be that of another one.
        #expect(Self.freshened(.sample(modified), [#"ETag: "b""#, modified]) == nil)
    }

    @Test("A 304 that varies by more freshens nothing: what the request had there isn't known")
    func varying() {
        let stored = StoredResponse.sample(#"ETag: "a""#, "Vary: Accept, Origin")
        #expect(Self.freshened(stored, ["Vary: origin, accept"]) != nil)
        #expect(Self.freshened(stored, ["Vary: accept"]) != nil)
        #expect(Self.freshened(stored, ["X: y"]) != nil)
        for other in ["Accept-Language", "accept, origin, x", "*", "a b"] {
            #expect(Self.freshened(stored, ["Vary: \(other)"]) == nil, "\(other)")
        }
        #expect(Self.freshened(.sample(#"ETag: "a""#), ["Vary: Accept"]) == nil)
    }
}
