/// How much of a body has been sent or received.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes so far, those that an earlier download left included.
    public let completed: Int64

    /// The number of bytes in all; `nil` if it isn't known.
    public let total: Int64?

    /// Creates a progress, for tests.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The completed part, from 0 to 1; `nil` if the total isn't known.
    public var fraction: Double? {
        total.map { $0 > 0 ? min(Double(completed) / Double($0), 1) : 1 }
    }

    /// Makes a closure for `progress:` that reports on the main actor.
    ///
    /// The calls keep their order. The last may come after the transfer has returned.
    public static func onMainActor(
        _ report: @escaping @MainActor (TransferProgress) -> Void
    ) -> @Sendable (TransferProgress) -> Void {
        // Not over the main queue: the main actor may have another executor.
        { progress in Task { @MainActor in report(progress) } }
    }
}
