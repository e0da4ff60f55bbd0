import Foundation
import Testing

@testable import AtomNetworking

@Suite("The rules of the cache", .limited)
struct CachePolicyTests {
    /// The columns of the tables of decisions.
    private static let uses: [ResponseCaching] = [
        .revalidatingWithService, .whileCacheFresh, .whileCacheFresh(staleWhileRevalidate: .seconds(60)), .onlyIfCached,
        .onlyIfCached(maxStale: .seconds(60)),
    ]
    /// The letters of a column: fresh, stale for 30 seconds, and for 90.
    private static let ages: [Double] = [30, 90, 150]

    private static func policy(
        _ caching: ResponseCaching = .whileCacheFresh, method: String = "GET", _ lines: String...
    ) -> CachePolicy { CachePolicy(caching, method: method, headerFields: HeaderFields(lines: lines)) }

    /// Use, use what is stale, use it and ask behind the caller's back, validate, ask, refuse.
    private static func letter(_ decision: CachePolicy.Decision) -> String {
        switch decision {
        case .use(isStale: false, revalidates: false): "u"
        case .use(isStale: true, revalidates: false): "s"
        case .use(isStale: true, revalidates: true): "b"
        case .use: "?"
        case .revalidate: "v"
        case .ask: "a"
        case .refuse: "r"
        }
    }

    private static func row(_ stored: StoredResponse, method: String = "GET", _ lines: [String] = []) -> String {
        uses.map { use in
            let policy = CachePolicy(use, method: method, headerFields: HeaderFields(lines: lines))
            return ages.map { letter(policy.decision(on: stored, at: .later($0))) }.joined()
        }.joined(separator: " ")
    }

    /// The row without a way to validate.
    private static func asking(_ row: String) -> String { row.replacingOccurrences(of: "v", with: "a") }

    @Test(
        "What a response says decides, for each use, fresh and stale",
        arguments: [
            ("", "vvv uvv ubv urr usr"),
            ("must-revalidate", "vvv uvv uvv urr urr"),
            ("Must-Revalidate=1", "vvv uvv uvv urr urr"),
            ("no-cache", "vvv vvv vvv rrr rrr"),
            (#"no-cache="x""#, "vvv vvv vvv rrr rrr"),
            ("stale-while-revalidate=60", "vvv ubv ubv urr usr"),
            // The endpoint's 60 seconds take the place of what the response says.
            ("stale-while-revalidate=100", "vvv ubb ubv urr usr"),
            ("stale-while-revalidate=60, must-revalidate", "vvv uvv uvv urr urr"),
            ("stale-while-revalidate=60, no-cache", "vvv vvv vvv rrr rrr"),
            ("stale-while-revalidate=x", "vvv uvv ubv urr usr"),
            ("stale-if-error=100", "vvv uvv ubv urr usr"),
            ("immutable", "vvv uvv ubv urr usr"),
            ("public", "vvv uvv ubv urr usr"),
            ("private", "vvv uvv ubv urr usr"),
            (#"private="x""#, "vvv uvv ubv urr usr"),
            ("s-maxage=1000", "vvv uvv ubv urr usr"),
            ("proxy-revalidate", "vvv uvv ubv urr usr"),
            ("no-transform, x=y", "vvv uvv ubv urr usr"),
        ])
    func responses(directive: String, row: String) {
        let fields = ["Cache-Control: max-age=60", "Cache-Control: \(directive)"]
        let stored = StoredResponse.sample(fields + [#"ETag: "a""#])
        #expect(Self.row(stored) == row)
        #expect(Self.row(stored, method: "HEAD") == Self.asking(row))
        #expect(Self.row(.sample(fields)) == Self.asking(row))
    }

    @Test(
        "What a request says is added, for each use, fresh and stale",
        arguments: [
            ("Accept: */*", "vvv uvv ubv urr usr"),
            ("Cache-Control: x", "vvv uvv ubv urr usr"),
            ("Cache-Control: no-cache", "vvv vvv vvv rrr rrr"),
            ("Pragma: no-cache", "vvv vvv vvv rrr rrr"),
            ("Pragma: x, NO-CACHE", "vvv vvv vvv rrr rrr"),
            ("Pragma: max-stale", "vvv uvv ubv urr usr"),
            ("Cache-Control: max-age=0", "vvv vvv vvv rrr rrr"),
            ("Cache-Control: max-age=30", "vvv vvv vvv rrr rrr"),
            ("Cache-Control: max-age=31", "vvv uvv uvv urr urr"),
            ("Cache-Control: max-age=100", "vvv uvv uvv urr urr"),
            ("Cache-Control: max-age=x", "vvv vvv vvv rrr rrr"),
            ("Cache-Control: max-age=100, max-stale", "vvv usv ubv usr usr"),
            ("Cache-Control: max-stale", "vvv uss ubs uss uss"),
            ("Cache-Control: max-stale=29", "vvv uvv ubv urr usr"),
            ("Cache-Control: max-stale=30", "vvv usv ubv usr usr"),
            ("Cache-Control: max-stale=90", "vvv uss ubs uss uss"),
            ("Cache-Control: max-stale=x", "vvv uvv ubv urr usr"),
            ("Cache-Control: min-fresh=30", "vvv uvv uvv urr urr"),
            ("Cache-Control: min-fresh=31", "vvv vvv vvv rrr rrr"),
            ("Cache-Control: min-fresh=x", "vvv vvv vvv rrr rrr"),
            ("Cache-Control: min-fresh=1, max-stale", "vvv uvv uvv urr urr"),
            ("Cache-Control: only-if-cached", "rrr urr urr urr usr"),
            ("Cache-Control: only-if-cached, max-stale", "rrr uss uss uss uss"),
            ("Cache-Control: only-if-cached, no-cache", "rrr rrr rrr rrr rrr"),
            ("Cache-Control: no-store", "aaa aaa aaa rrr rrr"),
            ("Range: bytes=0-", "aaa aaa aaa rrr rrr"),
        ])
    func requests(line: String, row: String) {
        let stored = StoredResponse.sample("Cache-Control: max-age=60", #"ETag: "a""#)
        #expect(Self.row(stored, [line]) == row)
        #expect(Self.row(stored, method: "HEAD", [line]) == Self.asking(row))
        #expect(Self.row(.sample("Cache-Control: max-age=60"), [line]) == Self.asking(row))
    }

    @Test("Pragma counts only without Cache-Control (RFC 9111 §5.4)")
    func pragma() {
        let stored = StoredResponse.sample("Cache-Control: max-age=60")
        let policy = Self.policy(.whileCacheFresh, "Pragma: no-cache", "Cache-Control: max-stale")
        #expect(policy.decision(on: stored, at: .later(1)) == .use(isStale: false, revalidates: false))
    }

    @Test("Without a kept response the server is asked, or the request is refused")
    func nothingKept() {
        for method in ["GET", "HEAD"] {
            #expect(
                Self.uses.map { Self.letter(Self.policy($0, method: method).decision(on: nil, at: .later(0))) }
                    .joined() == "aaarr")
            let policy = Self.policy(.whileCacheFresh, method: method, "Cache-Control: only-if-cached")
            #expect(policy.decision(on: nil, at: .later(0)) == .refuse)
        }
    }

    @Test("A response is fresh up to its last second, and not in it")
    func edge() {
        let stored = StoredResponse.sample("Cache-Control: max-age=60, stale-while-revalidate=10")
        func letter(_ seconds: Double) -> String {
            Self.letter(Self.policy().decision(on: stored, at: .later(seconds)))
        }
        #expect([59.999, 60, 70, 70.001].map(letter) == ["u", "b", "b", "a"])
    }

    @Test("An old error isn't used when it is stale, and isn't asked about")
    func errors() {
        let stored = StoredResponse.sample(
            "Cache-Control: max-age=60, stale-while-revalidate=900, stale-if-error=900", #"ETag: "a""#, status: 404)
        #expect(Self.row(stored) == "aaa uaa uaa urr urr")
        #expect(Self.policy().usesStale(stored, insteadOf: nil, at: .later(30)))
        #expect(!Self.policy().usesStale(stored, insteadOf: nil, at: .later(90)))
        let caching = ResponseCaching.revalidatingWithService(
            staleIfError: .seconds(900), ignoringMustRevalidate: true)
        #expect(!Self.policy(caching).usesStale(stored, insteadOf: nil, at: .later(90)))
    }

    // MARK: Off

    @Test("The cache is off without a use, for other methods, and for parts and conditions of the app's")
    func off() {
        for use in Self.uses {
            #expect(!Self.policy(use).isOff && !Self.policy(use, method: "HEAD").isOff)
            for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "get", ""] {
                #expect(Self.policy(use, method: method).isOff, "\(method)")
            }
        }
        #expect(Self.policy(.disabled).isOff)
        #expect(Self.policy(.disabled, "Cache-Control: only-if-cached").isOff)
        #expect(!Self.policy(.whileCacheFresh, "Cache-Control: no-cache, max-age=0", "Authorization: x").isOff)
    }

    @Test(
        "A request for a part, with conditions, or with no-store has nothing to do with the cache",
        arguments: [
            "Range: bytes=0-1", "range: bytes=0-1", "If-Range: \"a\"", "If-Match: *", "If-None-Match: \"a\"",
            "If-Modified-Since: x", "If-Unmodified-Since: x", "Cache-Control: x, No-Store",
        ])
    func offByField(line: String) {
        let stored = StoredResponse.sample("Cache-Control: max-age=60, stale-if-error=60")
        for use in Self.uses {
            let policy = Self.policy(use, line)
            let isOnlyKept = use == .onlyIfCached || use == .onlyIfCached(maxStale: .seconds(60))
            // Nothing is ever sent, whatever the request is.
            #expect(policy.isOff == !isOnlyKept)
            #expect(policy.decision(on: stored, at: .later(1)) == (isOnlyKept ? .refuse : .ask))
            #expect(!policy.usesStale(stored, insteadOf: nil, at: .later(1)))
            #expect(!policy.keeps(200, stored.headerFields, receivedAt: StoredResponse.arrival))
        }
    }

    // MARK: Errors

    @Test(
        "What is stale is used after a failure for as long as the endpoint or the response says",
        arguments: [
            ("", "nnn yyn yyn yyn nnn"),
            ("stale-if-error=100", "yyy yyn yyn yyn nnn"),
            ("stale-if-error=x", "nnn yyn yyn yyn nnn"),
            ("must-revalidate", "nnn ynn yyn ynn nnn"),
            ("must-revalidate, stale-if-error=100", "ynn ynn yyn ynn nnn"),
            ("no-cache", "nnn nnn yyn nnn nnn"),
            (#"no-cache="x", stale-if-error=100"#, "nnn nnn yyn nnn nnn"),
            ("stale-while-revalidate=100", "nnn yyn yyn yyn nnn"),
        ])
    func afterFailure(directive: String, row: String) {
        let minute = Duration.seconds(60)
        let uses: [ResponseCaching] = [
            .revalidatingWithService, .revalidatingWithService(staleIfError: minute),
            .revalidatingWithService(staleIfError: minute, ignoringMustRevalidate: true),
            .whileCacheFresh(staleIfError: minute), .onlyIfCached(maxStale: minute),
        ]
        let stored = StoredResponse.sample("Cache-Control: max-age=60", "Cache-Control: \(directive)")
        for statusCode in [nil, 500, 502, 503, 504] {
            let found = uses.map { use in
                Self.ages.map {
                    Self.policy(use).usesStale(stored, insteadOf: statusCode, at: .later($0)) ? "y" : "n"
                }.joined()
            }
            #expect(found.joined(separator: " ") == row)
        }
    }

    @Test("No other status is a failure")
    func otherStatus() {
        let policy = Self.policy(.revalidatingWithService(staleIfError: .seconds(60)))
        let stored = StoredResponse.sample("Cache-Control: max-age=60")
        let used = (100...999).filter { policy.usesStale(stored, insteadOf: $0, at: .later(90)) }
        #expect(used == [500, 502, 503, 504])
    }

    @Test("After a failure a request may allow more, and one that wants the server's word gets nothing else")
    func wishesAfterFailure() {
        let stored = StoredResponse.sample("Cache-Control: max-age=60")
        #expect(
            Self.policy(.whileCacheFresh, "Cache-Control: stale-if-error=90")
                .usesStale(stored, insteadOf: nil, at: .later(150)))
        let caching = ResponseCaching.revalidatingWithService(staleIfError: .seconds(60))
        #expect(Self.policy(caching, "Cache-Control: max-age=0").usesStale(stored, insteadOf: nil, at: .later(90)))
        #expect(!Self.policy(caching, "Cache-Control: no-cache").usesStale(stored, insteadOf: nil, at: .later(1)))
        #expect(!Self.policy(caching, "Pragma: no-cache").usesStale(stored, insteadOf: nil, at: .later(1)))
        #expect(!Self.policy(caching, "Cache-Control: only-if-cached").usesStale(stored, insteadOf: nil, at: .later(1)))
    }

    @Test("A clock that went back makes a response of another process one that must be validated")
    func clockBack() {
        var stored = StoredResponse.sample("Cache-Control: max-age=60, stale-if-error=900", #"ETag: "a""#)
        let policy = Self.policy(.whileCacheFresh(staleWhileRevalidate: .seconds(900)))
        #expect(Self.letter(policy.decision(on: stored, at: .later(1))) == "u")
        stored.receivedInstant = nil
        #expect(Self.letter(policy.decision(on: stored, at: .later(0))) == "u")
        #expect(Self.letter(policy.decision(on: stored, at: .later(-1))) == "v")
        #expect(!policy.usesStale(stored, insteadOf: nil, at: .later(-1)))
        let onlyKept = Self.policy(.onlyIfCached(maxStale: .seconds(900)), "Cache-Control: max-stale")
        #expect(onlyKept.decision(on: stored, at: .later(-1)) == .refuse)
    }

    @Test("Heuristics count only if they are asked for")
    func heuristics() {
        let stored = StoredResponse.sample(
            "Date: Mon, 23 Nov 2026 10:00:00 GMT", "Last-Modified: Mon, 23 Nov 2026 09:50:00 GMT")
        func letter(_ caching: ResponseCaching, _ seconds: Double) -> String {
            Self.letter(Self.policy(caching).decision(on: stored, at: .later(seconds)))
        }
        #expect(letter(.whileCacheFresh, 1) == "v")
        #expect(letter(.whileCacheFresh(usingHeuristics: true), 59) == "u")
        #expect(letter(.whileCacheFresh(usingHeuristics: true), 61) == "v")
    }

    // MARK: What is kept

    private static func keeps(
        _ lines: String..., status: Int = 200, for caching: ResponseCaching = .whileCacheFresh, method: String = "GET"
    ) -> Bool {
        policy(caching, method: method)
            .keeps(status, HeaderFields(lines: lines), receivedAt: StoredResponse.arrival)
    }

    @Test("What says how long it is fresh is kept for each status that says something about the resource")
    func understood() {
        let kept = (100...999).filter { Self.keeps("Cache-Control: max-age=60", status: $0) }
        #expect(
            kept == [
                200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 406, 410, 414, 451, 500, 501, 502, 503,
                504,
            ])
        for use in Self.uses { #expect(Self.keeps("Cache-Control: max-age=60", for: use)) }
        #expect(!Self.keeps("Cache-Control: max-age=60", for: .disabled))
        #expect(!Self.keeps("Cache-Control: max-age=60", method: "HEAD"))
        #expect(!Self.keeps("Cache-Control: max-age=60", method: "POST"))
        #expect(
            !Self.policy(.whileCacheFresh, "Cache-Control: no-store")
                .keeps(200, HeaderFields(lines: ["Cache-Control: max-age=60"]), receivedAt: StoredResponse.arrival))
    }

    @Test("A validator is reason enough for a success, and for nothing else")
    func validators() {
        for line in [#"ETag: "a""#, #"ETag: W/"a""#, "Last-Modified: Mon, 23 Nov 2026 09:00:00 GMT"] {
            #expect((100...999).filter { Self.keeps(line, status: $0) } == [200, 203, 204], "\(line)")
            #expect(Self.keeps(line, "Cache-Control: no-cache"))
            #expect(Self.keeps(line, "Cache-Control: max-age=0, must-revalidate", for: .revalidatingWithService))
        }
    }

    @Test("What can be used only when the server can't be asked is kept for who does that")
    func forFailures() {
        let caching = ResponseCaching.revalidatingWithService(staleIfError: .seconds(60))
        let ignoring = ResponseCaching.revalidatingWithService(
            staleIfError: .seconds(60), ignoringMustRevalidate: true)
        #expect(!Self.keeps() && !Self.keeps(for: .revalidatingWithService))
        #expect((100...999).filter { Self.keeps(status: $0, for: caching) } == [200, 203, 204, 300, 301, 308])
        #expect(!Self.keeps(for: .revalidatingWithService(staleIfError: .zero)))
        for directive in ["must-revalidate", "no-cache", "max-age=60, no-cache"] {
            #expect(!Self.keeps("Cache-Control: \(directive)", for: caching), "\(directive)")
            #expect(Self.keeps("Cache-Control: \(directive)", for: ignoring), "\(directive)")
        }
        #expect(Self.keeps("Cache-Control: stale-if-error=60"))
        #expect(Self.keeps("Cache-Control: stale-while-revalidate=60"))
        #expect(!Self.keeps("Cache-Control: stale-while-revalidate=60", for: .revalidatingWithService))
        #expect(Self.keeps(for: .whileCacheFresh(staleWhileRevalidate: .seconds(60))))
        #expect(
            Self.policy(.whileCacheFresh(staleWhileRevalidate: .zero), "Cache-Control: max-stale")
                .keeps(200, HeaderFields(), receivedAt: StoredResponse.arrival))
    }

    @Test(
        "What can never be used isn't kept",
        arguments: [
            "Cache-Control: max-age=0", "Cache-Control: max-age=x", "Expires: 0", "X: y", "Cache-Control: private",
            "Expires: Mon, 23 Nov 2026 10:00:00 GMT", "Cache-Control: s-maxage=60", "Cache-Control: immutable",
            "ETag: *", #"ETag: "a", "b""#, "ETag: ", "Last-Modified: yesterday", "Cache-Control: max-age=60, no-cache",
        ])
    func useless(line: String) { #expect(!Self.keeps(line)) }

    @Test("What was old already isn't fresh")
    func oldOnArrival() {
        #expect(!Self.keeps("Cache-Control: max-age=60", "Age: 60"))
        #expect(Self.keeps("Cache-Control: max-age=60", "Age: 59"))
        #expect(Self.keeps("Expires: Mon, 23 Nov 2026 10:00:01 GMT"))
    }

    @Test("no-store forbids, unless it is for those who don't understand the status (RFC 9111 §5.2.2.3)")
    func noStore() {
        #expect(!Self.keeps("Cache-Control: max-age=60, no-store"))
        #expect(!Self.keeps("Cache-Control: max-age=60", "Cache-Control: No-Store=x", #"ETag: "a""#))
        #expect(Self.keeps("Cache-Control: max-age=60, no-store, must-understand"))
        #expect(!Self.keeps("Cache-Control: max-age=60, no-store, must-understand=no"))
        for status in [299, 499, 599, 206, 401] {
            #expect(!Self.keeps("Cache-Control: max-age=60, no-store, must-understand", status: status))
            #expect(!Self.keeps("Cache-Control: max-age=60, must-understand", status: status))
        }
    }

    @Test("What no other request is alike to isn't kept")
    func varyingByAll() {
        #expect(!Self.keeps("Cache-Control: max-age=60", "Vary: *"))
        #expect(Self.keeps("Cache-Control: max-age=60", "Vary: Accept"))
    }
}
