import Foundation
import Testing

@testable import AirlineServer

@Suite(.timeLimit(.minutes(5))) struct ValueTests {
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT", "2000-02-28T23:59:59Z"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT", "2000-02-29T00:00:00Z"),
        (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT", "2100-01-01T00:00:00Z"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT", "1969-12-31T23:59:59Z"),
    ])
    func datesAreWrittenWithoutAFormatter(seconds: Int, httpDate: String, iso8601: String) {
        let time = CalendarTime(unixSeconds: seconds)
        #expect(time.httpDate == httpDate)
        #expect(time.iso8601 == iso8601)
    }

    @Test func formsAreDecoded() throws {
        let pairs = try #require(FormEncoding.decode("a=1+2&b=%2B%26%3D&c&=d&e=%C3%A9&f=a=b"))
        #expect(pairs.map(\.name) == ["a", "b", "c", "", "e", "f"])
        #expect(pairs.map(\.value) == ["1 2", "+&=", "", "d", "é", "a=b"])
        for broken in ["a=%", "a=%2", "a=%zz", "a=%FF"] {
            #expect(FormEncoding.decode(broken) == nil)
        }
    }

    @Test(arguments: [
        ("Basic YTpiOmM=", "a", "b:c"),
        ("basic  Og==", "", ""),
    ])
    func basicCredentialsEndAtTheFirstColon(header: String, user: String, password: String) throws {
        let credentials = try #require(BasicCredentials(authorization: header))
        #expect(credentials.user == user)
        #expect(credentials.password == password)
    }

    @Test(arguments: [nil, "", "Basic", "Basic !!!", "Basic YQ==", "Bearer YTpi"])
    func whatIsNotBasicIsNothing(header: String?) {
        #expect(BasicCredentials(authorization: header) == nil)
    }

    @Test func aRouterKnowsPlaceholdersMethodsAndTails() async throws {
        var router = Router()
        router.on("GET", "/flights/:number/seats") { _ in Reply(status: 1) }
        router.on("POST", "/flights") { _ in Reply(status: 2) }
        router.on("*", "/echo/*") { _ in Reply(status: 3) }

        guard case .found(_, _, let parameters) = router.match(method: "HEAD", path: "/flights/AS100/seats") else {
            Issue.record("HEAD falls back to GET")
            return
        }
        #expect(parameters == ["number": "AS100"])
        guard case .methodNotAllowed(allowed: ["POST"]) = router.match(method: "GET", path: "/flights") else {
            Issue.record("the path exists, the method doesn't")
            return
        }
        for path in ["/echo", "/echo/", "/echo/a/b"] {
            guard case .found = router.match(method: "FLY", path: path) else {
                Issue.record("\(path) is a tail")
                return
            }
        }
        for path in ["/", "/flights/AS100", "/seats", "/flights/AS100/seats/1A"] {
            guard case .notFound = router.match(method: "GET", path: path) else {
                Issue.record("\(path) is nowhere")
                return
            }
        }
    }

    @Test func theLogForgetsTheOldest() {
        var log = EventLog(capacity: 10)
        for index in 1...35 { log.append(.request, at: Double(index)) }
        #expect(log.events(after: 0).map(\.number) == Array(26...35))
        #expect(log.events(after: 33).map(\.number) == [34, 35])
        #expect(log.events(after: 35).isEmpty)
        log.removeAll()
        #expect(log.events(after: 0).isEmpty)
        log.append(.request, at: 36)
        #expect(log.events(after: 35).map(\.number) == [36])
    }
}
