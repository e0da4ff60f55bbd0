import AtomNetworking
import Foundation

/// The system's browser, for a tool: the callback comes to a port of this device (RFC 8252 §7.3).
///
/// Only 127.0.0.1 is listened to (§8.3), and only while the sign-in runs. It fails with
/// ``SignInError/browserFailed(_:)`` if the port is taken, with ``SignInError/timedOut`` after ``timeout``, and with
/// `CancellationError` as soon as its task is cancelled; the port is closed then.
public struct LoopbackBrowser: AuthorizationBrowser {
    /// The port; 0, the default, for any free one, which servers must accept (RFC 8252 §7.3).
    public var port = 0
    /// The path of the redirect URI.
    public var path = "/callback"
    /// How long it is waited for the callback, from when the page is shown.
    public var timeout: Duration = .seconds(300)
    /// The clock of ``timeout``; the system's by default.
    public var timeSource: any TimeSource = ServiceConfiguration().timeSource
    /// Opens the address in a browser, and returns whether that was possible; by default with `open` or `xdg-open`.
    ///
    /// It may take as long as it likes: the callback is taken meanwhile, and its task is cancelled afterwards.
    public var open: @Sendable (URL) async -> Bool
    /// Shows the address where no browser could be opened; by default on standard error.
    public var show: @Sendable (URL) -> Void

    /// Creates a browser.
    public init(
        open: (@Sendable (URL) async -> Bool)? = nil, show: (@Sendable (URL) -> Void)? = nil
    ) {
        self.open = open ?? { await Self.openWithSystem($0) }
        self.show = show ?? Self.showOnStandardError
    }

    /// Shows the page, and returns the URL that the server has sent the browser to.
    public func authorize(_ page: @escaping Page) async throws -> URL {
        let listener = try LoopbackListener(port: port, path: path)
        defer { listener.closePort() }
        let address = try await page(listener.redirectURI)
        try Task.checkCancellation()

        let alarm = timeSource.makeAlarm { listener.stop() }
        defer { alarm.invalidate() }
        alarm.set(timeSource.now.advanced(by: timeout))
        // A task that nobody awaits: a command may run as long as the browser that it has become.
        let opening = Task { [open, show] in
            if await !open(address), !Task.isCancelled { show(address) }
        }
        defer { opening.cancel() }

        let query = try await withTaskCancellationHandler {
            try await listener.callbackQuery()
        } onCancel: {
            listener.stop()
        }
        guard let query else {
            try Task.checkCancellation()
            throw SignInError.timedOut
        }
        guard let url = URL(string: "\(listener.redirectURI)?\(query)") else {
            throw SignInError.invalidCallback("its query is none of a URL")
        }
        return url
    }

    private static func openWithSystem(_ url: URL) async -> Bool {
        #if os(macOS) || os(Linux)
            guard let command = command(toOpen: url, in: ProcessInfo.processInfo.environment) else { return false }
            return await run(command)
        #else
            return false
        #endif
    }

    private static func showOnStandardError(_ url: URL) {
        let text = "Open this address to sign in:\n\(url.absoluteString)\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

#if os(macOS) || os(Linux)
    extension LoopbackBrowser {
        /// The command that opens an address; `nil` where there is no screen, and for what isn't a page.
        static func command(toOpen url: URL, in environment: [String: String]) -> [String]? {
            guard ["https", "http"].contains(url.scheme?.lowercased()) else { return nil }
            #if os(macOS)
                return ["/usr/bin/open", url.absoluteString]
            #else
                let screens = ["DISPLAY", "WAYLAND_DISPLAY"].compactMap { environment[$0] }
                guard screens.contains(where: { !$0.isEmpty }) else { return nil }
                // `env` finds it on the path.
                return ["/usr/bin/env", "xdg-open", url.absoluteString]
            #endif
        }

        /// Runs a command, and returns whether it has succeeded, or still ran when the task was cancelled.
        static func run(_ command: [String]) async -> Bool {
            let process = Process()
            process.executableURL = command.first.map { URL(fileURLWithPath: $0) }
            process.arguments = Array(command.dropFirst())
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let (ends, end) = AsyncStream.makeStream(of: Bool.self)
            process.terminationHandler = { end.yield($0.terminationReason == .exit && $0.terminationStatus == 0) }
            do {
                try process.run()
            } catch {
                return false
            }
            // A process that goes on is not ended: it may be the browser.
            return await ends.first { _ in true } ?? true
        }
    }
#endif
