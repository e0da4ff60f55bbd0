import AtomNetworking

/// Sends requests as another transport does, and brings no cookies home.
///
/// Many servers set cookies with every response, also with one that is the same for everybody. A cache that is one
/// person's doesn't keep a response whose cookies change who is asking.
struct CookielessTransport: Transport {
    let transport: any Transport

    var exchangesPerOrigin: Int? { transport.exchangesPerOrigin }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        transport.start(request) { event in
            guard case .response(let head) = event else { return receive(event) }
            var fields = head.headerFields
            fields["Set-Cookie"] = nil
            receive(
                .response(
                    TransportResponse(
                        statusCode: head.statusCode, headerFields: fields, exchangesPerOrigin: head.exchangesPerOrigin))
            )
        }
    }
}
