import Foundation

/// The loopback interface of a network namespace that belongs to this program: it is
/// slowed down and cut.
struct Network: Sendable {
    /// Linux can be built without it.
    private let hasNetem = Network.run("tc", "qdisc", "replace", "dev", "lo", "root", "netem", "delay", "1ms")

    /// - Returns: What the network is from now on.
    func change(_ chance: inout Chance) -> String {
        switch chance.number(0...4) {
        case 0:
            mend()
            return "as it should be"
        case 1:
            // What is sent meanwhile is lost, and sent again by TCP.
            _ = Self.run("ip", "link", "set", "lo", "down")
            usleep(useconds_t(chance.number(50...1_500) * 1_000))
            _ = Self.run("ip", "link", "set", "lo", "up")
            return "cut for up to 1.5 s"
        case 2:
            mend()
            if hasNetem {
                let milliseconds = chance.number(5...60)
                _ = Self.run(
                    "tc", "qdisc", "replace", "dev", "lo", "root", "netem", "delay", "\(milliseconds)ms",
                    "\(milliseconds / 2)ms", "loss", "2%")
                return "up to 60 ms late, with losses"
            }
            fallthrough
        default:
            // A queue of up to 300 ms; what doesn't fit is lost.
            _ = Self.run(
                "tc", "qdisc", "replace", "dev", "lo", "root", "tbf", "rate", "\(chance.number(4...40))mbit", "burst",
                "64kb", "latency", "\(chance.number(20...300))ms")
            return "slow, with a queue and losses"
        }
    }

    func mend() { _ = Self.run("tc", "qdisc", "del", "dev", "lo", "root") }

    private static func run(_ arguments: String...) -> Bool {
        Child(arguments, isSilent: true).map { $0.wait() == nil } ?? false
    }
}
