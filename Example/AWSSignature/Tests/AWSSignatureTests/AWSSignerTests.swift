import AWSSignature
import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// A request as AWS's test suite and S3's documentation show it.
private struct Example: Requestable {
    var service = "service"
    var method: HTTPMethod = .get
    var pathText = "/"
    var queryItems: [QueryItem]?
    var headerItems: [HeaderItem]?
    var body: RequestBody?

    var isOfS3: Bool { service == "s3" }

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(host: isOfS3 ? "examplebucket.s3.amazonaws.com" : "example.amazonaws.com")
    }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
}

@Suite(.limited) struct AWSSignerTests {
    /// Sends a request into a script and returns what arrived there.
    private func sent(_ endpoint: Example, credentials: AWSCredentials? = nil) async throws -> RecordedRequest {
        let date = try Date(endpoint.isOfS3 ? "2013-05-24T00:00:00Z" : "2015-08-30T12:36:00Z", strategy: .iso8601)
        let credentials = credentials ?? (endpoint.isOfS3 ? .exampleOfS3 : .example)
        return try await Atom.withScript(
            .status(200), clock: ManualClock(date: date),
            configure: {
                $0.signers = [AWSSigner(service: endpoint.service, region: "us-east-1") { credentials }]
            },
            test: { atom, wire in
                try await atom.enqueue(endpoint).resume()
                return try #require(wire.requests.first)
            })
    }

    @Test func theFieldIsThatOfTheDocumentation() async throws {
        let request = try await sent(Example())
        #expect(
            request["Authorization"]
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=host;x-amz-date, "
                + "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        #expect(request["X-Amz-Date"] == "20150830T123600Z")
        #expect(request["X-Amz-Content-Sha256"] == nil)
    }

    @Test(
        "The signatures of AWS's test suite, and of S3's documentation",
        arguments: [
            (Example(method: .post), "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                Example(queryItems: ["Param2": "value2", "Param1": "value1"]),
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
            (
                Example(
                    method: .post,
                    body: .data(Data("Param1=value1".utf8), contentType: "application/x-www-form-urlencoded")),
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
            ),
            (
                Example(service: "s3", pathText: "/test.txt", headerItems: ["Range": "bytes=0-9"]),
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                Example(service: "s3", queryItems: ["lifecycle": ""]),
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                Example(service: "s3", queryItems: ["prefix": "J", "max-keys": "2"]),
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ])
    fileprivate func signatures(example: Example, signature: String) async throws {
        #expect(try await sent(example)["Authorization"]?.hasSuffix("Signature=\(signature)") == true)
    }

    @Test func temporaryCredentialsSendTheirToken() async throws {
        var credentials = AWSCredentials.example
        credentials.sessionToken = "session-token"
        let request = try await sent(Example(), credentials: credentials)
        #expect(request["X-Amz-Security-Token"] == "session-token")
        #expect(request["Authorization"]?.contains("SignedHeaders=host;x-amz-date;x-amz-security-token,") == true)
        #expect(!"\(credentials)".contains("token") && !"\(credentials)".contains("wJalr"))
    }

    @Test func anAttemptThatIsSentAgainIsSignedAgain() async throws {
        let clock = ManualClock()
        try await Atom.withScript(
            .computed { _ in
                clock.shiftDate(by: 5)
                return .status(503)
            }, .status(200), clock: clock,
            configure: {
                $0.retryPolicy = RetryPolicy(maximumAttempts: 2, baseDelay: .seconds(2), maximumDelay: .seconds(2))
                $0.signers = [AWSSigner(service: "service", region: "us-east-1") { .example }]
            },
            test: { atom, wire in
                async let response = atom.enqueue(Example()).resume()
                await wire.advance(by: .seconds(20))
                _ = try await response
                #expect(Set(wire.requests.map { $0["Authorization"] }).count == 2)
            })
    }

    @Test func aBodyThatIsNotInMemoryIsRefusedButForS3() async throws {
        let file = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
        try Data("flight,seat".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var endpoint = Example(service: "s3", method: .put, body: .file(file, contentType: "text/csv"))
        let request = try await sent(endpoint)
        #expect(request["X-Amz-Content-Sha256"] == "UNSIGNED-PAYLOAD")

        endpoint.service = "service"
        let (atom, wire) = Atom.scripted(configure: {
            $0.signers = [AWSSigner(service: "service", region: "us-east-1") { .example }]
        })
        let error = await #expect(throws: AtomError.self) { try await atom.enqueue(endpoint).resume() }
        guard case .authentication(.notSigned(cause: AWSSigner.Failure.bodyNotInMemory, _)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.delivery == .notSent && wire.requests.isEmpty)
    }

    // curl signs by itself; it must come to the same for what it sends.
    @Test(arguments: [
        [], ["--data", "seat=12A&name=Zo%C3%AB", "--header", "Content-Type: application/x-www-form-urlencoded"],
    ])
    func curlSignsTheSame(body: [String]) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let curl = Process()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments =
            [
                "curl", "--silent", "--show-error", "--noproxy", "*", "--aws-sigv4", "aws:amz:us-east-1:service",
                "--user", "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            ] + body + [server.url("/flights/AS4?seat=12A&with=").absoluteString]
        curl.standardOutput = FileHandle.nullDevice
        try curl.run()
        curl.waitUntilExit()
        let theirs = try #require(server.requests.first)

        let date = try #require(theirs["X-Amz-Date"])
        let ours = try await Atom.withScript(
            .status(200), clock: ManualClock(date: try Self.date(date)),
            configure: {
                $0.adapters = [ToServer(base: try! BaseURL(scheme: .http, host: server.host, port: server.port))]
                $0.signers = [AWSSigner(service: "service", region: "us-east-1") { .example }]
            },
            test: { atom, wire in
                var endpoint = Example(pathText: "/flights/AS4", queryItems: ["seat": "12A", "with": ""])
                if let type = theirs["Content-Type"] {
                    endpoint.method = .post
                    endpoint.body = .data(theirs.body, contentType: type)
                }
                try await atom.enqueue(endpoint).resume()
                return try #require(wire.requests.first?["Authorization"])
            })
        #expect(ours == theirs["Authorization"])
    }

    /// `20150830T123600Z` as a date.
    private static func date(_ text: String) throws -> Date {
        try Date(
            text,
            strategy: .iso8601.year().month().day().time(includingFractionalSeconds: false)
                .dateSeparator(.omitted).timeSeparator(.omitted).timeZone(separator: .omitted))
    }
}

/// Sends everything to one server.
private struct ToServer: RequestAdapter {
    let base: BaseURL

    func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) { request.baseURL = base }
}

extension AWSCredentials {
    /// The keys of AWS's test suite.
    fileprivate static let example = AWSCredentials(
        accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")

    /// The keys of S3's documentation.
    fileprivate static let exampleOfS3 = AWSCredentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
}
