import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The rest of a file is asked for, and the server says something that can't be true of the file that is known: then
/// the file begins anew, or the download fails.
@Suite("What a server says against what is known of a partial file", .limited)
struct PartialFileTests {
    private static let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 8)) })
    private static let other = Data(repeating: 7, count: 50_000)
    /// With 40,000 bytes on the disk.
    private static let slice = content[23_616...]

    enum End: Sendable {
        /// The whole file is asked for once more.
        case asksAgain
        /// It is an error, and the next download begins anew.
        case fails
        /// It is an error, and the next download goes on.
        case goesOn
        /// This is the file.
        case succeeds(Data)
    }

    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var status = 200
        var fields: [(String, String)] = [("ETag", "\"v\"")]
        let body: Data
        /// Whether `Content-Length` is that of the body.
        var isMeasured = true
        var isLost = false
        let end: End

        var allFields: [HeaderItem] {
            (fields + (isMeasured ? [("Content-Length", "\(body.count)")] : [])).map { HeaderItem(name: $0, value: $1) }
        }
    }

    /// Whatever was known of the length.
    static let always = [
        Answer(testDescription: "other bytes", body: Data(count: 100_000), end: .asksAgain),
        Answer(testDescription: "less than there is", body: content.prefix(10_000), end: .asksAgain),
        Answer(
            testDescription: "less than there is, without a length", body: content.prefix(10_000), isMeasured: false,
            end: .fails),
        Answer(testDescription: "the rest, without a length", body: slice, isMeasured: false, end: .asksAgain),
        Answer(testDescription: "the rest", body: slice, end: .asksAgain),
        Answer(
            testDescription: "the rest as what is coded", fields: [("ETag", "\"v\""), ("Content-Encoding", "x")],
            body: slice, end: .asksAgain),
        Answer(
            testDescription: "a range of a whole", fields: [("Content-Range", "bytes 23616-99999/100000")],
            body: slice, end: .asksAgain),
        Answer(
            testDescription: "a range that is coded", status: 206,
            fields: [
                ("ETag", "\"v\""), ("Content-Range", "bytes 23616-99999/100000"), ("Content-Encoding", "gzip"),
            ], body: slice, end: .asksAgain),
        Answer(
            testDescription: "several ranges", status: 206,
            fields: [("ETag", "\"v\""), ("Content-Type", "multipart/byteranges; boundary=a")], body: slice,
            end: .asksAgain),
        Answer(
            testDescription: "a range that ends early", status: 206,
            fields: [("ETag", "\"v\""), ("Content-Range", "bytes 23616-99998/100000")], body: slice.dropLast(),
            end: .asksAgain),
        Answer(
            testDescription: "less than the range says", status: 206,
            fields: [("ETag", "\"v\""), ("Content-Range", "bytes 23616-99999/100000")], body: slice.dropLast(),
            end: .goesOn),
        Answer(
            testDescription: "more than the range says", status: 206,
            fields: [("ETag", "\"v\""), ("Content-Range", "bytes 23616-99999/100000")], body: slice + [0],
            end: .fails),
        Answer(testDescription: "the whole", body: content, end: .succeeds(content)),
        Answer(
            testDescription: "the whole, without a length", body: content, isMeasured: false, end: .succeeds(content)),
        Answer(
            testDescription: "what is lost", body: content.prefix(10_000), isMeasured: false, isLost: true, end: .goesOn
        ),
        Answer(testDescription: "another file", fields: [("ETag", "\"w\"")], body: other, end: .succeeds(other)),
        Answer(testDescription: "a file without a tag", fields: [], body: other, end: .succeeds(other)),
        Answer(
            testDescription: "no range", status: 416, fields: [("Content-Range", "bytes */7")], body: Data(),
            end: .asksAgain),
    ]

    /// If it was known to be 100,000.
    static let measured = [
        Answer(testDescription: "a longer one", body: content + [0], end: .asksAgain),
        Answer(testDescription: "a shorter one", body: content.dropLast(), end: .asksAgain),
        Answer(
            testDescription: "a shorter one, without a length", body: content.dropLast(), isMeasured: false,
            end: .fails),
        Answer(testDescription: "the rest without a tag", fields: [], body: slice, end: .asksAgain),
        Answer(
            testDescription: "a range of a longer one", status: 206,
            fields: [("ETag", "\"v\""), ("Content-Range", "bytes 23616-100000/100001")], body: slice + [0],
            end: .asksAgain),
    ]

    private func download(_ atom: Atom, to file: URL) -> Task<AtomResponse, any Error> {
        Task { try await atom.enqueue(PathEndpoint()).download(to: file, isResumable: true) }
    }

    private func send(_ status: Int, _ fields: [HeaderItem], _ body: Data, over exchange: ScriptedExchange) {
        exchange.send(.response(TransportResponse(statusCode: status, headerFields: HeaderFields(fields))))
        for start in stride(from: 0, to: body.count, by: 30_000) {
            exchange.send(.data(Data(body.dropFirst(start).prefix(30_000))))
        }
    }

    static let cases: [(Answer, Bool)] = {
        var cases: [(Answer, Bool)] = []
        for answer in always { cases += [(answer, true), (answer, false)] }
        for answer in measured { cases.append((answer, true)) }
        return cases
    }()

    @Test("A response that contradicts a partial file is never taken for the file", arguments: cases)
    func answer(_ answer: Answer, isLengthKnown: Bool) async throws {
        let (folder, transport) = (try TransferFolder(), ScriptedTransport.held())
        let file = try folder.file("a")
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        let atom = Atom(configuration, time: ManualClock())

        let first = download(atom, to: file)
        let lost = await transport.exchange(0)
        let length = isLengthKnown ? [HeaderItem(name: "Content-Length", value: "100000")] : []
        send(200, [.init(name: "ETag", value: "\"v\"")] + length, Self.content.prefix(40_000), over: lost)
        lost.fail(.networkConnectionLost)
        let result = await first.result
        #expect(throws: AtomError.self) { try result.get() }

        let second = download(atom, to: file)
        let exchange = await transport.exchange(1)
        #expect(exchange.request.headerFields["Range"] == "bytes=23616-")
        #expect(exchange.request.headerFields["If-Range"] == "\"v\"")
        send(answer.status, answer.allFields, answer.body, over: exchange)
        if answer.isLost { exchange.fail(.networkConnectionLost) } else { exchange.send(.finished) }
        switch answer.end {
        case .asksAgain:
            let third = await transport.exchange(2)
            #expect(third.request.headerFields["Range"] == nil)
            third.answer(data: Self.other, headers: [("ETag", "\"w\"")])
            #expect(try await second.value.statusCode == 200)
            #expect(try Data(contentsOf: file) == Self.other && folder.names == ["a"])
        case .succeeds(let content):
            #expect(try await second.value.statusCode == answer.status)
            #expect(try Data(contentsOf: file) == content && folder.names == ["a"])
        case .fails, .goesOn:
            let error = await second.result
            #expect(throws: AtomError.self) { try error.get() }
            #expect(transport.exchanges.count == 2)
            if case .fails = answer.end {
                #expect(folder.names == [])
            } else {
                let partial = try Data(contentsOf: file.appendingPathExtension("partial"))
                #expect(partial.count >= 40_000 && Self.content.starts(with: partial))
            }
        }
    }
}
