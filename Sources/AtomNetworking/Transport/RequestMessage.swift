/// Method, URL, header fields and body of a request, without what is added when it is sent.
///
/// A value in an object: it goes from hand to hand, and each copy of its parts would count the references in them.
struct RequestMessage: Sendable {
    private final class Storage: Sendable {
        let method: String
        let target: TargetURL
        let headerFields: HeaderFields
        let body: TransportBody?

        init(method: String, target: TargetURL, headerFields: HeaderFields, body: TransportBody?) {
            self.method = method
            self.target = target
            self.headerFields = headerFields
            self.body = body
        }
    }

    private var storage: Storage

    init(method: String, target: TargetURL, headerFields: HeaderFields, body: TransportBody?) {
        storage = Storage(method: method, target: target, headerFields: headerFields, body: body)
    }

    var method: String {
        get { storage.method }
        set { self = RequestMessage(method: newValue, target: target, headerFields: headerFields, body: body) }
    }

    var target: TargetURL {
        get { storage.target }
        set { self = RequestMessage(method: method, target: newValue, headerFields: headerFields, body: body) }
    }

    var headerFields: HeaderFields {
        get { storage.headerFields }
        set { self = RequestMessage(method: method, target: target, headerFields: newValue, body: body) }
    }

    var body: TransportBody? {
        get { storage.body }
        set { self = RequestMessage(method: method, target: target, headerFields: headerFields, body: newValue) }
    }
}
