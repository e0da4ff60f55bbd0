import Foundation
import Testing

@testable import AtomNetworking

@Suite("Fields that a cache reads and keeps", .limited)
struct CachedFieldsTests {
    @Test(
        "The names in Vary are in lower case and in order, each once",
        arguments: [
            ([], []), ([""], []), ([" , ,"], []), (["Accept"], ["accept"]),
            (["b, A", "c,\tB ,"], ["a", "b", "c"]), (["Accept-Encoding,accept-encoding"], ["accept-encoding"]),
            (["x!#$%&'+-.^_`|~"], ["x!#$%&'+-.^_`|~"]),
        ] as [([String], [String])])
    func varying(values: [String], names: [String]) {
        #expect(CachePolicy.varying(HeaderFields(values.map { HeaderItem(name: "vary", value: $0) })) == names)
    }

    @Test(
        "Nothing is alike if Vary says so, or can't be read",
        arguments: [
            ["*"], ["*, *"], [", *"], ["", "*"], ["a, *"], ["*, a"], ["a b"], ["a;b"], ["\"a\""], ["a=b"], ["é"],
            ["a\u{0}"], ["a", "b c"],
        ])
    func alone(values: [String]) {
        #expect(CachePolicy.varying(HeaderFields(values.map { HeaderItem(name: "Vary", value: $0) })) == nil)
    }

    @Test("What belongs to a connection isn't kept, nor are cookies (RFC 9111 §3.1)")
    func kept() {
        let fields = HeaderFields(lines: [
            "Content-Type: text/plain", "connection: close, X-One", "Connection: ,x-two", "X-ONE: 1", "X-Two: 2",
            "X-Three: 3", "Keep-Alive: x", "Proxy-Authenticate: x", "Proxy-Connection: x", "proxy-anything: x", "TE: x",
            "Trailer: x", "Transfer-Encoding: chunked", "Upgrade: x", "Set-Cookie: a=b", "set-cookie: c=d",
            "Set-Cookie2: a=b", "ETag: \"a\"", "X-Three: 4",
        ])
        #expect(
            Array(CachePolicy.kept(fields))
                == Array(
                    HeaderFields(lines: ["Content-Type: text/plain", "X-Three: 3", "ETag: \"a\"", "X-Three: 4"])))
    }

    @Test("A server can't take away what says how a response may be used")
    func listed() {
        let lines = ["Cache-Control: must-revalidate", "Vary: Accept", "Age: 5", "Expires: 0", "Date: x"]
        let fields = HeaderFields(lines: lines + ["Connection: cache-control, vary, age, expires, date"])
        #expect(CachePolicy.kept(fields) == HeaderFields(lines: lines))
    }

    // MARK: Invalidation

    private static let target = TargetURL.resolving("https://air.example/flights/1?x=y", against: nil)

    private static func invalidated(_ method: String, _ status: Int?, _ lines: String...) throws -> [String] {
        let target = try #require(Self.target)
        let head = status.map { (statusCode: $0, headerFields: HeaderFields(lines: lines)) }
        return CachePolicy.invalidated(by: method, to: target, head).map(\.absoluteString)
    }

    @Test("A request that may have changed something invalidates its URL, unless it failed (RFC 9111 §4.4)")
    func methods() throws {
        let own = ["https://air.example/flights/1?x=y"]
        for method in ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "get", ""] {
            #expect(try Self.invalidated(method, nil) == own, "\(method)")
            for status in [200, 204, 299, 301, 303, 399] {
                #expect(try Self.invalidated(method, status) == own, "\(method) \(status)")
            }
            for status in [100, 199, 400, 404, 500, 503, 599, 600] {
                #expect(try Self.invalidated(method, status) == [], "\(method) \(status)")
            }
        }
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"] {
            #expect(try Self.invalidated(method, nil) == [], "\(method)")
            #expect(try Self.invalidated(method, 200, "Location: /x") == [], "\(method)")
        }
    }

    @Test("Location and Content-Location are invalidated, too, if they are of the same origin")
    func locations() throws {
        let own = "https://air.example/flights/1?x=y"
        #expect(
            try Self.invalidated("POST", 201, "Location: /flights/2", "Content-Location: 3", "content-location: /a")
                == [
                    own, "https://air.example/a", "https://air.example/flights/2", "https://air.example/flights/3",
                ])
        #expect(try Self.invalidated("PUT", 200, "Content-Location: https://AIR.example:443/flights/1?x=y") == [own])
        #expect(
            try Self.invalidated(
                "PUT", 200, "Location: https://air.example:443//b/%20?c", "Content-Location: /.//b/%20?c")
                == [own, "https://air.example//b/%20?c"])
        #expect(try Self.invalidated("PUT", 200, "Location: /b", "Content-Location: /b").count == 2)
        for other in [
            "https://other.example/", "http://air.example/", "https://air.example:444/", "//b.example/", "\\",
        ] {
            #expect(try Self.invalidated("POST", 200, "Location: \(other)", "Content-Location: \(other)") == [own])
        }
        #expect(try Self.invalidated("POST", 404, "Location: /flights/2") == [])
    }
}
