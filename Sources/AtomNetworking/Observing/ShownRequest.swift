import Foundation

/// What an export shows of a sending.
struct ShownRequest: Sendable {
    let method: String
    let url: String
    let headerFields: HeaderFields
    let body: Body
    /// Whether a value is replaced by ``CredentialSearch/hidden``.
    let isIncomplete: Bool

    enum Body: Sendable {
        case none
        case bytes(Data)
        /// The content of a file, by its path.
        case file(String)
        /// May hold a secret.
        case hidden
        /// Isn't in memory, or is too large.
        case absent
    }

    /// A larger body is left out.
    static let largestBody = 1 << 20

    init(_ request: TransportRequest, showing disclosure: RequestDisclosure) {
        method = request.method
        let address = request.target.absoluteString
        let fields = request.headerFields
        switch disclosure {
        case .everything:
            url = address
            headerFields = fields
        case .allButCredentials:
            url = CredentialSearch.url(address)
            headerFields = HeaderFields(fields.map { .init(name: $0.name, value: CredentialSearch.value(of: $0)) })
        case .onlyHarmless:
            url = Redaction.url(address, mark: CredentialSearch.hidden)
            headerFields = fields.redacted(mark: CredentialSearch.hidden)
        }
        let (shown, isChanged) = Self.body(request, disclosure)
        body = shown
        isIncomplete = isChanged || url != address || headerFields != fields
    }

    private static func body(
        _ request: TransportRequest, _ disclosure: RequestDisclosure
    ) -> (Body, isChanged: Bool) {
        guard let body = request.body else { return (.none, false) }
        guard body.length != 0 else { return (.bytes(Data()), false) }
        guard disclosure != .onlyHarmless else { return (.hidden, true) }
        if case .stream(let stream) = body, let file = stream.fileURL { return (.file(file.path), false) }
        guard let length = body.length, length <= largestBody, let data = body.bytesInMemory else {
            return (.absent, false)
        }
        guard disclosure == .allButCredentials else { return (.bytes(data), false) }
        guard let shown = CredentialSearch.body(data, request.headerFields) else { return (.hidden, true) }
        return (.bytes(shown), shown != data)
    }
}

extension TransportBody {
    /// The whole body, if no file and no stream has to be read for it.
    fileprivate var bytesInMemory: Data? {
        switch self {
        case .data(let data): return data
        case .stream(let stream):
            guard case .segments(let body) = stream.source else { return nil }
            var bytes = Data()
            for segment in body.segments {
                guard case .data(let data) = segment else { return nil }
                bytes += data
            }
            return bytes
        }
    }
}
