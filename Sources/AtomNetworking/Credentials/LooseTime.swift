import Foundation

/// A time as servers and older stores write it: a number or a string.
enum LooseTime: Decodable {
    case number(Double)
    case dated(Date)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Double.self), number.isFinite {
            self = .number(number)
            return
        }
        let text = try container.decode(String.self)
        if let number = Double(text), number.isFinite {
            self = .number(number)
        } else if let date = Self.date(iso8601: text) {
            self = .dated(date)
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The value is neither a number of seconds nor an ISO 8601 date.")
        }
    }

    /// A number below this (the year 2008 in Unix seconds) counts from 2001, as `JSONEncoder` writes dates by default.
    static let firstUnixTime = 1.2e9

    /// A number above this (the year 5138 in Unix seconds) counts milliseconds since 1970.
    static let firstInMilliseconds = 1e11

    /// From this date on (the beginning of the year 4000) a date means `.distantFuture`, in any time zone and unit.
    static let never = Date(timeIntervalSinceReferenceDate: 63_082_281_600)

    var date: Date {
        switch self {
        case .number(let number) where number < Self.firstUnixTime: Date(timeIntervalSinceReferenceDate: number)
        case .number(let number) where number > Self.firstInMilliseconds: Date(timeIntervalSince1970: number / 1_000)
        // `.distantFuture` in seconds since 2001 is the year 3969 in seconds since 1970.
        case .number(let number) where number >= Self.never.timeIntervalSinceReferenceDate: .distantFuture
        case .number(let number): Date(timeIntervalSince1970: number)
        case .dated(let date): date
        }
    }

    func seconds(at path: [any CodingKey]) throws -> Double {
        guard case .number(let number) = self else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: path, debugDescription: "expires_in must be a number of seconds."))
        }
        return min(max(number, 0), Duration.century.seconds)
    }

    /// Reads an ISO 8601 date with or without fractions of a second.
    static func date(iso8601 text: String) -> Date? {
        // Foundation reads ten digits into an Int, which may have 32 bits.
        let numbers = text.utf8.split { !$0.isDigit }
        guard numbers.first?.count == 4, numbers.allSatisfy({ $0.count < 10 }) else { return nil }
        return (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}
