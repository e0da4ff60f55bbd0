import Foundation
import Testing

/// All ways in which Swift converts a value to text.
func everyRendering<T>(of value: T) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    var boxed = ""
    dump([value], to: &boxed)
    var printed = ""
    print(value, to: &printed)
    debugPrint(value, to: &printed)
    var renderings =
        mirrored(value) + [
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

/// The parts of a value that `Mirror` shows, down to its bytes: each text in
/// it, and each sequence of bytes as text.
private func mirrored(_ value: Any, depth: Int = 0) -> [String] {
    var texts: [String] = []
    switch value {
    case let data as Data: texts.append(String(decoding: data, as: UTF8.self))
    case let bytes as [UInt8]: texts.append(String(decoding: bytes, as: UTF8.self))
    case let text as String: texts.append(text)
    default: texts += [String(describing: value), String(reflecting: value)]
    }
    guard depth < 12 else { return texts }
    var mirror: Mirror? = Mirror(reflecting: value)
    while let current = mirror {
        for child in current.children { texts += [child.label ?? ""] + mirrored(child.value, depth: depth + 1) }
        mirror = current.superclassMirror
    }
    return texts
}

/// Records one issue with every text that contains the secret.
func expectNone(
    of texts: [String], toContain secret: String, location: SourceLocation = #_sourceLocation
) {
    let leaks = texts.filter { $0.contains(secret) }
    #expect(leaks.isEmpty, sourceLocation: location)
}
