import Foundation

#if canImport(os)
    import os
#endif

/// Logs requests and their results, or nothing.
///
/// Lines contain methods, URLs without query values, status codes, sizes and
/// durations, but never a header value or a body.
struct ExchangeLog: Sendable {
    private let write: (@Sendable (String) -> Void)?

    init(isEnabled: Bool, handler: (@Sendable (String) -> Void)?) {
        write = isEnabled ? handler ?? Self.writeToSystem : nil
    }

    /// Whether logging is on.
    var isEnabled: Bool { write != nil }

    /// The line is built only if logging is on.
    func callAsFunction(_ line: @autoclosure () -> String) {
        write?(line())
    }

    private static let writeToSystem: @Sendable (String) -> Void = { line in
        #if canImport(os)
            Logger(subsystem: "AtomNetworking", category: "exchange").debug("\(line, privacy: .public)")
        #else
            // The variant that doesn't throw traps when standard error is
            // closed.
            try? FileHandle.standardError.write(contentsOf: Data("AtomNetworking: \(line)\n".utf8))
        #endif
    }
}
