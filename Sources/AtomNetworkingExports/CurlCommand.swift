import AtomNetworking
import Foundation

extension SentRequest {
    /// A command for a POSIX shell that sends this request again with `curl`.
    ///
    /// The command sends the method, the target, the header fields and the body of the request as the SDK does, byte by
    /// byte, apart from what is hidden. Each value is quoted, so that the shell reads it as text.
    ///
    /// Not in it is what a transport adds by itself: `User-Agent`, and which content codings it understands. `curl`
    /// adds its own codings, and decodes the response.
    ///
    /// - Parameter disclosure: What the command shows. It hides credentials
    ///   unless it is ``RequestDisclosure/everything``.
    public func curlCommand(showing disclosure: RequestDisclosure = .allButCredentials) -> String {
        CurlCommand(ShownRequest(NotedRequest(transportRequest, showing: disclosure))).text
    }
}

/// A command that sends a request with `curl`.
struct CurlCommand {
    private let request: ShownRequest

    init(_ request: ShownRequest) { self.request = request }

    /// The bytes that are written into the command line; more come from
    /// `printf`, since a system limits the length of an argument.
    private static let longestArgument = 64 << 10

    /// The comments and the command.
    var text: String {
        // A shell that knows no comments on its prompt must find nothing in them to expand.
        var comments: [String] = []
        if request.isIncomplete { comments.append("# Values are left out. Write them in the place of HIDDEN.") }
        switch request.body {
        case .file: comments.append("# The body is the content of the file after the sign @.")
        case .absent: comments.append("# The body is left out. The command reads it from standard input.")
        case .none, .bytes, .hidden: break
        }
        var start = "curl"
        if case .bytes(let data) = request.body, !isArgument(data) {
            start = "printf \(ShellWord.format(data)) |\ncurl"
        }
        let lines = ["\(start) --globoff --path-as-is --compressed"] + methodAndBody + fields + [inQuotes(request.url)]
        return (comments + [lines.joined(separator: " \\\n  ")]).joined(separator: "\n")
    }

    private var methodAndBody: [String] {
        let method = request.method
        var options: [String] = []
        switch (request.body, method) {
        case (.none, "GET"), (.none, "POST"): break
        case (.none, "HEAD"): options.append("--head")
        case (_, "POST"): break
        default: options.append("--request \(ShellWord.quoted(method))")
        }
        switch request.body {
        case .none:
            // These say that they have no body (RFC 9110 §8.6).
            if ["POST", "PUT", "PATCH"].contains(method) { options.append("--data-raw ''") }
        case .bytes(let data):
            let text = String(decoding: data, as: UTF8.self)
            options.append(isArgument(data) ? "--data-raw \(inQuotes(text))" : "--data-binary @-")
        case .file(let path): options.append("--data-binary \(ShellWord.quoted("@" + path))")
        case .hidden: options.append("--data-raw \(CredentialSearch.hidden)")
        case .absent: options.append("--data-binary @-")
        }
        return options
    }

    private var fields: [String] {
        var lines = request.headerFields.map { field in
            let value = field.value.trimmingCharacters(in: [" ", "\t"])
            // Nothing after a colon would remove the field.
            return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
        }
        // What curl adds, and the SDK doesn't. `Accept: */*` both add.
        var additions = ["User-Agent"]
        if hasBody { additions += ["Content-Type", "Expect"] }
        lines += additions.filter { !request.headerFields.contains($0) }.map { "\($0):" }
        return lines.map { line in
            let octets = OpaqueOctets.octets(of: line)
            let isText = octets.count == line.utf8.count
            return "--header " + (isText ? inQuotes(line) : "\"$(printf \(ShellWord.format(octets)))\"")
        }
    }

    private var hasBody: Bool {
        if case .none = request.body { ["POST", "PUT", "PATCH"].contains(request.method) } else { true }
    }

    private func isArgument(_ data: Data) -> Bool {
        data.count <= Self.longestArgument && ShellWord.isPlain(data)
    }

    /// In quotes also where none are needed, as people write it.
    private func inQuotes(_ text: String) -> String {
        let word = ShellWord.quoted(text)
        return word == text ? "'\(text)'" : word
    }
}
