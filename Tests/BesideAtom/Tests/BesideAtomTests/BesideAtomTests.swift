import AlaskaAtom
import AtomNetworking
import AtomNetworkingExports
import AtomNetworkingTesting
import Testing

// Not moved yet, so only the name of its module has changed.
private struct Bookings: AlaskaAtom.Requestable {
    func path() -> String { "/v1/bookings" }
}

private struct Flights: AtomNetworking.Requestable {
    func baseURL() throws(AtomNetworking.AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() -> URLPath { .literal("/v1/flights") }
}

@Suite("An app has Atom and this package at once", .limited)
struct BesideAtomTests {
    @Test("Each endpoint goes to the client of its own module")
    func eachToItsOwn() async throws {
        await #expect { try await AlaskaAtom.Atom().enqueue(Bookings()).resume() } throws: { error in
            if case AlaskaAtom.AtomError.session("/v1/bookings") = error { true } else { false }
        }
        let (commands, written) = AsyncStream.makeStream(of: String.self)
        let (atom, wire) = AtomNetworking.Atom.scripted(.status(204)) {
            $0.observers = [CurlCommandObserver { written.yield($0) }]
        }
        #expect(try await atom.enqueue(Flights()).resume().statusCode == 204)
        #expect(wire.requests.map(\.path) == ["/v1/flights"])
        let command = try #require(await commands.first { _ in true })
        #expect(command.contains("https://api.example.com/v1/flights"))
    }
}
