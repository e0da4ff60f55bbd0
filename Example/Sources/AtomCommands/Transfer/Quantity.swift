/// Sizes, speeds and times for people.
enum Quantity {
    /// `12 bytes`, `3.4 kB`, `120 MB`: units of a thousand.
    static func bytes(_ count: Int64) -> String {
        count == 1 ? "1 byte" : count < 1000 ? "\(count) bytes" : scaled(Double(count))
    }

    /// `3.4 MB/s`.
    static func speed(_ bytesPerSecond: Double) -> String {
        bytesPerSecond < 1000 ? "\(Int(bytesPerSecond.rounded())) B/s" : "\(scaled(bytesPerSecond))/s"
    }

    /// `8 s`, `3 min 5 s`, `2 h 10 min`.
    static func time(_ seconds: Double) -> String {
        // Nobody waits for a hundred days, and infinity is no integer.
        let seconds = Int(min(max(seconds, 0), 8_640_000).rounded(.up))
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min \(seconds % 60) s"
        default: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }

    private static func scaled(_ value: Double) -> String {
        var value = value / 1000
        var units = ["kB", "MB", "GB", "TB"][...]
        // 999.95 would be shown as 1000.0.
        while value >= 999.95, units.count > 1 {
            value /= 1000
            units.removeFirst()
        }
        let number = value < 99.95 ? "\((value * 10).rounded() / 10)" : "\(Int(value.rounded()))"
        return "\(number) \(units.first ?? "")"
    }
}
