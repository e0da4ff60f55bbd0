import AtomNetworking
import Foundation
import OpenAPIRuntime

extension RequestBody {
    /// Bodies up to this size that can be read again are sent from memory.
    private static let smallSize: Int64 = 1 << 20

    /// A body of a generated client.
    ///
    /// It is read while it is sent. A small one that can be read again is collected before: a signer can then hash it,
    /// and `URLSessionTransport` doesn't have to write it to a file.
    static func sending(_ body: HTTPBody) async -> RequestBody {
        let isRepeatable = body.iterationBehavior == .multiple
        var length: Int64?
        if case .known(let known) = body.length { length = known }
        // Another length, or a stream that fails, is for the SDK to report.
        if isRepeatable, let length, (0...smallSize).contains(length),
            let data = try? await Data(collecting: body, upTo: Int(length)), data.count == length
        {
            return .data(data)
        }
        return .stream(length: length, isRepeatable: isRepeatable) { body.map { Data($0) } }
    }
}
