import Foundation

/// What a server says of an error in its own words, as far as it may be shown.
struct ServerQuotes: Sendable {
    /// For developers: the title of a problem document, or the first words of a plain text.
    private(set) var words: String?
    /// For people: the best sentence of an error in JSON.
    private(set) var message: String?
}

extension ServerQuotes {
    private static let longestMessage = 300

    /// - Parameter secrets: What the server may repeat of the request; `nil` if that isn't known.
    init(of response: AtomResponse, without secrets: () -> [String]?) {
        let type = MediaType(response.headerFields["Content-Type"])
        let document = type?.isJSON == true ? try? JSONDecoder().decode(Document.self, from: response.data) : nil
        let text = type?.name == "text/plain" ? try? ResponseText.text(of: response) : nil
        let title = type?.name == ProblemDetails.mediaType ? document?.title : nil
        let best = document?.detail ?? title ?? document?.message ?? document?.title
        // What has not been searched isn't shown.
        guard title ?? text ?? best != nil, let secrets = secrets() else { return }
        words = (title ?? text).flatMap { Self.searched($0, secrets) }.map {
            Redaction.excerpt($0.split(separator: " ", maxSplits: 40).prefix(40).joined(separator: " "))
        }
        message = best.flatMap { Self.searched(Redaction.withoutControls($0), secrets) }.map { text in
            // Word by word: what is before an `@` is hidden.
            let words = text.split(separator: " ").map { Redaction.excerpt(String($0), limit: Self.longestMessage) }
            return Redaction.clipped(words.joined(separator: " "), limit: Self.longestMessage)
        }
    }

    /// A text in one line, unless it speaks of a credential.
    private static func searched(_ text: String, _ secrets: [String]) -> String? {
        let line = text.prefix(SecretSearch.limit).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let start = String(Redaction.withoutTokens(line, secrets: secrets).prefix(400))
        return start.isEmpty || Redaction.namesCredential(start) ? nil : start
    }

    /// The members with text for people; those of another type are left out.
    private struct Document: Decodable {
        private enum CodingKeys: String, CodingKey {
            case title
            case detail
            case message
            case error
        }

        let title: String?
        let detail: String?
        let message: String?

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys, in members: KeyedDecodingContainer<CodingKeys>?) -> String? {
                let text = try? members?.decode(String.self, forKey: key)
                return text?.allSatisfy(\.isWhitespace) == false ? text : nil
            }
            title = text(.title, in: members)
            detail = text(.detail, in: members)
            message =
                text(.message, in: members)
                ?? text(.message, in: try? members.nestedContainer(keyedBy: CodingKeys.self, forKey: .error))
        }
    }
}

extension AtomError {
    /// What the server says of the error in its own words, for people.
    ///
    /// It is the `detail` or the `title` of a problem document (RFC 9457), in other JSON `detail`, `message`, that of the
    /// object in `error`, or `title`, in one line of at most 300 characters. The server chooses the language, perhaps by an
    /// `Accept-Language` of yours.
    ///
    /// It is redacted as ``description`` is: it is `nil` if it speaks of a password or another credential, and if the SDK
    /// doesn't know what the server may repeat, such as after a redirect, after a refresh, or if the request's body is
    /// longer than 4 KiB or has a credential in it. Then decode the body: ``decodeIfPresent(as:)``.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     print(error.serverMessage ?? error.localizedDescription)
    /// }
    /// ```
    public var serverMessage: String? {
        guard case .response(let response) = self else { return nil }
        return response.quotes.message
    }
}
