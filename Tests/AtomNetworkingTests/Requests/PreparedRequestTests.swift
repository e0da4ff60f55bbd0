import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("An endpoint is read once and checked before anything is sent", .limited)
struct PreparedRequestTests {
    private static func prepare(_ endpoint: RecordingEndpoint) throws(AtomError) -> PreparedRequest {
        try PreparedRequest(endpoint, timeout: ServiceTimeout(request: 5, resource: 6))
    }

    @Test("Every member is read exactly once")
    func readOnce() throws {
        let endpoint = RecordingEndpoint(
            path: "/a", method: .post, headerItems: ["X-A": "1", "X-B": "2"], queryItems: ["q": "1"],
            body: .json([1]), timeout: ServiceTimeout(request: 1, resource: 2), acceptableStatusCodes: 200...404)
        _ = try Self.prepare(endpoint)
        #expect(
            endpoint.reads == [
                "baseURL()": 1, "path()": 1, "method": 1, "headerItems": 1, "queryItems": 1, "body": 1,
                "requiresAuthorization": 1, "timeout": 1, "retryPolicy": 1, "idempotency": 1,
                "sharesIdenticalRequests": 1, "allowsDeduplication": 1, "acceptableStatusCodes": 1,
            ])
    }

    @Test("No member is read twice when the request is refused half-way")
    func readOnceWhenRefused() {
        for endpoint in [
            RecordingEndpoint(host: "a b"), RecordingEndpoint(path: "a"), RecordingEndpoint(method: .token("A B")),
            RecordingEndpoint(headerItems: ["a b": ""]), RecordingEndpoint(body: .data(Data())),
            RecordingEndpoint(timeout: ServiceTimeout(request: 0, resource: 0)),
        ] {
            #expect(refusal { () throws(AtomError) in try Self.prepare(endpoint) } != nil)
            #expect(!endpoint.reads.isEmpty && endpoint.reads.values.allSatisfy { $0 == 1 })
        }
    }

    @Test("What the endpoint says is what is prepared")
    func values() throws {
        let request = try Self.prepare(
            RecordingEndpoint(
                path: "/v1/seats", method: .delete, headerItems: ["X-B": "2", "X-A": "1", "X-B": "3"],
                queryItems: ["a": "b c"], acceptableStatusCodes: 200...404))
        #expect(request.method == "DELETE")
        #expect(request.target.absoluteString == "https://api.example.com/v1/seats?a=b%20c")
        #expect(request.headerFields.map(\.name) == ["X-B", "X-A"])
        #expect(request.headerFields.values(for: "x-b") == ["3"])
        #expect(request.body == nil)
        #expect(request.requiresAuthorization)
        #expect(request.acceptableStatusCodes == 200...404)
        #expect(request.timeouts.idle == .seconds(5))
        #expect(request.timeouts.total == .seconds(6))
    }

    @Test("Only a GET may share, and only if the endpoint says so")
    func sharing() throws {
        func shares(_ endpoint: RecordingEndpoint) throws -> Bool {
            try Self.prepare(endpoint).sharesIdenticalRequests
        }
        #expect(try shares(RecordingEndpoint(sharesIdenticalRequests: true)))
        #expect(try !shares(RecordingEndpoint()))
        for method in [HTTPMethod.head, .delete, .options, .post, .put, .patch, .token("get")] {
            #expect(try !shares(RecordingEndpoint(method: method, sharesIdenticalRequests: true)), "\(method)")
        }
    }

    @Test("An endpoint's own timeouts replace the service's")
    func ownTimeout() throws {
        let request = try Self.prepare(RecordingEndpoint(timeout: ServiceTimeout(request: 0.25, resource: 90)))
        #expect(request.timeouts.idle == .milliseconds(250))
        #expect(request.timeouts.total == .seconds(90))
    }

    @Test("A body with a media type brings it; bytes of POST, PUT and PATCH are a form, others an octet stream")
    func contentTypes() throws {
        let bytes = Data("x".utf8)
        let table: [(HTTPMethod, RequestBody?, String?)] = [
            (.post(bytes), nil, "application/x-www-form-urlencoded"),
            (.put(bytes), nil, "application/x-www-form-urlencoded"),
            (.patch(bytes), nil, "application/x-www-form-urlencoded"),
            (.token("POST", bytes), nil, "application/x-www-form-urlencoded"),
            (.delete(bytes), nil, "application/octet-stream"),
            (.token("PROPFIND", bytes), nil, "application/octet-stream"),
            (.post(Data()), nil, nil),
            (.post, nil, nil),
            (.post, .data(bytes), "application/octet-stream"),
            (.post, .data(bytes, contentType: "image/png"), "image/png"),
            (.post, .data(Data(), contentType: "image/png"), "image/png"),
            (.post, .json([1]), "application/json"),
            (.put, .form([]), "application/x-www-form-urlencoded"),
            (.delete, .json([1]), "application/json"),
        ]
        for (method, body, type) in table {
            let request = try Self.prepare(RecordingEndpoint(method: method, body: body))
            #expect(request.headerFields["content-type"] == type, "\(method)")
        }
    }

    @Test("A Content-Type among the header items wins, in any case, and is not repeated")
    func ownContentType() throws {
        let item = HeaderItem(name: "content-TYPE", value: "application/vnd.api+json")
        for (method, body) in [(HTTPMethod.post(Data("x".utf8)), nil), (.post, RequestBody.json([1]))] {
            let request = try Self.prepare(RecordingEndpoint(method: method, headerItems: [item], body: body))
            #expect(request.headerFields.values(for: "Content-Type") == ["application/vnd.api+json"])
        }
    }

    @Test("A media type that would start another header field is refused")
    func injectedContentType() {
        let endpoint = RecordingEndpoint(method: .post, body: .data(Data(), contentType: "a/b\r\nEvil: 1"))
        guard case .invalidHeader(let violation) = refusal(of: { () throws(AtomError) in try Self.prepare(endpoint) })
        else {
            Issue.record("It was accepted")
            return
        }
        #expect(violation.subject == "Content-Type")
    }

    @Test("The empty data of POST, PUT and PATCH is no body, that of other methods is one")
    func emptyBody() throws {
        #expect(try Self.prepare(RecordingEndpoint(method: .post(Data()))).body?.data == nil)
        #expect(try Self.prepare(RecordingEndpoint(method: .token("X", Data()))).body?.data == Data())
        #expect(try Self.prepare(RecordingEndpoint(method: .post)).body?.data == nil)
        #expect(try Self.prepare(RecordingEndpoint(method: .delete)).body == nil)
    }

    @Test(
        "Two bodies are refused",
        arguments: [
            HTTPMethod.post(Data([1])), .put(Data([1])), .patch(Data([1])), .delete(Data([1])), .token("X", Data()),
        ])
    func twoBodies(_ method: HTTPMethod) {
        let endpoint = RecordingEndpoint(method: method, body: .data(Data([1])))
        guard case .invalidBody(let violation) = refusal(of: { () throws(AtomError) in try Self.prepare(endpoint) })
        else {
            Issue.record("They were accepted")
            return
        }
        #expect(violation.reason.contains("two bodies"))
        #expect(violation.subject == method.name)
    }

    @Test(
        "A method that is sent without a body refuses one",
        arguments: [
            (HTTPMethod.get, RequestBody.json([1])), (.head, .json([1])), (.get, .data(Data())),
            (.token("TRACE"), .json([1])), (.token("CONNECT"), .json([1])), (.token("GET", Data()), nil),
            (.token("HEAD", Data([1])), nil), (.token("TRACE", Data([1])), nil),
        ] as [(HTTPMethod, RequestBody?)])
    func bodyOnGet(_ method: HTTPMethod, _ body: RequestBody?) {
        let endpoint = RecordingEndpoint(method: method, body: body)
        guard case .invalidMethod(let violation) = refusal(of: { () throws(AtomError) in try Self.prepare(endpoint) })
        else {
            Issue.record("It was accepted")
            return
        }
        #expect(violation.subject == method.name)
        #expect(violation.reason.contains("without a body"))
    }

    @Test(
        "Methods may carry a body unless RFC 9110 says otherwise",
        arguments: [HTTPMethod.post, .put, .patch, .delete, .options, .token("PROPFIND"), .token("REPORT")])
    func bodyElsewhere(_ method: HTTPMethod) throws {
        let request = try Self.prepare(RecordingEndpoint(method: method, body: .data(Data([7]))))
        #expect(request.body?.data == Data([7]))
        #expect(request.method == method.name)
    }

    @Test(
        "A method that is not a token is rejected",
        arguments: ["", "G T", "GET\r\nX: y", "GET ", "GET /x HTTP/1.1", "GÉT", "GET:", "\0", "\t"])
    func invalidMethod(_ name: String) {
        let endpoint = RecordingEndpoint(method: .token(name))
        guard case .invalidMethod(let violation) = refusal(of: { () throws(AtomError) in try Self.prepare(endpoint) })
        else {
            Issue.record("It was accepted")
            return
        }
        #expect(violation.reason.contains("token"))
        #expect(violation.subject.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test("An endpoint with its own Authorization header, or without authorization, is not signed")
    func signing() throws {
        #expect(try Self.prepare(RecordingEndpoint()).requiresAuthorization)
        #expect(try !Self.prepare(RecordingEndpoint(requiresAuthorization: false)).requiresAuthorization)
        for name in ["Authorization", "authorization", "AUTHORIZATION"] {
            let request = try Self.prepare(RecordingEndpoint(headerItems: [HeaderItem(name: name, value: "Token x")]))
            #expect(!request.requiresAuthorization)
            #expect(request.headerFields.values(for: "Authorization") == ["Token x"])
        }
        #expect(try Self.prepare(RecordingEndpoint(headerItems: ["Proxy-Authorization": "x"])).requiresAuthorization)
    }

    @Test("Fields that the transport writes are left out, by name, in any case")
    func omittedFields() throws {
        let request = try Self.prepare(
            RecordingEndpoint(
                method: .post(Data("x".utf8)),
                headerItems: [
                    "Host": "a", "X-A": "1", "content-length": "7", "Connection": "close",
                    "Transfer-Encoding": "chunked",
                    "Keep-Alive": "1", "Proxy-Connection": "1", "TE": "trailers", "Trailer": "X", "UPGRADE": "h2c",
                ]))
        #expect(request.headerFields.map(\.name) == ["X-A", "Content-Type"])
        #expect(
            request.omittedFields == [
                "Host", "content-length", "Connection", "Transfer-Encoding", "Keep-Alive", "Proxy-Connection", "TE",
                "Trailer", "UPGRADE",
            ])
        #expect(try Self.prepare(RecordingEndpoint(headerItems: ["X-A": "1"])).omittedFields.isEmpty)
    }

    @Test(
        "A field that is left out may hold no line break and no NUL all the same",
        arguments: ["\r", "\n", "\0", "\r\n"])
    func refusedOmittedField(_ character: String) {
        for name in ["Host", "Content-Length", "Connection"] {
            let endpoint = RecordingEndpoint(headerItems: [HeaderItem(name: name, value: "a\(character)b")])
            let error = refusal { () throws(AtomError) in try Self.prepare(endpoint) }
            #expect(error == .invalidHeader(.init(reason: "")))
            #expect(error?.violation.subject == name)
        }
    }

    @Test("What an endpoint throws itself arrives unchanged")
    func ownError() {
        struct Failing: Requestable {
            func baseURL() throws(AtomError) -> BaseURL { throw .requestable(.invalidBaseURL) }
        }
        let error = refusal { () throws(AtomError) in try PreparedRequest(Failing(), timeout: ServiceTimeout()) }
        #expect(error == .invalidBaseURL)
    }
}

@Suite("Request bodies", .limited)
struct RequestBodyTests {
    private struct Seat: Encodable {
        var row = 12
        var score: Double
    }

    @Test("JSON is encoded with the encoder given, bytes and forms are what they are")
    func bytes() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.keyEncodingStrategy = .convertToSnakeCase
        #expect(
            try RequestBody.json(["b": 1, "a": 2], encoder: encoder).prepared().data == Data(#"{"a":2,"b":1}"#.utf8))
        #expect(try RequestBody.data(Data([1, 2])).prepared().data == Data([1, 2]))
        #expect(
            try RequestBody.form(["grant type": "a&b=c", "s": "+%é"]).prepared().data
                == Data("grant+type=a%26b%3Dc&s=%2B%25%C3%A9".utf8))
        #expect(try RequestBody.form([]).prepared().data == Data())
    }

    @Test("JSON without an encoder uses the service's")
    func serviceEncoder() throws {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let body = RequestBody.json(["seatRow": 1])
        #expect(try body.prepared(encoder: encoder).data == Data(#"{"seatRow":1}"#.utf8))
        struct Seat: Encodable { let seatRow = 1 }
        #expect(try RequestBody.json(Seat()).prepared(encoder: encoder).data == Data(#"{"seat_row":1}"#.utf8))
        #expect(
            try RequestBody.json(Seat(), encoder: JSONEncoder()).prepared(encoder: encoder).data
                == Data(#"{"seatRow":1}"#.utf8))

        let transport = ScriptedTransport.held { $0.answer("{}") }
        var configuration = ServiceConfiguration(dispatchQueue: .global())
        configuration.transport = transport
        configuration.encoder = encoder
        Atom(serviceConfiguration: configuration)
            .enqueue(RecordingEndpoint(method: .post, body: .json(Seat()), requiresAuthorization: false)).resume { _ in
            }
        #expect(transport.requests.first?.body == Data(#"{"seat_row":1}"#.utf8))
    }

    @Test("A value that can't be encoded is an invalid body, and the error says where")
    func encodingError() {
        let body = RequestBody.json(["seats": [Seat(score: .infinity)]])
        let error = refusal { () throws(AtomError) in try body.prepared() }
        guard case .invalidBody(let violation) = error else {
            Issue.record("It was encoded")
            return
        }
        #expect(violation.reason.contains("score"))
        #expect(violation.reason.contains("could not be encoded"))
    }

    @Test("An error of the model's own is named by its type only")
    func foreignError() {
        struct Refusing: Encodable {
            struct Secretive: Error { let text = "hunter2" }
            func encode(to encoder: any Encoder) throws { throw Secretive() }
        }
        let error = refusal { () throws(AtomError) in try RequestBody.json(Refusing()).prepared() }
        #expect(error?.description.contains("Secretive") == true)
        #expect(error?.description.contains("hunter2") == false)
    }

    @Test("A request whose body can't be encoded is refused before it is sent")
    func refusedRequest() {
        let endpoint = RecordingEndpoint(method: .post, body: .json([Double.nan]))
        guard
            case .invalidBody = refusal(of: { () throws(AtomError) in
                try PreparedRequest(endpoint, timeout: ServiceTimeout())
            })
        else {
            Issue.record("It was accepted")
            return
        }
    }
}

@Suite("Timeouts of a request", .limited)
struct ServiceTimeoutTests {
    @Test("Thirty seconds are the default of both")
    func defaults() {
        #expect(ServiceTimeout() == ServiceTimeout(request: 30, resource: 30))
    }

    @Test(
        "Fractions count, and more than a year is a year",
        arguments: [
            (0.25, Duration.milliseconds(250)), (0.001, .milliseconds(1)), (1, .seconds(1)),
            (30.5, .milliseconds(30_500)),
            (31_536_000, .seconds(31_536_000)), (31_536_001, .seconds(31_536_000)), (1e18, .seconds(31_536_000)),
            (.greatestFiniteMagnitude, .seconds(31_536_000)), (.infinity, .seconds(31_536_000)),
        ])
    func valid(_ seconds: Double, is duration: Duration) throws {
        #expect(try ServiceTimeout(request: seconds, resource: 1).checked().pair == (duration, .seconds(1)))
        #expect(try ServiceTimeout(request: 1, resource: seconds).checked().pair == (.seconds(1), duration))
    }

    @Test(
        "A value that is not a positive number is rejected, and the error names the timeout",
        arguments: [0, -0.0, -1, -1e18, -.infinity, .nan, .signalingNaN])
    func invalid(_ seconds: Double) {
        for (timeout, name) in [
            (ServiceTimeout(request: seconds), "request"), (ServiceTimeout(resource: seconds), "resource"),
        ] {
            guard case .invalidTimeout(let violation) = refusal(of: { () throws(AtomError) in try timeout.checked() })
            else {
                Issue.record("\(name): \(seconds) was accepted")
                continue
            }
            #expect(violation.subject.hasPrefix("\(name): "))
        }
    }

    @Test("The smallest positive number traps nothing")
    func smallest() throws {
        let (idle, total) = try ServiceTimeout(request: Double.leastNonzeroMagnitude, resource: 1e-18).checked().pair
        #expect(idle >= .zero)
        #expect(total >= .zero)
    }
}

extension RequestTimeouts {
    fileprivate var pair: (idle: Duration, total: Duration) { (idle, total) }
}
