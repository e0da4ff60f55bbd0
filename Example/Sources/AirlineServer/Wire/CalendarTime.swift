/// The parts of a UTC time, without a formatter, because every response has a
/// `Date`.
struct CalendarTime: Equatable {
    let year: Int
    let month: Int
    let day: Int
    let hour: Int
    let minute: Int
    let second: Int
    /// 0 is Sunday.
    let weekday: Int

    static let secondsPerDay = 86_400

    init(unixSeconds: Int) {
        let days = Int((Double(unixSeconds) / Double(Self.secondsPerDay)).rounded(.down))
        let time = unixSeconds - days * Self.secondsPerDay
        hour = time / 3600
        minute = time % 3600 / 60
        second = time % 60
        weekday = ((days + 4) % 7 + 7) % 7
        // Days since 1 March of year 0, in eras of 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    var httpDate: String {
        let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        return "\(weekdays[weekday]), \(padded(day)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    /// `1994-11-06T08:49:37Z`.
    var iso8601: String {
        "\(year)-\(padded(month))-\(padded(day))T\(clock)Z"
    }

    private var clock: String {
        "\(padded(hour)):\(padded(minute)):\(padded(second))"
    }

    private func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : String(number)
    }
}
