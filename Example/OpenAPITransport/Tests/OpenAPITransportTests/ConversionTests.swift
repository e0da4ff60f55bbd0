import AtomNetworking
import Foundation
import HTTPTypes
import OpenAPITransport
import Testing

/// The types of HTTPTypes, and those of the SDK.
@Suite(.limited) struct ConversionTests {
    private static let items: [HeaderItem] = [
        "Accept": "text/plain", "x-Tag": "a", "X-Tag": "b, c", "Set-Cookie": "a=1", "Set-Cookie": "b=2; Path=/",
        "X-Name": "Zoë",
    ]
    private let fields = HeaderFields(Self.items)

    @Test func aResponseHasItsStatusAndItsFieldsInOrderAndAsWritten() throws {
        let head = try #require(HTTPResponse(AtomResponse(statusCode: 404, headerFields: fields)))
        #expect(head.status == .notFound)
        #expect(head.headerFields.map(\.name.rawName) == Self.items.map(\.name))
        #expect(head.headerFields.map(\.value) == Self.items.map(\.value))
        let received = TransportResponse(head)
        #expect(received.statusCode == 404 && received.headerFields == fields)
    }

    @Test func whatTheOtherTypeCannotHaveIsLeftOut() {
        let impossible = HTTPFields(HeaderFields(["not a token": "a", "": "b", "X-Tag": "c\r\nd"]))
        #expect(HeaderFields(impossible) == HeaderFields(["X-Tag": "c  d"]))
        #expect(HTTPRequest.Method(.token("not a token")) == nil)
        for code in [nil, 0, 99, 1000, -1] { #expect(HTTPResponse(AtomResponse(statusCode: code)) == nil) }
    }

    @Test(
        arguments: [
            (.get, .get), (.head, .head), (.post, .post(Data())), (.put, .put(Data())), (.patch, .patch(Data())),
            (.delete, .delete), (.options, .options), (.query, .token("QUERY")),
        ] as [(HTTPRequest.Method, HTTPMethod)])
    func methodsHaveTheSameName(theirs: HTTPRequest.Method, ours: HTTPMethod) {
        #expect(HTTPMethod(theirs) == ours)
        #expect(HTTPRequest.Method(ours) == theirs)
        // Adapters switch over the cases.
        let isToken = if case .token = HTTPMethod(theirs) { true } else { false }
        #expect(isToken == (theirs == .query))
    }

    @Test(
        arguments: [
            (.https, nil, "api.example.com"), (.https, 443, "api.example.com"), (.https, 80, "api.example.com:80"),
            (.http, 8080, "api.example.com:8080"),
        ] as [(BaseURLScheme, Int?, String)])
    func aRequestOfATransportHasItsTarget(scheme: BaseURLScheme, port: Int?, authority: String) throws {
        let base = try BaseURL(scheme: scheme, host: "api.example.com", port: port)
        let request = try TransportRequest(
            method: "PATCH", base: base, path: URLPath("/a%2Fb"), queryItems: ["c": "d e"], headerFields: fields)
        let head = try #require(HTTPRequest(request))
        #expect(head.method == .patch && head.scheme == scheme.rawValue && head.authority == authority)
        #expect(head.path == "/a%2Fb?c=d%20e" && HeaderFields(head.headerFields) == fields)
    }
}
