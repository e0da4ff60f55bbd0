import Foundation

/// The date from which a response that is being decoded counts: a type's
/// `init(from:)` doesn't know the service and its clock.
enum DecodingDate {
    @TaskLocal private static var ofService: Date?

    static var current: Date { ofService ?? Date() }

    /// Decodes with the date of a clock.
    static func by<Value>(
        _ clock: any TimeSource, decode: () throws(AtomError) -> Value
    ) throws(AtomError) -> Value {
        let value = $ofService.withValue(clock.date) { Result { () throws(AtomError) in try decode() } }
        return try value.get()
    }
}
