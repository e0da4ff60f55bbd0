/// The parameters of a form-encoded request, each at most once.
struct FormParameters {
    private let values: [String: String]

    /// Rejects other content types and repeated parameters; ignores empty
    /// parameters, as if they were missing (RFC 6749 §3.2).
    init(_ call: Call) throws(OAuthError) {
        guard call.mediaType == "application/x-www-form-urlencoded" else {
            throw OAuthError(.invalidRequest, "The body must be application/x-www-form-urlencoded.")
        }
        guard let pairs = FormEncoding.decode(String(decoding: call.body, as: UTF8.self)) else {
            throw OAuthError(.invalidRequest, "The body is not properly form-encoded.")
        }
        var values: [String: String] = [:]
        for (name, value) in pairs where !value.isEmpty {
            guard values.updateValue(value, forKey: name) == nil else {
                throw OAuthError(.invalidRequest, "A parameter is given twice.")
            }
        }
        self.values = values
    }

    subscript(name: String) -> String? { values[name] }

    func required(_ name: String) throws(OAuthError) -> String {
        guard let value = values[name] else {
            throw OAuthError(.invalidRequest, "The parameter \(name) is missing.")
        }
        return value
    }
}

/// The grant in a request.
enum Grant {
    case password(username: String, password: String)
    case refreshToken(String)
    case clientCredentials

    init(_ form: FormParameters) throws(OAuthError) {
        switch try form.required("grant_type") {
        case "password":
            self = .password(username: try form.required("username"), password: try form.required("password"))
        case "refresh_token":
            self = .refreshToken(try form.required("refresh_token"))
        case "client_credentials":
            self = .clientCredentials
        default:
            throw OAuthError(.unsupportedGrantType, "This server grants password, refresh_token, client_credentials.")
        }
    }
}
