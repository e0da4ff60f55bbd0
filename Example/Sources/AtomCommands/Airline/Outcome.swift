import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The result of a call, for code that handles both cases.
func outcome<Value>(of call: () async throws(AtomError) -> Value) async -> Result<Value, AtomError> {
    do {
        return .success(try await call())
    } catch {
        return .failure(error)
    }
}

extension Atom {
    /// What the caller of a request gets.
    func outcome(of endpoint: any Requestable) async -> Result<AtomResponse, AtomError> {
        await AtomCommands.outcome { () async throws(AtomError) in try await enqueue(endpoint).resume() }
    }

    /// The same, with a decoded response.
    func outcome<Value: Decodable & Sendable>(
        of endpoint: any Requestable, expecting type: Value.Type
    ) async -> Result<Value, AtomError> {
        await AtomCommands.outcome { () async throws(AtomError) in
            try await enqueue(endpoint).resume(expecting: type)
        }
    }
}

extension Result where Failure == AtomError {
    var value: Success? { try? get() }

    var error: AtomError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// The error's description, or a text for success.
    var summary: String { error?.description ?? "success" }
}

extension AtomError {
    /// The `URLError` code, if the exchange failed on the wire.
    var wireCode: URLError.Code? {
        if case .session(let error) = self { (error as? URLError)?.code } else { nil }
    }
}
