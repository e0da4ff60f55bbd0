import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

// For the endpoints of this file only.
extension Requestable {
    fileprivate var headerItems: [HeaderItem]? { ["X-App": "1"] }
    fileprivate var timeout: TimeInterval { 3 }
    fileprivate func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

private struct Plain: Requestable {}

private struct WithItems: Requestable {
    var headerItems: [HeaderItem]? { ["X-Own": "2"] }
    func path() throws(AtomError) -> URLPath { try URLPath("/seats/\(Int(timeout))") }
}

private struct WithPlainItems: Requestable {
    let headerItems: [HeaderItem] = ["X-Own": "2"]
}

@Suite("An app's own extension of Requestable", .limited)
struct AppDefaultsTests {
    @Test("A member of the SDK's type is the default of all endpoints, one of another type is the app's")
    func defaults() async throws {
        let (atom, wire) = Atom.scripted(.status(204), .status(204))
        try await atom.enqueue(Plain()).resume()
        try await atom.enqueue(WithItems()).resume()
        #expect(wire.requests.map { $0.headerFields.map(\.name) } == [["X-App"], ["X-Own"]])
        #expect(wire.requests.map(\.path) == ["/", "/seats/3"])
        #expect(wire.requests.map(\.transportRequest.idleTimeout) == [.seconds(30), .seconds(30)])
    }

    @Test("A default is replaced only by what has its type, and checkEndpoint says so")
    func optionalTypes() async throws {
        let (atom, wire) = Atom.scripted(.status(204))
        try await atom.enqueue(WithPlainItems()).resume()
        #expect(wire.requests.map { $0.headerFields.map(\.name) } == [["X-App"]])
        #expect(checkEndpoint(WithPlainItems()).map(\.member) == ["headerItems"])
    }
}
