import AtomNetworking
import AtomNetworkingExports
import Foundation

extension HTTPArchive {
    /// What of a request must be as it was recorded, apart from the method and the path, which always must.
    public struct Comparison: OptionSet, Sendable, Hashable {
        /// A set of the parts below.
        public let rawValue: Int

        /// Creates a set of parts.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The scheme, the host and the port.
        public static let origin = Comparison(rawValue: 1)
        /// The items of the query, in any order.
        public static let query = Comparison(rawValue: 2)
        /// The body: JSON and forms by their values, everything else by its bytes.
        ///
        /// A body that isn't in the file, or of which the wire doesn't keep everything, isn't compared.
        public static let body = Comparison(rawValue: 4)
        /// All of them.
        public static let everything: Comparison = [.origin, .query, .body]
    }
}

/// Says whether a request is the one of an entry.
///
/// Header fields don't matter.
struct ArchiveMatcher: RequestMatching {
    let entry: HTTPArchive.Entry
    let comparison: HTTPArchive.Comparison

    func mismatches(of request: RecordedRequest) -> [String] {
        var found: [String] = []
        if request.method != entry.method { found.append("the method is \(request.method)") }
        let target = request.target
        let origin = RecordedAddress.origin(target.scheme.rawValue, target.host, target.port)
        if comparison.contains(.origin), !HiddenValue.fits(origin, recorded: entry.address.origin) {
            found.append("the origin is \(origin)")
        }
        if !HiddenValue.fits(Self.plain(request.path), recorded: Self.plain(entry.address.path)) {
            found.append("the path is \(request.path)")
        }
        if comparison.contains(.query) {
            found += HiddenValue.differences(request.queryItems, recorded: entry.address.query, "the query item")
        }
        if comparison.contains(.body), found.isEmpty { found += bodyMismatches(request) }
        return found
    }

    /// Percent-encoding doesn't matter, but an encoded slash isn't one.
    private static func plain(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: false).map { $0.removingPercentEncoding ?? String($0) }
    }

    private func bodyMismatches(_ request: RecordedRequest) -> [String] {
        guard let recorded = entry.requestBody.data else { return [] }
        let body = request.body ?? Data()
        guard request.bodyLength <= Int64(body.count) else { return [] }
        guard !recorded.isEmpty, !body.isEmpty else {
            return recorded.isEmpty == body.isEmpty ? [] : ["the body is \(body.isEmpty ? "missing" : "not recorded")"]
        }
        if entry.requestBody.isForm {
            return HiddenValue.differences(
                request.formItems,
                recorded: FormText.items(of: String(decoding: recorded, as: UTF8.self)), "the form field")
        }
        if let value = JSONText(body), let recordedValue = JSONText(recorded) {
            return value.difference(from: recordedValue).map { ["the body differs at \($0)"] } ?? []
        }
        let text = Self.text(Self.withoutBoundary(body, request["Content-Type"] ?? ""))
        let recordedText = Self.text(Self.withoutBoundary(recorded, entry.requestBody.mediaType))
        return HiddenValue.fits(text, recorded: recordedText) ? [] : ["the body differs"]
    }

    /// Bytes that aren't UTF-8 stay distinct.
    private static func text(_ data: Data) -> String { HARLog.text(data).text ?? "" }

    /// Each multipart body has a boundary of its own (RFC 2046 §5.1.1).
    private static func withoutBoundary(_ data: Data, _ mediaType: String) -> Data {
        guard let boundary = RecordedBody.boundary(of: mediaType), !boundary.isEmpty else { return data }
        let delimiter = Data("--\(boundary)".utf8)
        var (result, rest) = (Data(), data[...])
        while let range = rest.range(of: delimiter) {
            result += rest[..<range.lowerBound] + Data("--boundary".utf8)
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

extension HiddenValue {
    /// Segment by segment.
    fileprivate static func fits(_ segments: [String], recorded: [String]) -> Bool {
        segments.count == recorded.count && zip(segments, recorded).allSatisfy { fits($0, recorded: $1) }
    }
}

extension ArchiveMatcher {
    var description: String { "\(entry)" }
}
