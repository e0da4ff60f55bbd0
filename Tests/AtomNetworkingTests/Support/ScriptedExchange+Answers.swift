import AtomNetworking
import AtomNetworkingTesting
import Foundation

// Short spellings for a transport whose exchanges the test answers by hand.

extension ScriptedTransport {
    typealias Script = @Sendable (ScriptedExchange) -> Void

    /// A transport that reads no body, and of which each call sends its events
    /// before it returns.
    ///
    /// - Parameter script: Called inside `start` with every exchange.
    static func held(
        exchangesPerOrigin: Int? = nil, endsOnCancel: Bool = true, script: Script? = nil
    ) -> ScriptedTransport {
        let answer = ScriptedResponse.held(endsOnCancel: endsOnCancel) { script?($0) }
        return ScriptedTransport(
            [answer.always], exchangesPerOrigin: exchangesPerOrigin, readsBodies: false, delivery: .immediate)
    }

    /// How many exchanges were cancelled before their end.
    var cancelled: Int { exchanges.count { $0.isCancelled } }
}

extension ScriptedExchange {
    /// Sends a complete response, in which only these header fields are.
    func answer(_ body: String = "", status: Int = 200, headers: [(String, String)] = []) {
        answer(data: Data(body.utf8), status: status, headers: headers)
    }

    func answer(data: Data, status: Int = 200, headers: [(String, String)] = []) {
        let fields = HeaderFields(headers.map { HeaderItem(name: $0.0, value: $0.1) })
        send(.response(TransportResponse(statusCode: status, headerFields: fields)))
        if !data.isEmpty { send(.data(data)) }
        send(.finished)
    }

    /// Sends a redirect.
    func redirect(_ status: Int = 302, to location: String) {
        answer(.redirect(to: location, status: status))
    }

    /// Responds to a refresh with the tokens of a number.
    func grant(_ number: Int, lifetime: Int = 3_600) {
        answer(#"{"access_token":"A\#(number)","expires_in":\#(lifetime),"refresh_token":"R\#(number)"}"#)
    }

    /// Responds to a refresh with an error of RFC 6749 §5.2.
    func deny(_ code: String, status: Int = 400) {
        answer(#"{"error":"\#(code)"}"#, status: status)
    }

    /// The access token of the request.
    var token: String? { request.bearerToken }

    /// The form fields of the request.
    var form: [String: String] {
        Dictionary(request.formItems.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }
}
