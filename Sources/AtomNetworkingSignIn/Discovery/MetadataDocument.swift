import AtomNetworking
import Foundation

/// A server's metadata: a JSON object (RFC 8414 §3.2, RFC 9728 §3.2).
///
/// What isn't asked for may be of any type. `null` is the same as nothing.
struct MetadataDocument {
    private enum Value: Decodable {
        case text(String)
        case list([String])
        case flag(Bool)
        case other

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let text = try? value.decode(String.self) {
                self = .text(text)
            } else if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let list = try? value.decode([String].self) {
                self = .list(list)
            } else {
                self = .other
            }
        }
    }

    private let members: [String: Value]

    init(_ data: Data) throws(AtomError) {
        do {
            members = try JSONDecoder().decode([String: Value?].self, from: data).compactMapValues { $0 }
        } catch {
            throw Self.refusal("it isn't a JSON object")
        }
    }

    static func refusal(_ reason: String) -> AtomError { .signIn(.invalidMetadata(reason)) }

    /// Checks an address that a server has sent: what it breaks is no mistake of the app.
    static func checking<T>(_ name: String, _ check: () throws(AtomError) -> T) throws(AtomError) -> T {
        do throws(AtomError) {
            return try check()
        } catch .requestable(let error) {
            throw refusal("\(name) “\(error.violation.subject)” breaks a rule: \(error.violation.reason)")
        }
    }

    func text(_ name: String) throws(AtomError) -> String {
        guard let text = try textIfPresent(name) else { throw Self.refusal("it has no \(name)") }
        return text
    }

    func flag(_ name: String) throws(AtomError) -> Bool {
        switch members[name] {
        case nil: false
        case .flag(let flag): flag
        default: throw Self.refusal("\(name) isn't a Boolean")
        }
    }

    func list(_ name: String) throws(AtomError) -> [String]? {
        switch members[name] {
        case nil: nil
        case .list(let list): list
        default: throw Self.refusal("\(name) isn't a list of strings")
        }
    }

    /// An address, checked.
    func address(_ name: String, allowsPlain: Bool) throws(AtomError) -> String? {
        guard let url = try textIfPresent(name) else { return nil }
        _ = try Self.checking(name) { () throws(AtomError) in try ServerAddress(url, allowsPlain: allowsPlain) }
        return url
    }

    private func textIfPresent(_ name: String) throws(AtomError) -> String? {
        switch members[name] {
        case nil: nil
        case .text(let text): text
        default: throw Self.refusal("\(name) isn't a string")
        }
    }
}
