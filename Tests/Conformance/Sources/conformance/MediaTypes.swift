import Foundation

@testable import AtomNetworking

extension Conformance {
    /// Media types.
    ///
    /// Of those of responses the SDK reads the name and the charset. Those of
    /// requests have to be as in RFC 9110, so that others can read what the SDK takes.
    static func mediaTypes(_ folder: Folder) throws -> [Case] {
        let files = ["mime-types", "generated-mime-types"].map { "rust-url/data-url/tests/\($0).json" }
        let single = try files.flatMap { file in
            try folder.list(file).compactMap { item -> Case? in
                guard let input = item["input"] as? String else { return nil }
                return Case("", input, problem: problem([input], item["output"] as? String))
            }
        }
        let repeated = try folder.list("wpt/fetch/content-type/resources/content-types.json").compactMap {
            item -> Case? in
            guard let inputs = item["input"] as? [String] else { return nil }
            let problem = problem(inputs, item["mimeType"] as? String)
            return Case("repeated", inputs.joined(separator: "\n"), problem: problem)
        }
        return single + repeated
    }

    private static func problem(_ inputs: [String], _ output: String?) -> String? {
        let fields = HeaderFields(inputs.map { HeaderItem(name: "Content-Type", value: $0) })
        let read = MediaType(fields["Content-Type"])
        guard let output else {
            if let read, read.isJSON || read.isXML || read.isHTML { return "expected nothing, got \(read)" }
            return inputs.contains(where: HTTPGrammar.isMediaType) ? "a request may have it" : nil
        }
        let parts = output.split(separator: ";", maxSplits: 1)
        let charset = output.firstMatch(of: /;charset=(?:"(.*?)"(?:;|$)|([^;]*))/).flatMap { $0.1 ?? $0.2 }
        return Case.difference(String(parts[0]), read?.name ?? "nothing")
            ?? Case.difference(charset?.lowercased(), read?.charset)
    }
}
