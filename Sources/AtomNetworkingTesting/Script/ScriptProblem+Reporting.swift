import Foundation

// Swift Testing and XCTest are looked up in the process, so that this library
// works with both, with either and without them.
extension ScriptProblem {
    /// Makes a problem an issue of the test that is running, without ending the process.
    ///
    /// - In a test of Swift Testing, and for a wire that was made in one, Swift Testing records an issue at the line of
    ///   the script. If the wire goes away outside the test's task, the issue may be without a test's name; it fails
    ///   the run all the same.
    /// - Otherwise the running test case of XCTest fails, if there is one.
    /// - In all other cases the text is written to standard error: in a program, in a preview, between two test cases,
    ///   or where the libraries are linked in a way in which they can't be found. If Swift Testing can be found, it
    ///   records an issue too, because nobody can tell whether its tests are running.
    ///
    /// A wire that has answered may go away a moment after the test has ended. So let a test end with
    /// ``ScriptedTransport/verify()``, or run it in `Atom.withScript`: what these throw always belongs to it.
    ///
    /// What is reported after the last test has ended is lost, as with every issue.
    public static func report(_ problem: ScriptProblem) {
        let place = problem.source ?? Place(#fileID, #filePath, #line)
        if place.isInSwiftTesting || isInSwiftTesting, recordIssue(problem, at: place) { return }
        if failTestCase(problem, at: place) { return }
        recordIssue(problem, at: place)
        FileHandle.standardError.write(Data("\(problem)\n".utf8))
    }

    /// Whether this is the task of a test of Swift Testing.
    static var isInSwiftTesting: Bool {
        // Testing.Test.current
        guard let test = _typeByName("7Testing4TestV"), let getter = Function("$s7Testing4TestV7currentACSgvgZ")
        else { return false }
        func isRunning<Test>(_: Test.Type) -> Bool {
            unsafeBitCast(getter, to: CurrentTest<Test>.self).get() != nil
        }
        return _openExistential(test, do: isRunning)
    }

    /// Lets Swift Testing record an issue.
    ///
    /// - Returns: Whether Swift Testing can be found.
    @discardableResult
    private static func recordIssue(_ problem: ScriptProblem, at place: Place) -> Bool {
        // The path has had both names.
        let path = "\(place.filePath)"
        let members: [String: Any] = [
            "fileID": place.fileID, "filePath": path, "_filePath": path, "line": max(place.line, 1), "column": 1,
        ]
        // Testing.Issue.record(_: any Error, _: Comment?, sourceLocation: SourceLocation) -> Issue
        guard let comment = _typeByName("7Testing7CommentV"), let issue = _typeByName("7Testing5IssueV"),
            let location = _typeByName("7Testing14SourceLocationV") as? any Decodable.Type,
            let record = Function(
                "$s7Testing5IssueV6record__14sourceLocationACs5Error_p_AA7CommentVSgAA06SourceE0VtFZ"),
            let json = try? JSONSerialization.data(withJSONObject: members),
            let here = try? JSONDecoder().decode(location, from: json)
        else { return false }
        func with<Comment>(_: Comment.Type) {
            func with<Issue>(_: Issue.Type) {
                func with<Location>(_ here: Location) {
                    let recording = unsafeBitCast(record, to: IssueRecording<Comment, Location, Issue>.self)
                    _ = recording.record(problem, nil, here)
                }
                with(here)
            }
            _openExistential(issue, do: with)
        }
        _openExistential(comment, do: with)
        return true
    }

    /// Lets the running test case of XCTest fail.
    ///
    /// - Returns: Whether there is one.
    private static func failTestCase(_ problem: ScriptProblem, at place: Place) -> Bool {
        let line = UInt(max(place.line, 0))
        #if canImport(Darwin)
            guard let current = Function("_XCTCurrentTestCase"),
                unsafeBitCast(current.address, to: (@convention(c) () -> UnsafeRawPointer?).self)() != nil,
                // XCTest.XCTFail(_: String, file: StaticString, line: UInt)
                let fail = Function("$s6XCTest7XCTFail_4file4lineySS_s12StaticStringVSutF")
            else { return false }
            unsafeBitCast(fail, to: Failing.self).fail("\(problem)", place.filePath, line)
            return true
        #else
            // XCTest.XCTAssert(_: @autoclosure () throws -> Bool, _: @autoclosure () -> String, file: StaticString,
            // line: UInt), which asks for the message only if a test case is running. `XCTFail` doesn't tell.
            guard let assert = Function("$s6XCTest9XCTAssert__4file4lineySbyKXK_SSyXKs12StaticStringVSutF")
            else { return false }
            var isHeard = false
            let assertion = unsafeBitCast(assert, to: Assertion.self)
            assertion.check(
                { false },
                {
                    isHeard = true
                    return "\(problem)"
                }, place.filePath, line)
            return isHeard
        #endif
    }

    /// A function by the name of its symbol, in the form in which Swift keeps a closure.
    ///
    /// Its bits are one of the values below, if that has the function's own type and owns no argument. A type of the
    /// test library is a generic parameter there: both sides pass such values by address, because the test library may
    /// change their size (library evolution), and because nothing is known of them here.
    private struct Function {
        let address: UnsafeMutableRawPointer
        let context: UnsafeMutableRawPointer? = nil

        init?(_ symbol: String) {
            guard let address = dlsym(dlopen(nil, RTLD_LAZY), symbol) else { return nil }
            self.address = address
        }
    }

    private struct CurrentTest<Test> { let get: () -> Test? }

    private struct IssueRecording<Comment, Location, Issue> {
        let record: (any Error, Comment?, Location) -> Issue
    }

    #if canImport(Darwin)
        private struct Failing { let fail: (String, StaticString, UInt) -> Void }
    #else
        private struct Assertion {
            let check: (() throws -> Bool, () -> String, StaticString, UInt) -> Void
        }
    #endif
}
