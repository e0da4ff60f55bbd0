import Foundation

/// A flight in the API.
struct Flight: Encodable, Sendable {
    let number: String
    let origin: String
    let destination: String
    let departure: Date
    let arrival: Date
    let aircraft: String
    let fareInCents: Int
}

/// The flights of the next day.
enum Timetable {
    static func flights(after date: Date) -> [Flight] {
        let day = 86_400.0
        let midnight = Date(timeIntervalSince1970: (date.timeIntervalSince1970 / day).rounded(.down) * day + day)
        func flight(
            _ number: String, _ origin: String, _ destination: String, departs minute: Int, takes duration: Int,
            _ aircraft: String, _ fare: Int
        ) -> Flight {
            Flight(
                number: number, origin: origin, destination: destination,
                departure: midnight + Double(minute * 60), arrival: midnight + Double((minute + duration) * 60),
                aircraft: aircraft, fareInCents: fare)
        }
        return [
            flight("AS100", "SEA", "SFO", departs: 415, takes: 128, "737-900", 12_900),
            flight("AS212", "SEA", "LAX", departs: 500, takes: 165, "737-MAX9", 15_400),
            flight("AS330", "PDX", "SAN", departs: 605, takes: 160, "E175", 11_900),
            flight("AS488", "SEA", "ANC", departs: 700, takes: 225, "737-800", 21_900),
            flight("AS517", "SFO", "SEA", departs: 880, takes: 131, "737-900", 13_900),
            flight("AS821", "SEA", "HNL", departs: 1015, takes: 372, "737-MAX9", 38_900),
        ]
    }
}
