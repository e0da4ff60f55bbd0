/// What the checks of a contract have found.
///
/// ``TransportContract``, ``TokenCredentialStoreContract`` and ``checkResponseStorage(_:)`` return one.
public struct ContractReport: Sendable {
    /// The result of one check.
    public struct Finding: Sendable, Hashable {
        /// How a check ended.
        public enum Outcome: Sendable, Hashable {
            /// The requirement is met, as far as the check can see.
            case met
            /// The implementation doesn't offer what the check is about, and needn't.
            case notOffered
            /// The requirement isn't met: what was seen, at least one line.
            case violated([String])
        }

        /// The name of the check, a case of its `Check` type.
        public let name: String
        /// What the documentation demands, in one sentence.
        public let requirement: String
        /// How the check ended.
        public let outcome: Outcome

        /// What was seen that must not be; empty if the requirement is met.
        public var problems: [String] { if case .violated(let problems) = outcome { problems } else { [] } }
    }

    /// A contract that isn't met, thrown by ``ContractReport/get()``.
    public struct Violation: Error, CustomStringConvertible {
        /// The report, in which at least one check has failed.
        public let report: ContractReport

        /// The failed checks, with what was seen.
        public var description: String { report.description }
    }

    /// What was checked, for example `Transport`.
    public let subject: String
    /// All checks that were run, in their order.
    public let findings: [Finding]

    /// The checks that found a violation.
    public var failures: [Finding] { findings.filter { !$0.problems.isEmpty } }

    /// Returns the report if no check found a violation.
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    ///
    /// let report = await TransportContract.check { ServiceConfiguration().makeDefaultTransport() }
    /// try report.get()
    /// ```
    ///
    /// - Throws: ``Violation``, whose description lists what was seen.
    @discardableResult
    public func get() throws(Violation) -> ContractReport {
        guard failures.isEmpty else { throw Violation(report: self) }
        return self
    }
}

extension ContractReport: CustomStringConvertible {
    /// The number of checks, and for each failed one its requirement and what was seen.
    public var description: String {
        let missing = findings.filter { $0.outcome == .notOffered }.map(\.name)
        var lines = ["\(subject): \(failures.count) of \(findings.count) checks failed"]
        if !missing.isEmpty { lines[0] += " (not offered: \(missing.joined(separator: ", ")))" }
        for failure in failures {
            lines.append("✘ \(failure.name): \(failure.requirement)")
            lines += failure.problems.map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }
}
