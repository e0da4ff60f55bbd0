import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a request through an `Atom` gets of each fault.
@Suite(.limited) struct FaultOutcomeTests {
    private struct Page: Requestable {
        let server: LoopbackServer
        func baseURL() throws(AtomError) -> BaseURL {
            try BaseURL(scheme: .http, host: server.host, port: server.port)
        }
    }

    private func outcome(
        _ response: LoopbackServer.Response, timeout: ServiceTimeout = ServiceTimeout(request: 60, resource: 120),
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws -> Result<Data, AtomError> {
        let server = try LoopbackServer { _ in response }
        defer { server.stop() }
        var configuration = ServiceConfiguration(timeout: timeout)
        change(&configuration)
        let service = Atom(serviceConfiguration: configuration).enqueue(Page(server: server))
        do { return .success(try await service.resume(expecting: Data.self)) } catch { return .failure(error) }
    }

    enum Expected: Sendable, Equatable {
        case body(String)
        case lost
        case timeout
        case tooLarge
        case tooManyRedirects
    }

    struct Fault: Sendable, CustomStringConvertible {
        let description: String
        let response: LoopbackServer.Response
        let expected: Expected
        init(_ description: String, _ response: LoopbackServer.Response, _ expected: Expected) {
            (self.description, self.response, self.expected) = (description, response, expected)
        }
    }

    private static let hello = LoopbackServer.Response.text("hello")

    static let faults: [Fault] = [
        Fault("no byte", .closeImmediately, .lost),
        Fault("a reset", .reset, .lost),
        Fault("cut in the head", hello.cut(at: .byte(30)), .lost),
        Fault("cut after the head", hello.cut(at: .head), .lost),
        Fault("cut in the body", hello.cut(at: .bodyByte(3)), .lost),
        Fault("cut between chunks", .chunked([Data("hello".utf8)]).cut(at: .bodyByte(10)), .lost),
        Fault("a reset in the body", .generated(length: 1_000_000).reset(at: .bodyByte(500_000)), .lost),
        Fault("a length that is too long", hello.declaring(length: 9), .lost),
        Fault("a length that is too short", hello.declaring(length: 2), .body("he")),
        Fault("a bad chunk", .badChunk(), .lost),
        Fault("trailers", .chunked([Data("hello".utf8)], trailers: [("Digest", "x")]), .body("hello")),
        Fault("interim answers", hello.afterInterim(103).afterInterim(102), .body("hello")),
        Fault("drip", hello.dripping(bytes: 9, everyMilliseconds: 1), .body("hello")),
        Fault("a slow head", hello.slowHead(bytes: 9, everyMilliseconds: 1), .body("hello")),
        Fault("a redirect loop", .redirectLoop(), .tooManyRedirects),
        Fault("an endless body", .endlessBody(), .tooLarge),
        Fault("a bomb", .compressionBomb(length: 8 << 20), .tooLarge),
    ]

    @Test("Each fault has its outcome", arguments: faults)
    func outcomes(fault: Fault) async throws {
        let result = try await outcome(fault.response) { $0.maximumResponseSize = 1_000_000 }
        #expect(Self.kind(of: result) == fault.expected, "\(result)")
    }

    @Test(
        "What stalls ends by the idle timeout",
        arguments: [
            Fault("silence", .hang, .timeout), Fault("after the head", hello.stalled(at: .head), .timeout),
            Fault("in the body", hello.stalled(at: .bodyByte(2)), .timeout),
        ])
    func stalls(fault: Fault) async throws {
        let result = try await outcome(fault.response, timeout: ServiceTimeout(request: 0.05, resource: 600))
        #expect(Self.kind(of: result) == fault.expected, "\(result)")
    }

    @Test("Header fields without end are an error, and a gigabyte of zeros is one")
    func withoutMemory() async throws {
        for response in [LoopbackServer.Response.endlessHeaderFields, .compressionBomb()] {
            let result = try await outcome(response) { $0.maximumResponseSize = 1_000_000 }
            #expect(throws: AtomError.self) { _ = try result.get() }
        }
    }

    @Test("A bomb is a valid file", arguments: [1, 2, 258, 259, 100_000, 1 << 20] as [Int64])
    func bomb(length: Int64) async throws {
        let data = try await outcome(.compressionBomb(length: length)).get()
        #expect(data.count >= length && data.count < length + 4_200 && data.allSatisfy { $0 == 0 })
    }

    private static func kind(of result: Result<Data, AtomError>) -> Expected? {
        switch result {
        case .success(let data): .body(data.text)
        case .failure(.session(let error as URLError)):
            switch error.code {
            case .timedOut: .timeout
            case .dataLengthExceedsMaximum: .tooLarge
            case .httpTooManyRedirects: .tooManyRedirects
            default: .lost
            }
        case .failure: nil
        }
    }
}
