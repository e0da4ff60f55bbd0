import Foundation

#if canImport(os)
    import os
#endif

/// Writes what happens to requests, or nothing at all.
///
/// Lines name methods, URLs without the values of their queries, status codes,
/// sizes and durations; never a header's value or a body.
struct ExchangeLog: Sendable {
    private let write: (@Sendable (String) -> Void)?

    init(isEnabled: Bool, handler: (@Sendable (String) -> Void)?) {
        write = isEnabled ? handler ?? Self.writeToSystem : nil
    }

    /// Whether somebody reads the lines.
    var isEnabled: Bool { write != nil }

    /// The line is only made if somebody reads it.
    func callAsFunction(_ line: @autoclosure () -> String) {
        write?(line())
    }

    private static let writeToSystem: @Sendable (String) -> Void = { line in
        #if canImport(os)
            Logger(subsystem: "AtomNetworking", category: "exchange").debug("\(line, privacy: .public)")
        #else
            // The variant that doesn't throw traps when standard error is closed or nobody reads it any more.
            try? FileHandle.standardError.write(contentsOf: Data("AtomNetworking: \(line)\n".utf8))
        #endif
    }
}
