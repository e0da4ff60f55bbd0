/// What reading the members of an endpoint needs in several places.
enum EndpointReading {
    /// The form that is declared, or `nil`.
    ///
    /// - Throws: ``RequestableError/unusableMember(_:)`` if both are.
    static func one<T>(of first: T?, _ second: T?, _ name: StaticString) throws(AtomError) -> T? {
        guard let second else { return first }
        guard first == nil else { throw conflict(of: name) }
        return second
    }

    static func conflict(of name: StaticString) -> AtomError {
        .requestable(
            .unusableMember(
                .init(
                    subject: "\(name)",
                    reason: "the endpoint has two members of this name with different types, for example its own and "
                        + "one of a protocol extension; declare both with the type in Requestable")))
    }

    /// What an endpoint threw, as the SDK's error.
    static func error(_ error: any Error, of member: String) -> AtomError {
        self.error(error, of: member) { .endpointFailed($0, cause: error) }
    }

    /// What the app's code threw before a request was sent, as the SDK's error.
    ///
    /// - Parameters:
    ///   - error: What it threw.
    ///   - part: The part of the app that threw it.
    ///   - otherwise: The case for an error that isn't one of the SDK's.
    static func error(
        _ error: any Error, of part: String, otherwise: (RequestableError.Violation) -> RequestableError
    ) -> AtomError {
        switch error {
        case let error as AtomError: error
        case let error as RequestableError: .requestable(error)
        case is CancellationError: .cancelled(.notSent)
        // Its text may contain a value.
        default: .requestable(otherwise(.init(subject: part, reason: "it threw \(type(of: error))")))
        }
    }
}
