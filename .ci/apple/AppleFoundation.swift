// What Foundation declares on Apple platforms and not on Linux, written after
// Apple's documentation. Nothing here is ever run: `.ci/check-apple` type-checks
// the SDK against it.
//
// Where Apple's SDKs differ from one another, the strictest form is used. Only
// what the SDK uses is declared, so that a mistyped name is an error. A delegate
// method that is optional on Apple platforms is required here, because there a
// method with a wrong signature is never called.

@_exported import Darwin
@_exported import Foundation

extension ProcessInfo {
    @available(macOS, unavailable)
    public func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void) {}
}

extension URLResourceKey {
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public static let volumeAvailableCapacityForImportantUsageKey = URLResourceKey(rawValue: "")
}

extension URLResourceValues {
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public var volumeAvailableCapacityForImportantUsage: Int64? { fatalError() }
}

public class URLResponse: NSObject, @unchecked Sendable {
    public var url: URL? { fatalError() }
    public var expectedContentLength: Int64 { fatalError() }
}

public class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion HTTPVersion: String?, headerFields: [String: String]?) {
        fatalError()
    }
    public var statusCode: Int { fatalError() }
    public var allHeaderFields: [AnyHashable: Any] { fatalError() }
    public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
}

public struct URLRequest: Hashable, Sendable {
    public typealias CachePolicy = NSURLRequest.CachePolicy
    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60) {
        fatalError()
    }
    public var url: URL?
    public var timeoutInterval: TimeInterval { get { fatalError() } set {} }
    public var httpMethod: String? { get { fatalError() } set {} }
    public var allHTTPHeaderFields: [String: String]? { get { fatalError() } set {} }
    public var httpBody: Data? { get { fatalError() } set {} }
    public var httpShouldHandleCookies: Bool { get { fatalError() } set {} }
    public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
}

public class NSURLRequest: NSObject, @unchecked Sendable {
    public enum CachePolicy: UInt, @unchecked Sendable {
        case useProtocolCachePolicy = 0
        case reloadIgnoringLocalCacheData = 1
    }
}

public class HTTPCookie: NSObject, @unchecked Sendable {
    public init?(properties: [HTTPCookiePropertyKey: Any]) { fatalError() }
    public enum AcceptPolicy: UInt, @unchecked Sendable {
        case always = 0
        case never = 1
        case onlyFromMainDocumentDomain = 2
    }
    public var name: String { fatalError() }
    public var value: String { fatalError() }
    public var expiresDate: Date? { fatalError() }
    public var domain: String { fatalError() }
    public var path: String { fatalError() }
    public var isSecure: Bool { fatalError() }
}

public struct HTTPCookiePropertyKey: Hashable, RawRepresentable, Sendable {
    public var rawValue: String
    public init(rawValue: String) { fatalError() }
    public static var name: Self { fatalError() }
    public static var value: Self { fatalError() }
    public static var domain: Self { fatalError() }
    public static var path: Self { fatalError() }
    public static var version: Self { fatalError() }
    public static var secure: Self { fatalError() }
    public static var expires: Self { fatalError() }
    public static var discard: Self { fatalError() }
}

public class HTTPCookieStorage: NSObject, @unchecked Sendable {
    public class var shared: HTTPCookieStorage { fatalError() }
    public var cookies: [HTTPCookie]? { fatalError() }
    public func setCookie(_ cookie: HTTPCookie) {}
    public func deleteCookie(_ cookie: HTTPCookie) {}
}

public class URLCache: NSObject, @unchecked Sendable {
    public var memoryCapacity: Int { get { fatalError() } set {} }
    public var diskCapacity: Int { get { fatalError() } set {} }
}
public class URLCredentialStorage: NSObject, @unchecked Sendable {}
public class URLCredential: NSObject, @unchecked Sendable {}

public class URLProtectionSpace: NSObject, @unchecked Sendable {
    public var authenticationMethod: String { fatalError() }
    public var host: String { fatalError() }
    public var port: Int { fatalError() }
}

public let NSURLAuthenticationMethodDefault = ""
public let NSURLAuthenticationMethodHTTPBasic = ""
public let NSURLAuthenticationMethodHTTPDigest = ""
public let NSURLAuthenticationMethodHTMLForm = ""
public let NSURLAuthenticationMethodNTLM = ""
public let NSURLAuthenticationMethodNegotiate = ""
public let NSURLAuthenticationMethodServerTrust = ""
public let NSURLAuthenticationMethodClientCertificate = ""

public class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    public var protectionSpace: URLProtectionSpace { fatalError() }
    public var proposedCredential: URLCredential? { fatalError() }
    public var previousFailureCount: Int { fatalError() }
}

// Of Security, which Foundation imports.
public enum tls_protocol_version_t: UInt16 {
    case TLSv10 = 769
    case TLSv11 = 770
    case TLSv12 = 771
    case TLSv13 = 772
}

public class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t { get { fatalError() } set {} }
    public class var `default`: URLSessionConfiguration { fatalError() }
    public class var ephemeral: URLSessionConfiguration { fatalError() }
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration { fatalError() }
    public var timeoutIntervalForRequest: TimeInterval { get { fatalError() } set {} }
    public var timeoutIntervalForResource: TimeInterval { get { fatalError() } set {} }
    public var waitsForConnectivity: Bool { get { fatalError() } set {} }
    public var requestCachePolicy: NSURLRequest.CachePolicy { get { fatalError() } set {} }
    public var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy { get { fatalError() } set {} }
    public var httpShouldSetCookies: Bool { get { fatalError() } set {} }
    public var httpCookieStorage: HTTPCookieStorage? { get { fatalError() } set {} }
    public var urlCredentialStorage: URLCredentialStorage? { get { fatalError() } set {} }
    public var urlCache: URLCache? { get { fatalError() } set {} }
    public var httpAdditionalHeaders: [AnyHashable: Any]? { get { fatalError() } set {} }
    public var httpMaximumConnectionsPerHost: Int { get { fatalError() } set {} }
    public var allowsConstrainedNetworkAccess: Bool { get { fatalError() } set {} }
    public var protocolClasses: [AnyClass]? { get { fatalError() } set {} }

    @available(macOS, unavailable)
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public var multipathServiceType: MultipathServiceType { get { fatalError() } set {} }

    @available(macOS, unavailable)
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    public enum MultipathServiceType: Int, @unchecked Sendable {
        case none = 0
        case handover = 1
        case interactive = 2
        case aggregate = 3
    }
}

public class URLSessionTask: NSObject, @unchecked Sendable {
    public var taskIdentifier: Int { fatalError() }
    public var originalRequest: URLRequest? { fatalError() }
    public var response: URLResponse? { fatalError() }
    public var countOfBytesSent: Int64 { fatalError() }
    public var countOfBytesExpectedToSend: Int64 { fatalError() }
    public func resume() {}
    public func suspend() {}
    public func cancel() {}
}

public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
public class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

public class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    public var transactionMetrics: [URLSessionTaskTransactionMetrics] { fatalError() }
}

public class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    public var requestStartDate: Date? { fatalError() }
    public var requestEndDate: Date? { fatalError() }
    public var networkProtocolName: String? { fatalError() }
    public var domainLookupStartDate: Date? { fatalError() }
    public var domainLookupEndDate: Date? { fatalError() }
    public var connectStartDate: Date? { fatalError() }
    public var connectEndDate: Date? { fatalError() }
    public var secureConnectionStartDate: Date? { fatalError() }
    public var secureConnectionEndDate: Date? { fatalError() }
    public var responseStartDate: Date? { fatalError() }
    public var responseEndDate: Date? { fatalError() }
    public var isReusedConnection: Bool { fatalError() }
    public var remoteAddress: String? { fatalError() }
    public var remotePort: Int? { fatalError() }
    public var countOfRequestHeaderBytesSent: Int64 { fatalError() }
    public var countOfRequestBodyBytesSent: Int64 { fatalError() }
}

public class URLSession: NSObject, @unchecked Sendable {
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        fatalError()
    }
    public enum AuthChallengeDisposition: Int, @unchecked Sendable {
        case useCredential = 0
        case performDefaultHandling = 1
        case cancelAuthenticationChallenge = 2
        case rejectProtectionSpace = 3
    }
    public enum ResponseDisposition: Int, @unchecked Sendable {
        case cancel = 0
        case allow = 1
    }
    public func finishTasksAndInvalidate() {}
    public func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}
    public func uploadTask(with request: URLRequest, fromFile fileURL: URL) -> URLSessionUploadTask { fatalError() }
}

public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}
