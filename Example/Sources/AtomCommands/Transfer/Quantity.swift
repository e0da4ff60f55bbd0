/// Sizes for people.
enum Quantity {
    /// `12 bytes`, `3.4 kB`, `120 MB`: units of a thousand.
    static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return count == 1 ? "1 byte" : "\(count) bytes" }
        var value = Double(count) / 1000
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
