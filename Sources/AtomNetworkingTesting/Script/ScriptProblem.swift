/// What is wrong with a test that is scripted: a request that nobody answers,
/// an answer that nobody has asked for, or a wait for something that doesn't
/// come.
///
/// ``ScriptedTransport/verify()`` and `Atom.withScript` throw it. A problem that
/// nobody has verified is given to `onProblem` when the wire goes away, and a
/// wait that is given up at once. By default that is ``report(_:)``, which makes
/// it an issue of the test that is running. Trapping is what one asks for:
///
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingTesting
///
/// let (atom, wire) = Atom.scripted(onProblem: { ScriptProblem.stop($0) })
/// ```
///
/// ``ScriptedTransport/problems`` has all of them, whoever was told.
public struct ScriptProblem: Error, Sendable, Hashable {
    /// Everything that is wrong, one sentence or more each.
    public let findings: [String]

    /// The file and the line of the script that nobody has verified, or of the
    /// wait; `nil` for what ``ScriptedTransport/verify()`` has thrown.
    public var place: String? { source?.description }

    /// Where that is.
    let source: Place?

    /// A line of a test.
    struct Place: Sendable, Hashable, CustomStringConvertible {
        let fileID: String
        let filePath: StaticString
        let line: Int
        /// Whether a test of Swift Testing was running there: on another thread this isn't known any more.
        let isInSwiftTesting: Bool

        init(_ fileID: String, _ filePath: StaticString, _ line: Int) {
            (self.fileID, self.filePath, self.line) = (fileID, filePath, line)
            isInSwiftTesting = ScriptProblem.isInSwiftTesting
        }

        var description: String { "\(fileID):\(line)" }

        static func == (a: Place, b: Place) -> Bool { (a.fileID, a.line) == (b.fileID, b.line) }

        func hash(into hasher: inout Hasher) {
            hasher.combine(fileID)
            hasher.combine(line)
        }
    }

    init(_ findings: String...) { self.init(findings: findings) }

    init(findings: [String], source: Place? = nil) {
        self.findings = findings
        self.source = source
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
