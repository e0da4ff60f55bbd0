import Foundation

/// A value of a JSON text (RFC 8259).
indirect enum JSONText {
    case object([String: JSONText])
    case array([JSONText])
    case string(String)
    /// A number, `true`, `false` or `null`.
    case other(NSObject)

    /// - Returns: `nil` if it isn't JSON, or if it is neither an object nor an array.
    init?(_ data: Data) {
        guard let value = try? JSONSerialization.jsonObject(with: data) else { return nil }
        self.init(value)
    }

    private init(_ value: Any) {
        switch value {
        case let object as [String: Any]: self = .object(object.mapValues(JSONText.init))
        case let array as [Any]: self = .array(array.map(JSONText.init))
        case let string as String: self = .string(string)
        default: self = .other(value as? NSObject ?? NSNull())
        }
    }

    /// Where it first differs from what was recorded; `nil` if nowhere.
    func difference(from recorded: JSONText, at place: String = "") -> String? {
        switch (self, recorded) {
        case (_, .string(HiddenValue.mark)):
            return nil
        case (.object(let object), .object(let recorded)):
            for name in Set(object.keys).union(recorded.keys).sorted() {
                let here = place.isEmpty ? name : "\(place).\(name)"
                guard let value = object[name], let recorded = recorded[name] else { return here }
                if let difference = value.difference(from: recorded, at: here) { return difference }
            }
            return nil
        case (.array(let array), .array(let recorded)):
            for (index, pair) in zip(array, recorded).enumerated() {
                if let difference = pair.0.difference(from: pair.1, at: "\(place)[\(index)]") { return difference }
            }
            return array.count == recorded.count ? nil : "\(place)[\(min(array.count, recorded.count))]"
        case (.string(let string), .string(let recorded)):
            return HiddenValue.fits(string, recorded: recorded) ? nil : Self.root(place)
        case (.other(let value), .other(let recorded)):
            // For Foundation `true` equals 1.
            let isEqual = value.isEqual(recorded) && Self.isBoolean(value) == Self.isBoolean(recorded)
            return isEqual ? nil : Self.root(place)
        default:
            return Self.root(place)
        }
    }

    private static func isBoolean(_ value: NSObject) -> Bool {
        let text = (try? JSONSerialization.data(withJSONObject: [value])).map { String(decoding: $0, as: UTF8.self) }
        return text == "[true]" || text == "[false]"
    }

    private static func root(_ place: String) -> String { place.isEmpty ? "its beginning" : place }

    /// Each string and number with its name and its place, in which `[]` stands for every index.
    func forEachValue(
        at place: String = "", named name: String = "",
        _ body: (_ place: String, _ name: String, _ value: String) -> Void
    ) {
        switch self {
        case .object(let object):
            for (key, value) in object.sorted(by: { $0.key < $1.key }) {
                value.forEachValue(at: place.isEmpty ? key : "\(place).\(key)", named: key, body)
            }
        case .array(let array):
            for value in array { value.forEachValue(at: place + "[]", named: name, body) }
        case .string(let string):
            body(place, name, string)
        case .other(let value):
            if let number = value as? NSNumber { body(place, name, "\(number)") }
        }
    }
}
