import Testing

@testable import AtomNetworking

/// The error with which a request was rejected, or `nil`.
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
