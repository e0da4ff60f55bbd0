import AtomNetworking
import Foundation

/// Shows an exchange: the body on one terminal, everything else on another.
struct ResponsePrinter {
    let console: Console
    let tap: WireTap
    /// Whether the head is written to the body's output.
    var includesHead = false
    /// Whether only errors are shown.
    let isQuiet: Bool

    private var notes: Terminal { console.notes }

    func show(_ response: AtomResponse) {
        if !isQuiet { showRedirects() }
        if includesHead {
            showHead(response, on: console.output)
            console.output.print()
        } else {
            showHead(response)
        }
        showBody(response)
        if !isQuiet { notes.print(notes.styled(timing(response), .dim)) }
    }

    /// Shows an error, or the response that it is.
    ///
    /// - Parameter advice: The text to show instead of the error's own description.
    func show(_ error: AtomError, _ advice: SessionAdvice?) {
        if case .response(let response) = error { return show(response) }
        let label = notes.styled("\(Self.name(of: error)):", .red, .bold)
        notes.print("\(label) \(Self.printable(advice?.message ?? error.description))")
        notes.print(notes.styled("\(Self.delivery(of: error)) (\(Self.duration(tap.seconds)))", .dim))
    }

    /// Shows the head of a response.
    func showHead(_ response: AtomResponse) {
        if !isQuiet { showHead(response, on: notes) }
    }

    /// Shows a line that isn't an error.
    func note(_ line: String) {
        if !isQuiet { notes.print(line) }
    }

    // MARK: Parts

    private func showRedirects() {
        for record in tap.records.dropLast() {
            let status = record.status.map(String.init) ?? "no response"
            notes.print(notes.styled("\(status) from \(record.method) \(Self.printable(record.url))", .dim))
        }
    }

    private func showHead(_ response: AtomResponse, on terminal: Terminal) {
        let color: TextStyle = response.isSuccess ? .green : (response.statusCode ?? 0) < 400 ? .yellow : .red
        terminal.print(terminal.styled(response.description, color, .bold))
        for field in response.headerFields {
            terminal.print("\(terminal.styled(field.name, .cyan)): \(Self.printable(field.value))")
        }
    }

    private func showBody(_ response: AtomResponse) {
        guard !response.data.isEmpty else { return }
        let output = console.output
        guard output.isInteractive else { return console.writeBytes(response.data) }
        guard let text = String(data: response.data, encoding: .utf8), !text.contains("\0") else {
            return output.print("(\(response.data.count) bytes that are not text; redirect them to a file)")
        }
        output.write(Self.printable(text, keeping: "\n\t"))
        if !text.hasSuffix("\n") { output.print() }
    }

    private func timing(_ response: AtomResponse) -> String {
        let records = tap.records
        var parts = ["\(response.data.count) bytes in \(Self.duration(tap.seconds))"]
        if let last = records.last, let answeredAt = last.answeredAt {
            parts.append("answered after \(Self.duration(answeredAt - last.startedAt))")
        }
        let earlier = records.dropLast()
        let redirects = earlier.count { $0.status.map { (300...399).contains($0) } ?? false }
        if redirects > 0 { parts.append("\(redirects) redirects") }
        if earlier.count > redirects { parts.append("\(earlier.count - redirects) retries") }
        switch response.source {
        case .server: break
        case .cache(let age, let isStale):
            parts.append("from the cache, \(age.components.seconds) s old\(isStale ? ", stale" : "")")
        case .revalidatedCache: parts.append("from the cache, confirmed by the server")
        @unknown default: break
        }
        return parts.joined(separator: ", ")
    }

    // MARK: Texts

    /// The case of the error, as in a pattern.
    static func name(of error: AtomError) -> String {
        switch error {
        case .requestable: "invalid request"
        case .response: "error status"
        case .cancelled: "cancelled"
        case .session: "connection"
        case .decoder: "decoding"
        case .authentication: "authentication"
        case .transfer: "transfer"
        case .unexpected: "unexpected"
        @unknown default: "error"
        }
    }

    static func delivery(of error: AtomError) -> String {
        switch error.delivery {
        case .notSent: "Nothing was sent."
        case .maybeSent: "The request may have reached the server."
        case .answered: "The server answered."
        }
    }

    static func duration(_ seconds: Double) -> String {
        seconds < 10 ? "\(Int((seconds * 1000).rounded())) ms" : "\((seconds * 10).rounded() / 10) s"
    }

    /// The text without control characters, which could rewrite the screen.
    static func printable(_ text: String, keeping kept: String = "") -> String {
        let kept = Set(kept.unicodeScalars)
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            shown.append(isControl && !kept.contains(scalar) ? "\u{FFFD}" : scalar)
        }
        return String(shown)
    }
}
