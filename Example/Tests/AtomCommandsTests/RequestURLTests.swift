import AtomNetworking
import Testing

@testable import AtomCommands

@Suite struct RequestURLTests {
    private static let good: [(String, BaseURLScheme, String, Int?, String)] = [
        ("http://127.0.0.1:8080/flights", .http, "127.0.0.1", 8080, "/flights"),
        ("https://api.example.com", .https, "api.example.com", nil, "/"),
        ("HTTPS://api.example.com/a/b/", .https, "api.example.com", nil, "/a/b/"),
        ("http://[::1]:9/x%2Fy", .http, "[::1]", 9, "/x%2Fy"),
        ("http://[::1]", .http, "[::1]", nil, "/"),
        ("http://localhost?x=1", .http, "localhost", nil, "/"),
        ("http://localhost/a#part", .http, "localhost", nil, "/a"),
    ]

    @Test(arguments: good)
    func aURLIsTakenApart(
        _ text: String, _ scheme: BaseURLScheme, _ host: String, _ port: Int?, _ path: String
    ) throws {
        let url = try RequestURL(text)
        #expect(url.scheme == scheme)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.path == path)
    }

    @Test func aQueryIsDecoded() throws {
        let url = try RequestURL("http://localhost/?a=1&b=two+words&c=%C3%A9%26&flag&&d=x=y")
        #expect(url.queryItems.map(\.name) == ["a", "b", "c", "flag", "d"])
        #expect(url.queryItems.map(\.value) == ["1", "two words", "é&", "", "x=y"])
    }

    @Test(arguments: [
        ("localhost:8080/flights", "https://api"), ("ftp://example.com/", "https://api"),
        ("http://ada:lovelace@example.com/", "--basic"),
        ("http://example.com:http/", "https://api"),
    ])
    func whatIsNoURLIsRefusedWithAReason(_ text: String, _ reason: String) {
        #expect {
            try RequestURL(text)
        } throws: { error in
            guard let error = error as? AtomError, case .requestable(.invalidURL(let violation)) = error else {
                return false
            }
            return violation.reason.contains(reason) && !"\(error)".contains("lovelace")
        }
    }
}
