import AtomNetworking
import Foundation
import HTTPTypes
import OpenAPITransport
import Testing

/// The types of HTTPTypes, and those of the SDK.
@Suite struct ConversionTests {
    private static let items: [HeaderItem] = [
        HeaderItem(name: "Accept", value: "text/plain"), HeaderItem(name: "x-Tag", value: "a"),
        HeaderItem(name: "X-Tag", value: "b, c"), HeaderItem(name: "Set-Cookie", value: "a=1"),
        HeaderItem(name: "Set-Cookie", value: "b=2; Path=/"), HeaderItem(name: "X-Name", value: "Zoë"),
    ]

    @Test func fieldsKeepTheirOrderTheirRepeatsAndTheirSpelling() {
        let fields = HTTPFields(HeaderFields(Self.items))
        #expect(fields.map(\.name.rawName) == Self.items.map(\.name))
        #expect(fields.map(\.value) == Self.items.map(\.value))
        #expect(HeaderFields(fields) == HeaderFields(Self.items))
    }

    @Test func whatHTTPFieldsCannotHaveIsLeftOut() {
        let fields = HTTPFields(
            HeaderFields([
                HeaderItem(name: "not a token", value: "a"), HeaderItem(name: "", value: "b"),
                HeaderItem(name: "X-Tag", value: "c\r\nd"),
            ]))
        #expect(fields.map(\.name.rawName) == ["X-Tag"])
        #expect(fields.map(\.value) == ["c  d"])
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

    @Test func theBodyOfAMethodIsNotPartOfItsName() {
        #expect(HTTPRequest.Method(.post(Data([1]))) == .post)
        #expect(HTTPRequest.Method(.token("not a token")) == nil)
    }

    @Test func aResponseHasItsStatusAndItsFields() throws {
        let response = AtomResponse(data: Data([1]), statusCode: 404, headerFields: HeaderFields(Self.items))
        let head = try #require(HTTPResponse(response))
        #expect(head.status == .notFound)
        #expect(HeaderFields(head.headerFields) == HeaderFields(Self.items))
        let received = TransportResponse(head)
        #expect(received.statusCode == 404 && received.headerFields == HeaderFields(Self.items))
    }

    @Test(arguments: [nil, 0, 99, 1000, -1])
    func aResponseWithoutAStatusIsNone(code: Int?) {
        #expect(HTTPResponse(AtomResponse(statusCode: code)) == nil)
    }

    @Test(
        arguments: [
            (.https, nil, "api.example.com"), (.https, 443, "api.example.com"), (.https, 80, "api.example.com:80"),
            (.http, 8080, "api.example.com:8080"),
        ] as [(BaseURLScheme, Int?, String)])
    func aRequestOfATransportHasItsTarget(scheme: BaseURLScheme, port: Int?, authority: String) throws {
        let request = try TransportRequest(
            method: "PATCH", base: BaseURL(scheme: scheme, host: "api.example.com", port: port),
            path: URLPath("/a%2Fb"), queryItems: ["c": "d e"], headerFields: HeaderFields(Self.items))
        let head = try #require(HTTPRequest(request))
        #expect(head.method == .patch && head.scheme == scheme.rawValue && head.authority == authority)
        #expect(head.path == "/a%2Fb?c=d%20e")
        #expect(HeaderFields(head.headerFields) == HeaderFields(Self.items))
    }
}
