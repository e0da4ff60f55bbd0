import Foundation

@testable import AtomNetworking

extension HeaderFields {
    /// Fields written as in a message.
    init(lines: [String]) {
        self.init(
            lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return HeaderItem(name: String(parts[0]), value: parts[1].trimmingCharacters(in: .whitespaces))
            })
    }
}

extension Moment {
    /// So many seconds after the sample has come, on both clocks.
    static func later(_ seconds: Double) -> Moment {
        Moment(
            instant: MonotonicInstant(nanoseconds: 7_000_000_000).advanced(by: .seconds(seconds)),
            date: StoredResponse.arrival.addingTimeInterval(seconds))
    }
}

extension StoredResponse {
    /// Mon, 23 Nov 2026 10:00:00 GMT.
    static let arrival = Date(timeIntervalSince1970: 1_795_428_000)

    /// A response that came at once.
    static func sample(_ lines: String..., status: Int = 200) -> StoredResponse { sample(lines, status: status) }

    static func sample(_ lines: [String], status: Int = 200) -> StoredResponse {
        StoredResponse(
            address: "https://air.example/flights", statusCode: status, headerFields: HeaderFields(lines: lines),
            body: Data("[]".utf8), varying: [], requestedAt: arrival, receivedAt: arrival,
            receivedInstant: Moment.later(0).instant)
    }
}
