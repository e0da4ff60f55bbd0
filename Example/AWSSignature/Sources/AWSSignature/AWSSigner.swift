import AtomNetworking
import Crypto
import Foundation

/// Signs each attempt with AWS Signature Version 4.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.signers = [
///     AWSSigner(service: "s3", region: "eu-central-1") {
///         AWSCredentials(accessKeyID: "…", secretAccessKey: "…")
///     }
/// ]
/// ```
///
/// The service has ``AuthenticationMethod/none``, since the signature is in `Authorization`. An attempt that is sent
/// again is signed again, with the date of then.
///
/// What is signed: the method, the path, the query, the body, `Host`, the fields of AWS (`X-Amz-…`), `Content-MD5`,
/// `Content-Type`, `Date` and `Range`. Other fields may be changed on their way.
public struct AWSSigner: RequestSigner {
    /// Why a request can't be signed.
    public enum Failure: Error, Hashable, CustomStringConvertible {
        /// The body is a file or a stream. Only S3 takes one whose bytes aren't signed, and only over https.
        case bodyNotInMemory

        /// Says it in words.
        public var description: String {
            "the body's bytes are not in memory; AWS signs them, except those of an upload to S3 over https"
        }
    }

    private static let signedFields: Set<String> = ["content-md5", "content-type", "date", "range"]
    private static let algorithm = "AWS4-HMAC-SHA256"

    private let service: String
    private let region: String
    private let credentials: @Sendable () throws -> AWSCredentials

    /// Creates a signer for one of AWS's services in one of its regions.
    ///
    /// - Parameters:
    ///   - service: The service's name as it signs it, for example `s3`,
    ///     `dynamodb`, `execute-api`.
    ///   - region: The region, for example `eu-central-1`.
    ///   - credentials: The keys of now. It is called for each attempt, on any
    ///     thread, and must not wait: renew temporary keys elsewhere.
    public init(service: String, region: String, credentials: @escaping @Sendable () throws -> AWSCredentials) {
        self.service = service
        self.region = region
        self.credentials = credentials
    }

    /// Adds `X-Amz-Date`, what the service and the keys need besides, and `Authorization`.
    public func sign(_ request: inout SignableRequest) throws {
        let credentials = try credentials()
        let time = Self.time(of: request.date)
        let payload = try payloadHash(of: request)
        try request.setHeader("X-Amz-Date", to: time)
        if let token = credentials.sessionToken { try request.setHeader("X-Amz-Security-Token", to: token) }
        if isS3 { try request.setHeader("X-Amz-Content-Sha256", to: payload) }

        let (names, lines) = Self.fields(of: request)
        let canonicalRequest = [
            request.method, path(of: request.target), Self.query(of: request.target), lines, names, payload,
        ].joined(separator: "\n")
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let text = [Self.algorithm, time, scope, Self.hash(Data(canonicalRequest.utf8))].joined(separator: "\n")
        let key = key(of: credentials, on: String(time.prefix(8)))
        let signature = Self.hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        try request.setHeader(
            "Authorization",
            to: "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope), "
                + "SignedHeaders=\(names), Signature=\(signature)")
    }

    private var isS3: Bool { service == "s3" }

    /// The time as AWS writes it, for example `20150830T123600Z`.
    private static func time(of date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: false)
                .dateSeparator(.omitted).timeSeparator(.omitted).timeZone(separator: .omitted))
    }

    private func payloadHash(of request: SignableRequest) throws -> String {
        guard let body = request.body else { return Self.hash(Data()) }
        if let data = body.data { return Self.hash(data) }
        guard isS3, request.target.scheme == .https else { throw Failure.bodyNotInMemory }
        return "UNSIGNED-PAYLOAD"
    }

    /// The path as the service compares it: S3 decodes what arrives and encodes
    /// it in its own way; all others encode what arrives once more.
    private func path(of target: TargetURL) -> String {
        target.path.split(separator: "/", omittingEmptySubsequences: false)
            .map { Self.encoded(isS3 ? Self.decoded($0) : String($0)) }
            .joined(separator: "/")
    }

    /// The items of the query, encoded and in the order of their bytes.
    private static func query(of target: TargetURL) -> String {
        let (_, query) = halves(target.pathAndQuery[...], at: "?")
        return query.split(separator: "&")
            .map { item in
                let (name, value) = halves(item, at: "=")
                return (name: encoded(decoded(name)), value: encoded(decoded(value)))
            }
            .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }

    /// The names of the fields that are signed, and a line for each of them.
    private static func fields(of request: SignableRequest) -> (names: String, lines: String) {
        var values = ["host": [request.host]]
        for field in request.headerFields {
            let name = field.name.lowercased()
            guard signedFields.contains(name) || name.hasPrefix("x-amz-") else { continue }
            // Spaces that follow each other count as one.
            values[name, default: []].append(field.value.split(separator: " ").joined(separator: " "))
        }
        let sorted = values.sorted { $0.key < $1.key }
        return (
            sorted.map(\.key).joined(separator: ";"),
            sorted.map { "\($0.key):\($0.value.joined(separator: ","))\n" }.joined()
        )
    }

    private func key(of credentials: AWSCredentials, on day: String) -> SymmetricKey {
        var key = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
        for part in [day, region, service, "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        return key
    }

    private static func hash(_ data: Data) -> String { hexadecimal(SHA256.hash(data: data)) }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    /// Encodes all but the unreserved characters (RFC 3986 §2.3).
    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += String(format: "%%%02X", byte)
            }
        }
    }

    private static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }

    private static func halves(_ text: Substring, at separator: Character) -> (Substring, Substring) {
        guard let index = text.firstIndex(of: separator) else { return (text, "") }
        return (text[..<index], text[text.index(after: index)...])
    }
}
