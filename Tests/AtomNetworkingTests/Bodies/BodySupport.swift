import Foundation
import Testing

@testable import AtomNetworking

extension SegmentReader {
    /// Reads the rest of the body through a buffer of this size.
    func rest(bufferSize: Int = 4096) throws(AtomError) -> Data {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bufferSize, alignment: 1)
        defer { buffer.deallocate() }
        var all = Data()
        while true {
            let count = try read(into: buffer)
            guard count > 0 else { return all }
            all.append(contentsOf: buffer[..<count])
        }
    }

    /// Reads one byte.
    ///
    /// - Returns: 1, or 0 at the end.
    func readByte() throws(AtomError) -> Int {
        var byte: UInt8 = 0
        return try withUnsafeMutableBytes(of: &byte) { bytes throws(AtomError) in try read(into: bytes) }
    }
}

extension BodySegments {
    func bytes() throws(AtomError) -> Data { try makeReader().rest() }
}

/// The error with which a body could not be read, or `nil`.
func transferFailure(of body: () throws(AtomError) -> Data) -> TransferError? {
    do {
        _ = try body()
        return nil
    } catch .transfer(let error) {
        return error
    } catch {
        Issue.record("Expected a TransferError, got \(error)")
        return nil
    }
}

/// Gives the numbers of a list, and then zeros.
struct ScriptedGenerator: RandomNumberGenerator {
    var numbers: ArraySlice<UInt64>

    init(_ numbers: [UInt64]) {
        self.numbers = numbers[...]
    }

    mutating func next() -> UInt64 { numbers.popFirst() ?? 0 }
}
