import Foundation

/// Latencies for people, in the unit that fits.
struct LatencyText: Sendable {
    private struct Unit {
        let nanoseconds: Int64
        let symbol: String
        var plain: String?
    }

    private static let units = [
        Unit(nanoseconds: 1_000_000_000, symbol: "s"), Unit(nanoseconds: 1_000_000, symbol: "ms"),
        Unit(nanoseconds: 1000, symbol: "µs", plain: "us"), Unit(nanoseconds: 1, symbol: "ns"),
    ]

    /// Whether signs outside ASCII may be written.
    let usesSymbols: Bool

    /// `812 µs`, `1.24 ms`, `12.4 ms`, `124 ms`, `1.24 s`.
    func text(_ latency: Duration) -> String {
        let nanoseconds = latency.wholeNanoseconds
        // What would be rounded to a thousand is shown in the next unit.
        let unit = unit(of: nanoseconds + nanoseconds / 2000)
        guard unit.nanoseconds > 1 else { return "\(nanoseconds) \(name(of: unit))" }
        let value = Double(nanoseconds) / Double(unit.nanoseconds)
        let digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return String(format: "%.\(digits)f", value) + " \(name(of: unit))"
    }

    /// `0.50–1.00 ms`, all in one unit and with the same number of digits.
    func labels(of buckets: [Latencies.Bucket]) -> [String] {
        guard let first = buckets.first, let upper = first.upper else { return [] }
        let unit = unit(of: buckets.last.map { $0.upper ?? $0.lower } ?? upper)
        let width = upper - first.lower
        var digits = 0
        var scale: Int64 = 1
        while width * scale % unit.nanoseconds != 0 {
            digits += 1
            scale *= 10
        }
        func number(_ bound: Int64) -> String {
            // Bounds are multiples of the width, so nothing is lost.
            let whole = bound / unit.nanoseconds
            let fraction = String(bound % unit.nanoseconds * scale / unit.nanoseconds)
            let zeros = String(repeating: "0", count: max(digits - fraction.count, 0))
            return digits == 0 ? "\(whole)" : "\(whole).\(zeros)\(fraction)"
        }
        return buckets.map { bucket in
            guard let upper = bucket.upper else {
                return "\(usesSymbols ? "≥ " : "from ")\(number(bucket.lower)) \(name(of: unit))"
            }
            return "\(number(bucket.lower))\(usesSymbols ? "–" : "-")\(number(upper)) \(name(of: unit))"
        }
    }

    private func unit(of nanoseconds: Int64) -> Unit {
        Self.units.first { nanoseconds >= $0.nanoseconds } ?? Unit(nanoseconds: 1, symbol: "ns")
    }

    private func name(of unit: Unit) -> String {
        usesSymbols ? unit.symbol : unit.plain ?? unit.symbol
    }
}
