import Foundation

@testable import AtomNetworking
@testable import AtomNetworkingTesting

enum URLTargets {
    /// Base URLs: the host that is accepted is the one that everybody sees.
    @Sendable static func hosts(_ input: Input) {
        guard let base = try? BaseURL(string: input.text) else { return }
        let printed = base.description
        check(printed.isVisibleASCII, "the URL has only visible characters", [printed])
        check((try? BaseURL(string: printed)) == base, "the printed URL is the same", [printed])
        let name = base.host.hasSuffix(".") ? base.host.dropLast() : base.host[...]
        check(name.utf8.count <= 253, "a host has at most 253 bytes", [printed])
        if name.first != "[" {
            let labels = name.split(separator: ".", omittingEmptySubsequences: false)
            check(labels.allSatisfy { (1...63).contains($0.utf8.count) }, "a label has 1…63 bytes", [printed])
            let numbers = labels.compactMap { UInt8($0) }.map(String.init)
            var address = in_addr()
            check(
                inet_aton(String(name), &address) == 0
                    || numbers.count == 4 && numbers == labels.map(String.init) && name == base.host,
                "a resolver reads no other address", [printed])
            check(
                base.origin.isLoopback
                    == (numbers.count == 4 && numbers.first == "127" && labels.count == 4
                        || base.origin.host == "localhost"),
                "only this device is on loopback", [printed])
        }
        let target = TargetURL(base: base, path: .literal("/a"))
        check(target.origin == base.origin, "the origin is the same", [printed])
        check(TargetURL.resolving(target.absoluteString, against: nil) == target, "it resolves to itself", [printed])
        checkFoundation(target)
    }

    /// Paths: what is accepted is sent as it is, in the same segments.
    @Sendable static func paths(_ input: Input) {
        if let path = try? URLPath(input.text) { checkPath(path) }
        let texts = input.texts
        if let path = try? URLPath(segments: texts) {
            checkPath(path)
            check(segments(path.encoded) == texts, "segments are what was given", [texts, path.encoded])
        }
        let value = texts[0]
        let path = URLPath.literal("/a/\(value)/b")
        guard (try? path.checked()) != nil else { return }
        checkPath(path)
        check(segments(path.encoded) == ["a", value, "b"], "a value stays in its segment", [value, path.encoded])
        guard let base = try? BaseURL(host: "a.example") else { return }
        let items = zip(texts, texts.dropFirst()).map { QueryItem(name: $0, value: $1) }.filter { !$0.name.isEmpty }
        let target = TargetURL(base: base, path: path, queryItems: items)
        check(target.path == path.encoded, "the path is sent as it is", [target.absoluteString])
        let query = target.absoluteString.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        check(FormText.items(of: query) == items, "a server reads the same items", [items.map(\.value), query])
        checkFoundation(target)
    }

    private static func segments(_ path: String) -> [String?] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { $0.removingPercentEncoding }
    }

    private static func checkPath(_ path: URLPath) {
        let text = path.encoded
        check(text.hasPrefix("/") && text.isVisibleASCII, "a path is visible", [text])
        check(!text.contains { "?#\\\"<>".contains($0) }, "a path has no delimiters", [text])
        check((try? URLPath(text)) == path, "the printed path is the same", [text])
        let segments = segments(text)
        check(!segments.contains { $0 == "." || $0 == ".." }, "no segment is dots", [text])
        check(!segments.dropLast().contains(""), "only the last segment is empty", [text])
    }

    /// References, as in `Location` and links: they lead where the text says, and nowhere else.
    @Sendable static func locations(_ input: Input) {
        let reference = input.text(1)
        let base = TargetURL.resolving(input.text(0), against: nil)
        for base in [base, nil] {
            guard let target = TargetURL.resolving(reference, against: base) else { continue }
            let text = target.absoluteString
            check(text.isVisibleASCII && !text.contains { "#\\\"<>".contains($0) }, "it is a URL", [reference, text])
            check(TargetURL.resolving(text, against: nil) == target, "it resolves to itself", [reference, text])
            check(TargetURL.resolving(text, against: base) == target, "it is absolute", [reference, text])
            let rest = text.dropFirst(target.scheme.rawValue.count + 3)
            check(!rest.prefix { $0 != "/" }.contains("@"), "there is no user", [reference, text])
            check(rest.hasPrefix(target.host), "the host is in the text", [reference, text])
            let segments = target.path.split(separator: "/", omittingEmptySubsequences: false)
            check(!segments.contains { $0 == "." || $0 == ".." }, "no segment is dots", [reference, text])
            check(
                target.origin == base?.origin || reference.has("//"), "only an authority leads elsewhere",
                [reference, text])
            check(target.cookieAddress.path.hasPrefix("/"), "its path begins with a slash", [reference, text])
            checkFoundation(target)
            let response = AtomResponse(
                data: Data(), statusCode: 200, headerFields: HeaderFields(), address: base?.absoluteString,
                decoder: nil)
            check(
                (try? LinkedEndpoint(reference, in: response))?.target == target, "a link leads there", [reference])
        }
    }

    /// Foundation sees the same server.
    private static func checkFoundation(_ target: TargetURL) {
        let text = target.absoluteString
        guard let url = target.url else { return check(false, "Foundation takes the URL", [text]) }
        let host = url.host(percentEncoded: true)?.lowercased().trimmingCharacters(in: ["[", "]"])
        check(
            host == target.host.trimmingCharacters(in: ["[", "]"]) && url.scheme == target.scheme.rawValue
                && url.port ?? target.scheme.defaultPort == target.port && url.user == nil,
            "Foundation sees the same server", [text, url.host, url.port])
    }
}
