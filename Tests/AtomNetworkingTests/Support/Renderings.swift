import Foundation
import Testing

/// Whatever Swift offers to turn a value into text.
func everyRendering<T>(of value: T) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    var boxed = ""
    dump([value], to: &boxed)
    var printed = ""
    print(value, to: &printed)
    debugPrint(value, to: &printed)
    var renderings = [
        "\(value)", String(describing: value), String(reflecting: value), "\([value])", "\(Optional(value) as Any)",
        dumped, boxed, printed,
    ]
    if let error = value as? any Error {
        renderings += [error.localizedDescription, "\(error as NSError)", (error as NSError).localizedDescription]
    }
    if let error = value as? any LocalizedError {
        renderings += [error.errorDescription, error.failureReason, error.recoverySuggestion].compactMap { $0 }
    }
    return renderings
}

/// Records one issue that shows every text with the secret in it.
func expectNone(
    of texts: [String], toContain secret: String, location: SourceLocation = #_sourceLocation
) {
    let leaks = texts.filter { $0.contains(secret) }
    #expect(leaks.isEmpty, sourceLocation: location)
}
