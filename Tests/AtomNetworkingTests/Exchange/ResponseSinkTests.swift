import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("What takes the body of a response", .limited)
struct ResponseSinkTests {
    @Test("Memory takes as many bytes as it may, and says how many these are when there is one more")
    func limit() throws {
        var sink = MemorySink(limit: 5)
        try sink.receive(Data("abc".utf8))
        try sink.receive(Data("de".utf8))
        #expect {
            try sink.receive(Data("f".utf8))
        } throws: { error in
            guard case .session(let error as URLError) = error as? AtomError else { return false }
            return error.code == .dataLengthExceedsMaximum
                && AtomError.session(error).description.contains("5 bytes")
        }
        #expect(sink.finish() == Data("abcde".utf8))
    }

    @Test("Memory lets go of what it has when nobody wants it")
    func abandoned() throws {
        var sink = MemorySink(limit: 5)
        try sink.receive(Data("abc".utf8))
        sink.abandon()
        #expect(sink.finish().isEmpty)
    }
}
