import Testing

@testable import AtomNetworking

/// What a request was refused for, or `nil` if it wasn't.
func refusal<T>(of body: () throws(AtomError) -> T) -> RequestableError? {
    do {
        _ = try body()
        return nil
    } catch .requestable(let error) {
        return error
    } catch {
        Issue.record("Expected a RequestableError, got \(error)")
        return nil
    }
}
