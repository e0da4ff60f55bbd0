extension Duration {
    /// How long to wait before the next attempt: full jitter below a ceiling
    /// that doubles from `base` to `cap`.
    ///
    /// - Parameter chance: A random number in 0..<1.
    static func backOff(base: Duration, doublings: Int, cap: Duration, chance: Double) -> Duration {
        var ceiling = base
        for _ in 0..<min(max(doublings, 0), 64) where ceiling < cap { ceiling *= 2 }
        return min(ceiling, cap) * chance
    }
}
