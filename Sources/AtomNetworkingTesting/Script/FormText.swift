import AtomNetworking
import Foundation

/// A query or a form, `name=value&…` (WHATWG URL, application/x-www-form-urlencoded).
enum FormText {
    /// Its items, decoded, in order and with repeats.
    static func items(of text: some StringProtocol) -> [QueryItem] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return QueryItem(name: decoded(parts[0]), value: parts.count > 1 ? decoded(parts[1]) : "")
        }
    }

    private static func decoded(_ text: some StringProtocol) -> String {
        let spaced = text.replacingOccurrences(of: "+", with: " ")
        return spaced.removingPercentEncoding ?? spaced
    }
}
