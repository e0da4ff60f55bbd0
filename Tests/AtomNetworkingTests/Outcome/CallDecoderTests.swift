import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A call has a decoder of its own", .limited)
struct CallDecoderTests {
    private struct Flight: Decodable, Equatable {
        let gateNumber: Int
    }

    private let service = SharingFixture()
    private let body = #"{"gate_number":7}"#

    private var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private func answered<T: Sendable>(
        status: Int = 200, _ call: @escaping @Sendable (Service) async throws(AtomError) -> T
    ) async -> Result<T, AtomError> {
        let count = service.count
        let request = service.atom.enqueue(PathEndpoint())
        async let outcome = Result { () async throws in try await call(request) }
        await service.transport.exchange(count).answer(body, status: status)
        return await outcome.mapError { $0 as? AtomError ?? .unexpected }
    }

    @Test("It decodes the model, and the response keeps it")
    func model() async throws {
        let decoder = decoder
        let model = await answered { (request) throws(AtomError) in
            try await request.resume(expecting: Flight.self, decoder: decoder)
        }
        #expect(try model.get() == Flight(gateNumber: 7))
        let page = try await answered { (request) throws(AtomError) in
            try await request.resume(decoding: Flight.self, decoder: decoder)
        }
        .get()
        #expect(page.model == Flight(gateNumber: 7))
        #expect(try page.response.decode(Flight.self) == page.model)
    }

    @Test("The next call has the service's")
    func next() async throws {
        let outcome = await answered { (request) throws(AtomError) in try await request.resume(expecting: Flight.self) }
        guard case .failure(.decoder) = outcome else { return #expect(Bool(false), "decoded") }
    }

    @Test("The error of a server is decoded by it")
    func error() async throws {
        let decoder = decoder
        let outcome = await answered(status: 400) { (request) throws(AtomError) in
            try await request.resume(expecting: Data.self, decoder: decoder)
        }
        let error = try #require(outcome.failure)
        #expect(try error.decodeIfPresent(as: Flight.self) == Flight(gateNumber: 7))
    }

    @Test("A completion has one, too", arguments: [200, 400])
    func completion(status: Int) async throws {
        let outcome = Locked<Result<Flight, AtomError>?>(nil)
        let isTold = Signal()
        service.atom.enqueue(PathEndpoint()).resume(expecting: Flight.self, decoder: decoder) { result in
            outcome.set(result)
            isTold.raise()
        }
        try service.last.answer(body, status: status)
        await isTold.wait()
        switch outcome.value {
        case .success(let flight): #expect(flight.gateNumber == 7 && status == 200)
        case .failure(let error): #expect(try error.decodeIfPresent(as: Flight.self)?.gateNumber == 7)
        case nil: Issue.record("not told")
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
