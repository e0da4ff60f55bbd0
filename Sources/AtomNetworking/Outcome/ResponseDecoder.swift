import Foundation

/// Decodes a service's responses with the app's decoder, by its clock.
final class ResponseDecoder: Sendable {
    /// Used on many threads, which `JSONDecoder` allows as long as it isn't changed.
    private let decoder: JSONDecoder
    /// By which lifetimes in a response count; `nil` for the system's.
    private let clock: (any TimeSource)?

    /// For what the app's own decoder doesn't, or can't, read.
    static let plain = ResponseDecoder(JSONDecoder(), on: SystemTimeSource())

    init(_ decoder: JSONDecoder, on clock: any TimeSource) {
        self.decoder = decoder
        self.clock = clock is SystemTimeSource ? nil : clock
    }

    /// Another way to decode on the same clock.
    var withPlainDecoder: ResponseDecoder { clock.map { ResponseDecoder(JSONDecoder(), on: $0) } ?? .plain }

    /// Decodes the body of a response, or one value of JSON in it.
    func decode<T: Decodable>(
        _ type: T.Type, from response: AtomResponse, isWholeBody: Bool = true
    ) throws(AtomError) -> T {
        do throws(AtomError) {
            guard let clock else {
                return try ResponseDecoding.decode(type, from: response, with: decoder, isWholeBody: isWholeBody)
            }
            return try DecodingDate.by(clock) { () throws(AtomError) in
                try ResponseDecoding.decode(type, from: response, with: decoder, isWholeBody: isWholeBody)
            }
        } catch {
            throw error.about(response, until: (clock ?? SystemTimeSource()).now)
        }
    }
}
