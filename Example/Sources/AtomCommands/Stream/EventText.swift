import AtomNetworking

/// A server-sent event for people.
enum EventText {
    /// `7 gate: …`, with further lines indented.
    static func of(_ event: ServerSentEvent) -> String {
        let head = event.id.isEmpty ? event.type : "\(event.id) \(event.type)"
        let lines = event.data.split(separator: "\n", omittingEmptySubsequences: false)
        return "\(head): \(lines.joined(separator: "\n    "))"
    }
}
