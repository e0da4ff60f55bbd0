import Foundation

/// Decodes a service's responses with the app's decoder, by its clock.
final class ResponseDecoder: Sendable {
    /// Used on many threads, which `JSONDecoder` allows as long as it isn't changed.
    private let decoder: JSONDecoder
    /// By which lifetimes in a response count; `nil` for the system's.
    private let clock: (any TimeSource)?

    /// The date from which the response that is being decoded counts: a type's
    /// `init(from:)` doesn't know the service and its clock.
    static var date: Date { dateOfService ?? Date() }
    @TaskLocal private static var dateOfService: Date?

    /// For what the app's own decoder doesn't, or can't, read.
    static let plain = ResponseDecoder(JSONDecoder(), on: SystemTimeSource())

    init(_ decoder: JSONDecoder, on clock: any TimeSource) {
        self.decoder = decoder
        self.clock = clock is SystemTimeSource ? nil : clock
    }

    /// Another way to decode on the same clock.
    var withPlainDecoder: ResponseDecoder { clock.map { ResponseDecoder(JSONDecoder(), on: $0) } ?? .plain }

    func decode<T: Decodable>(
        _ type: T.Type, from response: AtomResponse, isWholeBody: Bool = true
    ) throws(AtomError) -> T {
        func decoded() throws(AtomError) -> T {
            try ResponseDecoding.decode(type, from: response, with: decoder, isWholeBody: isWholeBody)
        }
        do throws(AtomError) {
            guard let clock else { return try decoded() }
            return try Self.$dateOfService.withValue(clock.date) { Result(catching: decoded) }.get()
        } catch {
            throw error.about(response, until: (clock ?? SystemTimeSource()).now)
        }
    }
}
