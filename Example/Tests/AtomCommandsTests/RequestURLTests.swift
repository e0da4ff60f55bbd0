import AtomNetworking
import Testing

@testable import AtomCommands

@Suite struct RequestURLTests {
    @Test(arguments: [
        ("http://127.0.0.1:8080/flights", "127.0.0.1", 8080, "/flights"),
        ("HTTP://api.example.com", "api.example.com", nil, "/"), ("http://[::1]:9/x%2Fy", "[::1]", 9, "/x%2Fy"),
        ("http://localhost?x=1", "localhost", nil, "/"), ("http://localhost/a/#part", "localhost", nil, "/a/"),
    ])
    func aURLIsTakenApart(_ text: String, _ host: String, _ port: Int?, _ path: String) throws {
        let url = try RequestURL(text)
        #expect(url.scheme == .http && url.host == host && url.port == port && url.path == path)
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
