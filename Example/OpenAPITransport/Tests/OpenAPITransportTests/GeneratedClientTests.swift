import AirlineAPI
import AirlineServer
import AtomNetworking
import Foundation
import OpenAPIRuntime
import Testing

/// The generated client, on the airline's server.
@Suite(.timeLimit(.minutes(5))) struct GeneratedClientTests {
    // MARK: The session

    @Test func aTypedCallIsSignedByTheSession() async throws {
        try await withAirline { client, server in
            let miles = try await client.readMiles(query: .init(number: "7")).ok.body.json
            #expect(miles.member == "ada" && miles.number == "7")
            #expect(server.counters.apiRequestsAccepted == 1)
        }
    }

    @Test func aTokenThatExpiresDuringManyCallsIsRefreshedOnce() async throws {
        try await withAirline { client, server in
            server.updatePolicy { $0.delayMilliseconds = 100 }
            server.expireAccessTokens()
            let numbers = (1...50).map(String.init)
            let answered = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in numbers {
                    group.addTask { try await client.readMiles(query: .init(number: number)).ok.body.json.number }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(answered == Set(numbers))
            #expect(server.counters.refreshes == 1)
            #expect(server.counters.apiRequestsAccepted == numbers.count)
        }
    }

    @Test func anEndedSessionIsTheErrorOfTheSDK() async throws {
        try await withAirline { client, server in
            server.endSessions()
            let error = await failure { try await client.readMiles() }
            #expect(error?.isAccessTokenRefreshFailure == true)
            // Nothing is signed for it.
            let flights = try await client.listFlights().ok.body.json
            #expect(flights.count == 6)
        }
    }

    @Test func onlyASignedOperationNeedsASession() async throws {
        let server = try await AirlineServer.start()
        let client = try Airline.client(of: server, tokens: nil)
        let flights = try await client.listFlights(query: .init(from: "SEA", to: "SFO")).ok.body.json
        #expect(flights.map(\.number) == ["AS100"])
        let error = await failure { try await client.readMiles() }
        let isMissing = if case .missingCredential = error?.authentication { true } else { false }
        #expect(isMissing)
        #expect(server.counters.apiRequestsUnsigned == 0)
        await server.stop()
    }

    @Test func theUnsignedOperationsAreThoseOfTheDocument() throws {
        struct Document: Decodable {
            struct Operation: Decodable {
                let operationId: String
                let security: [[String: [String]]]?
            }

            let paths: [String: [String: Operation]]
        }
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/AirlineAPI/openapi.json")
        let document = try JSONDecoder().decode(Document.self, from: Data(contentsOf: file))
        let unsigned = document.paths.values.flatMap(\.values).filter { $0.security == [] }.map(\.operationId)
        #expect(Set(unsigned) == Airline.unsignedOperations)
    }

    @Test func theErrorOfTheClientShowsNoToken() async throws {
        let server = try await AirlineServer.start()
        let tokens = try await Airline.tokens(from: server)
        let client = try Airline.client(of: server, tokens: tokens)
        _ = try await client.readMiles().ok
        await server.stop()
        do {
            _ = try await client.readMiles(query: .init(number: "seven"))
            Issue.record("the server has stopped")
        } catch {
            let text = "\(error) \(error.localizedDescription)"
            #expect(text.contains("seven"), "it shows the request")
            #expect(!text.contains(tokens.accessToken) && !text.contains(tokens.refreshToken))
        }
    }

    // MARK: Errors

    @Test func whatTheServerRefusesIsAResponse() async throws {
        try await withAirline { client, _ in
            let taken = try await client.bookSeat(
                body: .json(.init(flight: "AS100", seat: "1A", passenger: "Ada Lovelace")))
            #expect(try taken.conflict.body.json.code == "seat_taken")

            let incomplete = try await client.bookSeat(body: .json(.init(flight: "AS1", seat: "9F", passenger: "")))
            let problem = try incomplete.unprocessableContent.body.json
            #expect(problem.fields?.additionalProperties.keys.sorted() == ["flight", "passenger"])

            let booking = try await client.bookSeat(
                body: .json(.init(flight: "AS100", seat: "9F", passenger: "Ada Lovelace")))
            #expect(try booking.created.body.json.seat == "9F")
        }
    }

    @Test func aBusyServerIsAskedAgainWhereThePolicySaysSo() async throws {
        try await withAirline {
            if $0 == Operations.CallBusyServer.id { $1.retryPolicy = RetryPolicy(baseDelay: .zero) }
        } _: { client, _ in
            let calm = try await client.callBusyServer(path: .init(name: "a"), query: .init(times: 2))
            #expect(try calm.ok.body.json.attempts == 3)
            let busy = try await client.callBusyServer(path: .init(name: "b"), query: .init(times: 3))
            #expect(try busy.serviceUnavailable.body.json.message == "This is failure 3 of 3.")
        }
    }

    @Test func aServerThatIsNotThereIsTheErrorOfTheSDK() async throws {
        try await withAirline { client, server in
            await server.stop()
            let error = await failure { try await client.listFlights() }
            #expect(error?.isConnectivityFailure == true && error?.delivery == .notSent)
        }
    }

    @Test(arguments: ["..", "."])
    func aParameterLeadsToNoOtherPath(name: String) async throws {
        try await withAirline { client, server in
            let before = server.counters.requests
            let error = await failure { try await client.callBusyServer(path: .init(name: name)) }
            #expect(error?.refusal == .invalidURLPath)
            #expect(server.counters.requests == before)
        }
    }

    @Test func aCancelledCallEndsAsCancelled() async throws {
        try await withAirline { client, server in
            let call = Task { await failure { try await client.readMiles(query: .init(milliseconds: 600_000)) } }
            while server.counters.apiRequestsAccepted == 0 { await Task.yield() }
            call.cancel()
            #expect(await call.value?.cancelledDelivery == .maybeSent)
        }
    }

    // MARK: Streams

    @Test func anUploadOfUnknownLengthIsSentAsItIsMade() async throws {
        try await withAirline { client, _ in
            let part = ArraySlice<UInt8>(repeating: 7, count: 100_000)
            let parts = AsyncStream<ArraySlice<UInt8>> { continuation in
                for _ in 0..<200 { continuation.yield(part) }
                continuation.finish()
            }
            let receipt = try await client.upload(body: .binary(HTTPBody(parts, length: .unknown)))
            #expect(try receipt.ok.body.json.bytes == 20_000_000)
            #expect(try receipt.ok.body.json.contentType == "application/octet-stream")
        }
    }

    @Test func aDownloadArrivesInParts() async throws {
        try await withAirline { client, _ in
            let size = 3_000_000
            let file = try await client.download(path: .init(size: size)).ok.body.binary
            #expect(file.length == .known(Int64(size)))
            var (offset, parts, isRight) = (0, 0, true)
            for try await part in file {
                isRight = isRight && part.enumerated().allSatisfy { Int($0.element) == (offset + $0.offset) % 251 }
                offset += part.count
                parts += 1
            }
            #expect(offset == size && isRight && parts > 10)
        }
    }

    @Test func eventsAreReadWhileTheyAreSent() async throws {
        struct Announcement: Decodable, Hashable {
            let number: Int
            let status: String
        }
        try await withAirline { client, server in
            // Without a count the stream doesn't end.
            let body = try await client.watchGates(query: .init(milliseconds: 1)).ok.body.textEventStream
            var statuses: [String?] = []
            for try await event in body.asDecodedServerSentEventsWithJSONData(of: Announcement.self) {
                guard let announcement = event.data else { continue }
                statuses.append(announcement.status)
                if announcement.number == 3 { break }
            }
            #expect(statuses == ["assigned", "boarding", "closed"])
            #expect(server.counters.apiRequestsAccepted == 1)
        }
    }
}
