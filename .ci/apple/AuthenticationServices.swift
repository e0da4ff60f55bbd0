// What the SDK uses of AuthenticationServices; see AppleFoundation.swift.
//
// On Apple platforms an anchor is a window of UIKit or AppKit.

@_exported import Foundation

#if os(iOS) || os(macOS)
    @MainActor
    public class ASPresentationAnchor: NSObject {
        nonisolated public override init() {}
    }

    @available(macOS 10.15, iOS 13, *)
    @MainActor
    public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
        func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
    }
#endif

@available(macOS 10.15, iOS 12, tvOS 16, watchOS 6.2, *)
public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Int, Sendable {
        case canceledLogin = 1
    }
    public var code: Code { fatalError() }
}

@available(macOS 10.15, iOS 12, tvOS 16, watchOS 6.2, *)
public class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    @available(macOS 14.4, iOS 17.4, tvOS 17.4, watchOS 10.4, *)
    public class Callback: NSObject {
        public class func https(host: String, path: String) -> Self { fatalError() }
    }

    public init(url URL: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler) {}

    @available(macOS 14.4, iOS 17.4, tvOS 17.4, watchOS 10.4, *)
    public init(url URL: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {}

    #if os(iOS) || os(macOS)
        @available(macOS 10.15, iOS 13, *)
        public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    #endif

    @available(macOS 10.15, iOS 13, tvOS 16, watchOS 6.2, *)
    public var prefersEphemeralWebBrowserSession: Bool { get { fatalError() } set {} }

    @discardableResult
    public func start() -> Bool { false }
    public func cancel() {}
}
