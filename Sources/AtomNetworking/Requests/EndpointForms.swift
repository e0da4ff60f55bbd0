/// The forms in which a type of endpoints declares its members.
///
/// They are the same for all values of the type. So the defaults are called
/// for the first request only: thousands of instructions.
struct EndpointForms: Sendable {
    struct Members: OptionSet {
        let rawValue: UInt16

        static let headerItems = Members(rawValue: 1)
        static let method = Members(rawValue: 2)
        static let queryItems = Members(rawValue: 4)
        static let body = Members(rawValue: 8)
        static let timeout = Members(rawValue: 16)
        static let statusCodes = Members(rawValue: 32)
        static let path = Members(rawValue: 64)
        static let requiresAuthorization = Members(rawValue: 128)
        static let retryPolicy = Members(rawValue: 256)
        static let idempotency = Members(rawValue: 512)
        static let sharesIdenticalRequests = Members(rawValue: 1024)
    }

    /// What is declared with the type in ``Requestable``.
    var documented: Members = []
    /// What is declared in another form, and whether that is used or refused.
    var other: Members = []

    private struct Slot {
        var type: ObjectIdentifier?
        var forms = EndpointForms()
    }

    /// A place for each of the types that were read last.
    ///
    /// A dictionary costs several times as much. Two types with one place push
    /// each other out, and are then read like new ones.
    private static let known = Guarded([Slot](repeating: Slot(), count: 256))

    private static func place(of type: ObjectIdentifier) -> Int {
        let address = UInt(bitPattern: type)
        return Int(truncatingIfNeeded: (address >> 4 ^ address >> 12) & 255)
    }

    static func of(_ type: Any.Type) -> EndpointForms? {
        let type = ObjectIdentifier(type)
        return known.withLock {
            let slot = $0[place(of: type)]
            return slot.type == type ? slot.forms : nil
        }
    }

    private func remember(for type: Any.Type) {
        let type = ObjectIdentifier(type)
        Self.known.withLock { $0[Self.place(of: type)] = Slot(type: type, forms: self) }
    }

    /// The reading of one endpoint.
    struct Search {
        /// The forms, if an endpoint of this type has been read before.
        let known: EndpointForms?
        private var found = EndpointForms()

        init(known: EndpointForms?) { self.known = known }

        enum Place { case nowhere, documented, unknown }

        func place(of member: Members) -> Place {
            guard let known, !known.other.contains(member) else { return .unknown }
            return known.documented.contains(member) ? .documented : .nowhere
        }

        /// Whether it is known that none of these is declared in any form.
        func knowsNone(of members: Members) -> Bool {
            guard let known else { return false }
            return known.documented.union(known.other).isDisjoint(with: members)
        }

        mutating func note(_ member: Members, documented: Bool, other: Bool) {
            if documented { found.documented.insert(member) }
            if other { found.other.insert(member) }
        }

        /// Keeps what has been found; called when all members have been read.
        func remember(for type: Any.Type) {
            if known == nil { found.remember(for: type) }
        }
    }
}
