import Foundation

/// Values that stand for a member that an endpoint doesn't declare.
///
/// No endpoint can mean them: none could be sent.
enum Undeclared {
    static let text = "\0undeclared"
    static let path = URLPath.undeclared
    static let headerItems = [HeaderItem(name: text, value: "")]
    static let queryItems = [QueryItem(name: text, value: text)]
    static let dictionary = [text: text]
    static let body = RequestBody.data(data, contentType: text)
    static let data = Data("\0AtomNetworking\0".utf8)
    static let method = HTTPMethod.token(text)
    /// Not a number, with bits that no calculation results in.
    static let seconds = Double(nan: 0x41_746F6D, signaling: false)
    static let timeout = ServiceTimeout(request: seconds, resource: seconds)
    /// A policy of its own: only the same object stands for no policy.
    static let retryPolicy = RetryPolicy(maximumAttempts: 1)
    static let statusCodes = Int.min..<(Int.min + 1)
    static let closedStatusCodes = Int.min...Int.min

    /// What the default of a member throws that has no value to spare.
    struct Marker: Error {}

    /// The value of a member; `nil` if it isn't declared.
    static func value<T>(of member: () throws -> T) throws -> T? {
        do {
            return try member()
        } catch is Marker {
            return nil
        }
    }

    static func isValue(_ items: [HeaderItem]) -> Bool { items.count == 1 && items[0].name == text }
    static func isValue(_ items: [QueryItem]) -> Bool {
        items.count == 1 && items[0].name == text && items[0].value == text
    }
    static func isValue(_ values: [String: String]) -> Bool { values.count == 1 && values[text] == text }
    static func isValue(_ body: RequestBody) -> Bool { body.contentType == text }
    static func isValue(_ data: Data) -> Bool { data.count == Self.data.count && data == Self.data }
    static func isValue(_ method: HTTPMethod) -> Bool {
        if case .token(text, nil) = method { true } else { false }
    }
    static func isValue(_ seconds: Double) -> Bool { seconds.bitPattern == Self.seconds.bitPattern }
}
