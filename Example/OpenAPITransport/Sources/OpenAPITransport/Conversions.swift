import AtomNetworking
import Foundation
import HTTPTypes

// The types of apple/swift-http-types, and those of AtomNetworking.

extension HeaderFields {
    /// The same fields, in the same order, with repeats and as they were written.
    public init(_ fields: HTTPFields) {
        self.init(fields.map { HeaderItem(name: $0.name.rawName, value: $0.value) })
    }
}

extension HTTPFields {
    /// The same fields, in the same order, with repeats and as they were written.
    ///
    /// A field whose name isn't a token is left out, and control characters in a
    /// value become spaces: `HTTPField` can't have them.
    public init(_ fields: HeaderFields) {
        self.init()
        for field in fields {
            if let name = HTTPField.Name(field.name) { append(HTTPField(name: name, value: field.value)) }
        }
    }
}

extension HTTPMethod {
    /// The method of this name, without a body.
    public init(_ method: HTTPRequest.Method) {
        self =
            switch method {
            case .delete: .delete
            case .get: .get
            case .head: .head
            case .options: .options
            case .patch: .patch(Data())
            case .post: .post(Data())
            case .put: .put(Data())
            default: .token(method.rawValue)
            }
    }
}

extension HTTPRequest.Method {
    /// The name of the method; `nil` if that isn't a token.
    public init?(_ method: HTTPMethod) { self.init(method.name) }
}

extension HTTPRequest {
    /// What a transport has to send, without its body; `nil` if the method isn't a token.
    ///
    /// One of the fields may be a credential.
    public init?(_ request: TransportRequest) {
        guard let method = Method(request.method) else { return nil }
        let target = request.target
        let isUsual = target.port == (target.scheme == .https ? 443 : 80)
        self.init(
            method: method, scheme: target.scheme.rawValue,
            authority: isUsual ? target.host : "\(target.host):\(target.port)", path: target.pathAndQuery,
            headerFields: HTTPFields(request.headerFields))
    }
}

extension HTTPResponse {
    /// Status and header fields; `nil` if there is no status of three digits.
    public init?(_ response: AtomResponse) {
        guard let code = response.statusCode, (100...999).contains(code) else { return nil }
        self.init(status: Status(code: code), headerFields: HTTPFields(response.headerFields))
    }
}

extension TransportResponse {
    /// Status and header fields.
    public init(_ response: HTTPResponse) {
        self.init(statusCode: response.status.code, headerFields: HeaderFields(response.headerFields))
    }
}
