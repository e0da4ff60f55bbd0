import Foundation

/// Runs the target that `ATOM_FUZZ` names; without a name, prints the names of all.
@main
enum Fuzz {
    static let targets: [String: @Sendable (Input) -> Void] = [
        "answers": CredentialTargets.answers, "cached": CacheTargets.cached, "cookies": CookieTargets.cookies,
        "credentials": CredentialTargets.credentials, "dates": HTTPTargets.dates, "decoder": StreamTargets.decoder,
        "directives": CacheTargets.directives, "events": StreamTargets.events, "fields": HTTPTargets.fields,
        "har": ExportTargets.har, "heads": HTTPTargets.heads, "hosts": URLTargets.hosts, "lines": StreamTargets.lines,
        "locations": URLTargets.locations, "mediatypes": HTTPTargets.mediaTypes, "multipart": StreamTargets.multipart,
        "paths": URLTargets.paths, "ranges": HTTPTargets.ranges, "redaction": RedactionTargets.redaction,
        "search": ExportTargets.search, "secrets": RedactionTargets.secrets, "shell": ExportTargets.shell,
        "stores": CredentialTargets.stores,
    ]

    fileprivate static let target = ProcessInfo.processInfo.environment["ATOM_FUZZ"].flatMap { targets[$0] }

    static func main() {
        guard target != nil else { return print(targets.keys.sorted().joined(separator: "\n")) }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(runDriver(&count, &arguments, run))
    }
}

private func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzz.target?(Input(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Ends the process if a property doesn't hold, with the values that show it.
func check(
    _ holds: Bool, _ property: StaticString, _ values: @autoclosure () -> [Any?], file: StaticString = #fileID,
    line: UInt = #line
) {
    guard !holds else { return }
    let shown = values().map { value in
        (value as? String)?.debugDescription ?? value.map { String(reflecting: $0) } ?? "nil"
    }
    fatalError("\(property): \(shown.joined(separator: "; "))", file: file, line: line)
}
