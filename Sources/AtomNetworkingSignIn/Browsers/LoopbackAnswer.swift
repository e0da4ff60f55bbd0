import Foundation

/// What a request to the port of a ``LoopbackBrowser`` is, and what it is answered.
enum LoopbackAnswer: Equatable {
    /// The callback, with the query of its URL.
    case callback(query: String)
    case badRequest, notFound, methodNotAllowed

    /// The response (RFC 9112 §4), in which there is nothing of the request.
    var response: Data {
        switch self {
        case .callback(let query): Self.response("200 OK", page: Self.page(afterError: Self.hasError(query)))
        case .badRequest: Self.response("400 Bad Request")
        case .notFound: Self.response("404 Not Found")
        case .methodNotAllowed: Self.response("405 Method Not Allowed", fields: ["Allow: GET"])
        }
    }

    private static func response(_ status: String, fields: [String] = [], page: String = "") -> Data {
        let common = ["Content-Length: \(page.utf8.count)", "Cache-Control: no-store", "Connection: close"]
        let ofPage = [
            "Content-Type: text/html; charset=utf-8", "Referrer-Policy: no-referrer",
            "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
        ]
        let lines = ["HTTP/1.1 \(status)"] + fields + common + (page.isEmpty ? [] : ofPage) + ["", page]
        return Data(lines.joined(separator: "\r\n").utf8)
    }

    /// Whether the server reports an error (RFC 6749 §4.1.2.1).
    private static func hasError(_ query: String) -> Bool {
        query.split(separator: "&").contains { $0 == "error" || $0.hasPrefix("error=") }
    }

    private static func page(afterError isError: Bool) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark">
        <title>Sign-in</title>
        <style>body { font: 1.25em/1.5 system-ui, sans-serif; margin: 4em 1em; text-align: center }</style>
        </head>
        <body><p>\(isError ? "Nobody was signed in. " : "")You can close this window.</p></body>
        </html>

        """
    }
}
