import ArgumentParser
import AtomNetworking
import Foundation

/// A body on the command line: text, `@file`, or `@-` for standard input.
struct BodyArgument: Sendable, Hashable, ExpressibleByArgument {
    let argument: String

    /// The bytes.
    func data() throws -> Data {
        guard argument.hasPrefix("@") else { return Data(argument.utf8) }
        let name = String(argument.dropFirst())
        guard name != "-" else { return try FileHandle.standardInput.readToEnd() ?? Data() }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: name))
        } catch {
            throw ValidationError("The file \(name) can't be read.")
        }
    }

    /// The bytes, if they are JSON.
    func json() throws -> Data {
        let data = try data()
        do {
            _ = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            throw ValidationError("The value of --json is not JSON.")
        }
        return data
    }
}

/// `Name: value`, as a header field is written.
struct HeaderArgument: Sendable, Hashable, ExpressibleByArgument {
    let item: HeaderItem

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":") else { return nil }
        let value = argument[argument.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        item = HeaderItem(name: String(argument[..<colon]), value: value)
    }
}

/// `name=value`, as in a query or a form.
struct PairArgument: Sendable, Hashable, ExpressibleByArgument {
    let item: QueryItem

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "=") else { return nil }
        item = QueryItem(
            name: String(argument[..<equals]), value: String(argument[argument.index(after: equals)...]))
    }
}
