import Foundation

/// Makes requests of the endpoints of one ``Atom``: reads, adapts and validates them.
final class RequestPreparation: Sendable {
    /// Used on many threads, which `JSONEncoder` allows as long as it isn't changed.
    private let encoder: JSONEncoder
    /// The timeout after validation, once for all requests.
    private let timeouts: Result<RequestTimeouts, AtomError>
    /// The header fields of every request after validation, or `nil`.
    private let commonFields: Result<PreparedRequest.CommonFields, AtomError>?
    /// Why nothing can be sent, or nothing signed, with this configuration.
    private let refusal: RequestableError?
    private let signingRefusal: AtomError?
    /// Where the credential may be sent.
    private let allowedOrigins: AllowedOrigins
    private let adapters: [any RequestAdapter]
    /// Whose requests are without a session.
    private let ownTenure: Tenure
    private let session: SessionGate?
    private let observers: ObserverChain?
    private let time: any TimeSource

    init(
        _ configuration: ServiceConfiguration, allowedOrigins: AllowedOrigins, signingRefusal: AtomError?,
        tenure: Tenure, session: SessionGate?, observers: ObserverChain?, time: any TimeSource
    ) {
        encoder = configuration.encoder
        timeouts = Result { () throws(AtomError) in try configuration.timeout.checked() }
        let items = configuration.headerItems
        commonFields =
            items.isEmpty ? nil : Result { () throws(AtomError) in try PreparedRequest.CommonFields(items) }
        refusal = configuration.configuration.violation
        adapters = configuration.adapters
        self.signingRefusal = signingRefusal
        self.allowedOrigins = allowedOrigins
        ownTenure = tenure
        self.session = session
        self.observers = observers
        self.time = time
    }

    /// Reads and validates an endpoint, in the caller's isolation.
    func prepare(_ requestable: any Requestable) throws(AtomError) -> PreparedRequest {
        do throws(AtomError) {
            if let refusal { throw .requestable(refusal) }
            let description = try RequestDescription(of: requestable)
            let request =
                adapters.isEmpty && description.link == nil
                ? try PreparedRequest(
                    description, of: observers == nil ? nil : type(of: requestable), timeouts: timeouts,
                    encoder: encoder, common: commonFields)
                : try adaptedRequest(description, of: requestable)
            if request.requiresAuthorization {
                if let signingRefusal { throw signingRefusal }
                guard allowedOrigins.allows(request.target.origin) else { throw refusal(of: request.target.origin) }
            }
            return request
        } catch {
            refused(requestable, error)
            throw error
        }
    }

    /// Tells observers that an endpoint can't be sent.
    func refused(_ requestable: any Requestable, _ error: AtomError) {
        if let observers { RequestObservation.refuse(type(of: requestable), error, observers, time: time) }
    }

    /// Checks that the credential may be sent to a URL to which the app itself sends a request.
    ///
    /// - Returns: How long the app waits for the session.
    func timeouts(signing url: URL) throws(AtomError) -> RequestTimeouts {
        if let refusal { throw .requestable(refusal) }
        // A web socket begins as an HTTP request (RFC 6455 §4.1).
        let schemes = ["ws": "http", "wss": "https"]
        let text = url.absoluteString
        let scheme = text.prefix { $0 != ":" }
        let address = (schemes[scheme.lowercased()] ?? String(scheme)) + text.dropFirst(scheme.count)
        guard let target = TargetURL.resolving(address, against: nil) else {
            throw .refused(
                RequestableError.invalidURL, Redaction.url(text), because: "it is not an http, https, ws or wss URL")
        }
        if let signingRefusal { throw signingRefusal }
        guard allowedOrigins.allows(target.origin) else { throw refusal(of: target.origin) }
        return try timeouts.get()
    }

    /// Lets the adapters change what an endpoint says, and validates it.
    ///
    /// A server's link is signed only where the credential may go, and only there the adapters, the signers and the
    /// service add to it. Apart from ``prepare(_:)``, which most services run for nothing of this.
    @inline(never)
    private func adaptedRequest(
        _ description: RequestDescription, of endpoint: any Requestable
    ) throws(AtomError) -> PreparedRequest {
        var description = description
        var common = commonFields
        let owner = description.link == nil ? ownTenure : session?.tenure ?? ownTenure
        let isTrusted = description.link.map { allowedOrigins.signs($0, in: owner) } ?? true
        if isTrusted {
            for adapter in adapters {
                do {
                    try adapter.adapt(&description, of: endpoint)
                } catch {
                    throw adapter.error(error)
                }
            }
        } else {
            description.requiresAuthorization = false
            common = common?.map { $0.harmless }
        }
        var request = try PreparedRequest(
            description, of: type(of: endpoint), timeouts: timeouts, encoder: encoder, common: common,
            takesSigners: isTrusted)
        if session != nil, let tenure = description.link?.tenure, tenure.hasSameSigner(as: owner) {
            request.tenure = tenure
        }
        return request
    }

    /// Apart from ``prepare(_:)``, which would copy the options for it.
    @inline(never)
    private func refusal(of origin: Origin) -> AtomError {
        allowedOrigins.refusal(
            of: origin,
            option: session == nil ? "BasicCredential.allowedOrigins" : "BearerAuthentication.allowedOrigins")
    }
}
