import AtomNetworking
import Foundation
import Terminal

/// Shows an exchange: the body on one terminal, everything else on another.
struct ResponsePrinter {
    let body: Terminal
    let notes: Terminal
    /// Whether the head is written to the body's output.
    let includesHead: Bool
    /// Whether only errors are shown.
    let isQuiet: Bool
    /// The destination of body bytes that aren't for a terminal.
    let writeBytes: @Sendable (Data) -> Void

    func show(_ response: AtomResponse, after records: [WireTap.Record], seconds: Double) {
        if !isQuiet { showRedirects(records) }
        if includesHead {
            showHead(response, on: body)
            body.print()
        } else if !isQuiet {
            showHead(response, on: notes)
        }
        showBody(response)
        if !isQuiet { notes.print(notes.styled(timing(response, records, seconds), .dim)) }
    }

    /// Shows an error, or the response that it is.
    func show(
        _ error: AtomError, after records: [WireTap.Record], seconds: Double, advice: SessionAdvice? = nil
    ) {
        if case .response(let response) = error {
            show(response, after: records, seconds: seconds)
        } else {
            show(error, seconds: seconds, advice: advice)
        }
    }

    /// - Parameter advice: The text to show instead of the error's own
    ///   description.
    func show(_ error: AtomError, seconds: Double, advice: SessionAdvice? = nil) {
        let label = notes.styled("\(Self.name(of: error)):", .red, .bold)
        notes.print("\(label) \(Self.printable(advice?.message ?? error.description))")
        notes.print(notes.styled("\(Self.delivery(of: error)) (\(Self.duration(seconds)))", .dim))
    }

    // MARK: Parts

    private func showRedirects(_ records: [WireTap.Record]) {
        for record in records.dropLast() {
            let status = record.status.map(String.init) ?? "no response"
            notes.print(notes.styled("\(status) from \(record.method) \(Self.printable(record.url))", .dim))
        }
    }

    func showHead(_ response: AtomResponse, on terminal: Terminal) {
        let color: TextStyle = response.isSuccess ? .green : (response.statusCode ?? 0) < 400 ? .yellow : .red
        terminal.print(terminal.styled(response.description, color, .bold))
        for field in response.headerFields {
            terminal.print("\(terminal.styled(field.name, .cyan)): \(Self.printable(field.value))")
        }
    }

    private func showBody(_ response: AtomResponse) {
        guard !response.data.isEmpty else { return }
        guard body.isInteractive else { return writeBytes(response.data) }
        guard let text = String(data: response.data, encoding: .utf8), !text.contains("\0") else {
            return body.print("(\(response.data.count) bytes that are not text; redirect them to a file)")
        }
        body.write(Self.printable(text, keeping: "\n\t"))
        if !text.hasSuffix("\n") { body.print() }
    }

    private func timing(_ response: AtomResponse, _ records: [WireTap.Record], _ seconds: Double) -> String {
        var parts = ["\(response.data.count) bytes in \(Self.duration(seconds))"]
        if let last = records.last, let answeredAt = last.answeredAt {
            parts.append("answered after \(Self.duration(answeredAt - last.startedAt))")
        }
        let earlier = records.dropLast()
        let redirects = earlier.count { $0.status.map { (300...399).contains($0) } ?? false }
        if redirects > 0 { parts.append("\(redirects) redirects") }
        if earlier.count > redirects { parts.append("\(earlier.count - redirects) retries") }
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
