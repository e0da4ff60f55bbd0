import Foundation

/// An announcement at a gate; its number decides its content.
struct GateAnnouncement: Encodable, Sendable {
    let number: Int
    let flight: String
    let gate: String
    let status: String
    /// Seconds of the server's clock.
    let announcedAt: TimeInterval

    init(number: Int, flights: [Flight], announcedAt: TimeInterval) {
        let steps = ["assigned", "boarding", "closed"]
        self.number = number
        self.announcedAt = announcedAt
        flight = flights.isEmpty ? "" : flights[(number - 1) / steps.count % flights.count].number
        gate = "\(["C", "D", "N"][(number - 1) / steps.count % 3])\((number - 1) / steps.count % 20 + 1)"
        status = steps[(number - 1) % steps.count]
    }

    /// The announcement as a server-sent event (WHATWG HTML §9.2).
    var event: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return Data("id: \(number)\nevent: gate\ndata: \(json)\n\n".utf8)
    }
}
