import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited) struct RoutesTests {
    private static let routes: [String: LoopbackServer.Handler] = [
        "GET /flights": { _ in .text("list") },
        "/flights": { _ in .text("any") },
        "GET /flights/{number}": { .text("one \($0.parameters["number"] ?? "")") },
        "GET /flights/next": { _ in .text("next") },
        "GET /flights/{number}/seats/{seat}": {
            .text($0.parameters.sorted { $0.key < $1.key }.map(\.value).joined(separator: " "))
        },
        "/files/*": { .text("file \($0.path)") },
        "/files/secret*": { _ in .text("secret") },
    ]

    @Test(
        "The route that says most answers",
        arguments: [
            ("GET", "/flights", "list"), ("GET", "/flights?from=SEA", "list"), ("DELETE", "/flights", "any"),
            ("GET", "/flights/next", "next"), ("GET", "/flights/AS%201", "one AS 1"),
            ("GET", "/flights/7/seats/12A", "7 12A"), ("PUT", "/files/a/b", "file /files/a/b"),
            ("GET", "/files/secret.txt", "secret"), ("GET", "/files/", "file /files/"),
        ])
    func chosen(method: String, target: String, expected: String) throws {
        let server = try LoopbackServer(routes: Self.routes)
        defer { server.stop() }
        let connection = try PlainConnection(server)
        connection.send("\(method) \(target) HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        #expect(connection.read().bytes.text.hasSuffix("\r\n\r\n" + expected))
    }

    @Test("What has no route is a 404 that lists them", arguments: ["/", "/flights/", "/flights/7/seats", "/file"])
    func none(target: String) throws {
        let server = try LoopbackServer(routes: Self.routes)
        defer { server.stop() }
        let connection = try PlainConnection(server)
        connection.send("GET \(target) HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
        let text = connection.read().bytes.text
        #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n") && text.contains("No route for GET \(target)."))
        #expect(Self.routes.keys.allSatisfy { text.contains("\n  \($0)") })
    }
}
