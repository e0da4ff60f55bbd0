import Foundation

/// Decodes a service's responses with the app's decoder, by its clock.
final class ResponseDecoder: Sendable {
    /// Used on many threads, which `JSONDecoder` allows as long as it isn't changed.
    private let decoder: JSONDecoder
    /// By which lifetimes in a response count; `nil` for the system's.
    private let clock: (any TimeSource)?

    /// The date from which the response that is being decoded counts: a type's
    /// `init(from:)` doesn't know the service and its clock.
    static var date: Date { dateOfService ?? Date() }
    @TaskLocal private static var dateOfService: Date?

    /// For what the app's own decoder doesn't, or can't, read.
    static let plain = ResponseDecoder(JSONDecoder(), on: SystemTimeSource())

    init(_ decoder: JSONDecoder, on clock: any TimeSource) {
        self.decoder = decoder
        self.clock = clock is SystemTimeSource ? nil : clock
    }

    /// Another way to decode on the same clock.
    var withPlainDecoder: ResponseDecoder { clock.map { ResponseDecoder(JSONDecoder(), on: $0) } ?? .plain }

    /// The app's decoder for one call.
    func with(_ decoder: JSONDecoder) -> ResponseDecoder {
        ResponseDecoder(decoder, on: clock ?? SystemTimeSource())
    }

    func decode<T: Decodable>(
        _ type: T.Type, from response: AtomResponse, isWholeBody: Bool = true
    ) throws(AtomError) -> T {
        func decoded() throws(AtomError) -> T {
            try Self.decode(type, from: response, with: decoder, isWholeBody: isWholeBody)
        }
        do throws(AtomError) {
            guard let clock else { return try decoded() }
            return try Self.$dateOfService.withValue(clock.date) { Result(catching: decoded) }.get()
        } catch {
            throw error.about(response, until: (clock ?? SystemTimeSource()).now)
        }
    }
}

extension ResponseDecoder {
    /// Decodes the body, or one value of JSON in it, as the expected type.
    ///
    /// `Data` is the raw body. `String` is text, unless the media type is JSON. An empty
    /// body is `nil` for an optional, and ``NoContent`` accepts it.
    static func decode<T: Decodable>(
        _ type: T.Type, from response: AtomResponse, with decoder: JSONDecoder, isWholeBody: Bool = true
    ) throws(AtomError) -> T {
        if T.self == Data.self || T.self == Data?.self && !response.data.isEmpty, let raw = response.data as? T {
            return raw
        }
        if let nothing = NoContent() as? T, T.self == NoContent.self { return nothing }
        if isWholeBody {
            if T.self == String.self || T.self == String?.self, isText(response, emptyIsText: T.self == String.self),
                let text = try ResponseText.text(of: response) as? T
            {
                return text
            }
            if let type = T.self as? any WithResponse.Type,
                let answer = try type.decoding(response, with: decoder) as? T
            {
                return answer
            }
        }
        if response.data.isEmpty {
            if let optional = T.self as? any ExpressibleByNilLiteral.Type,
                let none = optional.init(nilLiteral: ()) as? T
            {
                return none
            }
            throw .undecodable(
                "The response has no body (status \(response.statusCode.map(String.init) ?? "unknown")); "
                    + "expect an optional, Data or NoContent if that is intended.")
        }
        do {
            return try decoder.decode(T.self, from: response.data)
        } catch let error as DecodingError {
            if isWholeBody, let format = markup(in: response, error) {
                throw .undecodable("The response is \(format), not JSON.", cause: DecodingError.malformed)
            }
            throw .decoder(
                error.showing(
                    Redaction.jsonOutline(response.data), as: T.self, dates: decoder.dateDecodingStrategy))
        } catch {
            // A model may throw any error, whose text may contain a value.
            throw .undecodable("The model threw \(Swift.type(of: error))", cause: error)
        }
    }

    /// Whether a `String` is the body's text.
    ///
    /// Without a media type, a body that begins with a quotation mark is JSON.
    private static func isText(_ response: AtomResponse, emptyIsText: Bool) -> Bool {
        let type = MediaType(response.headerFields["Content-Type"])
        if response.data.isEmpty, !emptyIsText || type == nil { return false }
        guard let type else { return firstByte(of: response.data) != UInt8(ascii: "\"") }
        return !type.isJSON
    }

    private static func markup(in response: AtomResponse, _ error: DecodingError) -> String? {
        let type = MediaType(response.headerFields["Content-Type"])
        if firstByte(of: response.data) == UInt8(ascii: "<") {
            let isXML = type?.isXML ?? response.data.starts(with: Data("<?xml".utf8))
            return isXML ? "XML" : "HTML"
        }
        guard let type, type.isHTML, case .dataCorrupted(let context) = error, context.codingPath.isEmpty else {
            return nil
        }
        return "HTML"
    }

    private static func firstByte(of data: Data) -> UInt8? { data.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } }

    /// What was expected, where, and what was found instead.
    static func describe(_ error: DecodingError) -> String {
        let context = error.context
        let path = context.codingPath.reduce(into: "") { path, key in
            if (key as? TextKey)?.request != nil { return }
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + Redaction.name(key.stringValue)
            }
        }
        // Keys come from the server, in any number and of any length.
        let place = path.isEmpty ? "" : " at “\(Redaction.clipped(path, limit: 200))”"
        let explanation = Redaction.excerpt(context.debugDescription, limit: 1000)
        return "The response could not be decoded\(place): \(explanation)"
    }
}

extension AtomError {
    static func undecodable(_ explanation: String, cause: (any Error)? = nil) -> AtomError {
        .decoder(.dataCorrupted(.init(codingPath: [], debugDescription: explanation, underlyingError: cause)))
    }
}

extension DecodingError {
    fileprivate var context: Context {
        switch self {
        case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
            .valueNotFound(_, let context):
            context
        @unknown default: Context(codingPath: [], debugDescription: "It is not the expected model.")
        }
    }

    private static let malformedText = "The given data was not valid JSON."
    fileprivate static let malformed = DecodingError.dataCorrupted(
        Context(codingPath: [], debugDescription: malformedText))

    /// The same error with an outline of the body for the decoder's and the model's texts, which may quote a value.
    fileprivate func showing(
        _ outline: String, as expected: Any.Type, dates: JSONDecoder.DateDecodingStrategy
    ) -> DecodingError {
        let explanation =
            switch self {
            case .dataCorrupted(let context) where context.debugDescription == Self.malformedText: Self.malformedText
            case .dataCorrupted: "The decoder rejected the value."
            case .keyNotFound(let key, _): "There is no value for “\(Redaction.name(key.stringValue))”."
            case .typeMismatch(let type, let context)
            where type == Double.self && dates.readsNumbers && context.debugDescription.contains("a string"):
                "The value can't be read as Double, or as a date in numbers: it is a string. "
                    + "For a date, set decoder.dateDecodingStrategy."
            case .typeMismatch(let type, _): "The value can't be read as \(Self.words(for: type))."
            case .valueNotFound(let type, _): "The value is null, but \(Self.words(for: type)) is expected."
            @unknown default: "It is not the expected model."
            }
        let remedy =
            expected == String.self || expected == String?.self
            ? " String.self is the text only of a response that isn't JSON: expect a Decodable type, or Data.self, and "
                + "write String(decoding: data, as: UTF8.self)." : ""
        return withContext { context in
            Context(
                codingPath: context.codingPath.map(TextKey.hiding),
                debugDescription: "\(explanation)\(remedy) In: \(outline)",
                underlyingError: context.underlyingError.map(Self.withoutText))
        }
    }

    private func withContext(_ changed: (Context) -> Context) -> DecodingError {
        switch self {
        case .dataCorrupted(let context): .dataCorrupted(changed(context))
        case .keyNotFound(let key, let context): .keyNotFound(TextKey.hiding(key), changed(context))
        case .typeMismatch(let type, let context): .typeMismatch(type, changed(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, changed(context))
        @unknown default: self
        }
    }

    private static func words(for type: Any.Type) -> String {
        switch type {
        case is [Any].Type: "a list"
        case is [String: Any].Type: "an object"
        default: "\(type)"
        }
    }

    /// The domain and code of a Foundation error, whose texts may quote the value.
    private static func withoutText(_ error: any Error) -> any Error {
        guard type(of: error) is NSError.Type else { return error }
        let error = error as NSError
        return NSError(domain: error.domain, code: error.code)
    }

    /// The same error about this request, which stands before the place if a model has
    /// thrown: its error stays where apps look for it.
    func about(_ request: AtomError.Request) -> DecodingError {
        withContext { context in
            let cause = context.underlyingError
            let isOfModel = cause.map { !($0 is DecodingError || type(of: $0) is NSError.Type) } ?? false
            return Context(
                codingPath: (isOfModel ? [TextKey(request)] : []) + context.codingPath,
                debugDescription: context.debugDescription,
                underlyingError: isOfModel ? cause : UndecodedResponse(request: request, cause: cause))
        }
    }

    /// The request that ``about(_:)`` has noted.
    var request: AtomError.Request? {
        (context.underlyingError as? UndecodedResponse)?.request ?? (context.codingPath.first as? TextKey)?.request
    }
}

extension JSONDecoder.DateDecodingStrategy {
    fileprivate var readsNumbers: Bool {
        switch self {
        case .deferredToDate, .secondsSince1970, .millisecondsSince1970: true
        default: false
        }
    }
}

/// Which request a response belongs to that could not be decoded.
struct UndecodedResponse: Error, CustomNSError, CustomStringConvertible {
    let request: AtomError.Request
    let cause: (any Error)?

    var description: String { "The response to \(request)" }

    var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [AtomError.Request.key: request.propertyList]
        userInfo[NSUnderlyingErrorKey] = cause
        return userInfo
    }
}

/// A key of a coding path, or of what is decoded.
struct TextKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    /// Which request it was, in front of a path.
    fileprivate let request: AtomError.Request?

    init(_ text: String) { (stringValue, request) = (text, nil) }
    fileprivate init(_ request: AtomError.Request) { (stringValue, self.request) = (request.description, request) }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }

    fileprivate static func hiding(_ key: any CodingKey) -> any CodingKey {
        Redaction.looksLikeToken(key.stringValue) ? TextKey("…") : key
    }
}

extension Result<AtomResponse, AtomError> {
    /// The model, by a decoder of one call, which the response and the server's error keep.
    func decoded<T: Decodable>(by decoder: ResponseDecoder) -> Result<T, AtomError> {
        switch self {
        case .success(let response):
            let response = response.decoded(by: decoder)
            return Result<T, AtomError> { () throws(AtomError) in try decoder.decode(T.self, from: response) }
        case .failure(.response(let response)): return .failure(.response(response.decoded(by: decoder)))
        case .failure(let error): return .failure(error)
        }
    }
}
