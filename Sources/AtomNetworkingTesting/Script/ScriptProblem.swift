/// What is wrong with a test that is scripted: a request that nobody answers,
/// or answers that nobody has asked for.
///
/// ``ScriptedTransport/verify()`` throws it. Problems that nobody has verified
/// are reported when the wire goes away. By default the program stops then: a
/// test must not succeed although its script is wrong, and this library knows no
/// test framework that it could tell. Give it a better place:
///
/// <!-- not compiled: it needs Swift Testing -->
/// ```swift
/// let (atom, wire) = Atom.scripted(.json(page), onProblem: { Issue.record($0) })
/// ```
///
/// With XCTest that is `{ XCTFail("\($0)") }`. A test that runs in
/// `Atom.withScript`
/// needs neither: that throws the problem.
public struct ScriptProblem: Error, Sendable, Hashable {
    /// Everything that is wrong, one sentence or more each.
    public let findings: [String]

    /// The file and the line of the script that nobody has verified; `nil` for
    /// what ``ScriptedTransport/verify()`` has thrown.
    public let place: String?

    init(_ findings: String...) { self.init(findings: findings) }

    init(findings: [String], place: String? = nil) {
        self.findings = findings
        self.place = place
    }

    /// Stops the program with a message.
    public static func stop(_ problem: ScriptProblem) { fatalError("\(problem)") }
}

extension ScriptProblem: CustomStringConvertible {
    /// Everything that is wrong, one finding a line, behind the place.
    public var description: String {
        (place.map { "The script of \($0) has a problem:\n" } ?? "") + findings.joined(separator: "\n")
    }
}
