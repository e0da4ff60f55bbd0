import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct CookieJarTests {
    private var time = Date(timeIntervalSince1970: 1_800_000_000)
    private var jar = CookieJar()

    /// A response from this URL sets the cookies.
    private mutating func set(_ lines: String..., from url: String = "https://a.example.com/") {
        let address = CookieAddress(url)
        for line in lines {
            guard let cookie = Cookie(line, from: address, at: time) else { continue }
            jar.keep(cookie, from: address, at: time)
        }
    }

    /// The `Cookie` field of a request to this URL.
    private mutating func sent(to url: String = "https://a.example.com/") -> String? {
        jar.field(for: CookieAddress(url), at: time)
    }

    @Test mutating func longerPathsComeFirstThenWhatWasSetFirst() {
        set("a=1; Path=/", "b=2; Path=/x/y", "c=3; Path=/", "d=4; Path=/x")
        #expect(sent(to: "https://a.example.com/x/y/z") == "b=2; d=4; a=1; c=3")
        #expect(sent() == "a=1; c=3")
    }

    @Test mutating func aCookieThatIsSetAgainKeepsItsPlace() {
        set("a=1", "b=2", "a=3")
        #expect(sent() == "a=3; b=2")
        set("a=; Max-Age=0")
        #expect(sent() == "b=2")
        set("a=4")
        #expect(sent() == "b=2; a=4")
    }

    @Test mutating func namesPathsAndDomainsTellCookiesApart() {
        set(
            "sid=1; Path=/api", "apisid=2; Path=/", "sid=3; Path=/", "sid=4; Path=/; Domain=example.com",
            "SID=5; Path=/")
        #expect(sent(to: "https://a.example.com/api") == "sid=1; apisid=2; sid=3; sid=4; SID=5")
        #expect(sent(to: "https://b.example.com/api") == "sid=4")
        #expect(jar.count == 5)
    }

    @Test mutating func namesAreBytes() {
        set("\u{E9}=1", "e\u{301}=2", "\u{E9}=3")
        #expect(sent()?.utf8.elementsEqual("\u{E9}=3; e\u{301}=2".utf8) == true)
    }

    @Test mutating func aHostWithADotAtItsEndIsAnotherHost() {
        set("a=1", "b=2; Domain=example.com", from: "https://a.example.com/")
        set("c=3", "d=4; Domain=a.example.com.", "e=5; Domain=com.", from: "https://a.example.com./")
        #expect(sent(to: "https://a.example.com/") == "a=1; b=2")
        #expect(sent(to: "https://a.example.com./") == "c=3; d=4")
        #expect(sent(to: "https://b.example.com./") == nil)
    }

    @Test mutating func aDomainGoesWithTheHostsBelowIt() {
        set("a=1", "b=2; Domain=example.com", "c=3; Domain=a.example.com")
        #expect(sent(to: "https://a.example.com/") == "a=1; b=2; c=3")
        #expect(sent(to: "https://x.a.example.com/") == "b=2; c=3")
        #expect(sent(to: "https://example.com/") == "b=2")
        #expect(sent(to: "https://badexample.com/") == nil)
    }

    @Test(arguments: [
        ("/", "/x", true), ("/x", "/x", true), ("/x", "/x/y", true), ("/x/", "/x/y", true), ("/x/", "/x", false),
        ("/x", "/xy", false), ("/x", "/X", false), ("/e\u{301}", "/é", false), ("/x", "/", false),
    ])
    mutating func aPathGoesWithThePathsBelowIt(path: String, request: String, isSent: Bool) {
        set("a=1; Path=\(path)")
        #expect((sent(to: "https://a.example.com\(request)") != nil) == isSent)
    }

    @Test mutating func aSecureCookieIsSentOverHTTPSOnly() {
        set("a=1; Secure", "b=2")
        #expect(sent(to: "http://a.example.com/") == "b=2")
        #expect(sent() == "a=1; b=2")
    }

    @Test mutating func whatHasExpiredIsNeitherSentNorKept() {
        set("a=1; Max-Age=10", "b=2; Max-Age=20", "c=3")
        time += 9.5
        #expect(sent() == "a=1; b=2; c=3")
        time += 0.5
        #expect(sent() == "b=2; c=3")
        #expect(jar.count == 2)
        time += 1_000
        #expect(sent() == "c=3")
        #expect(jar.count == 1)
    }

    // MARK: Without HTTPS

    @Test(
        "A Secure cookie is left alone by what comes without HTTPS",
        arguments: [
            ("s=EVIL", "http://a.example.com/", false), ("s=EVIL; Max-Age=0", "http://a.example.com/", false),
            ("s=EVIL; Path=/login/x", "http://a.example.com/", false),
            ("s=EVIL; Domain=example.com", "http://b.example.com/", false),
            ("s=EVIL; Domain=example.com", "http://example.com/", false), ("s=EVIL", "http://x.a.example.com/", false),
            ("s=fine", "http://b.example.com/", true), ("t=fine", "http://a.example.com/", true),
            ("s=fine", "https://a.example.com/", true),
        ])
    mutating func secureCookiesAreLeftAlone(line: String, url: String, isKept: Bool) {
        set("s=1; Secure; Path=/")
        let before = jar
        set(line, from: url)
        #expect((jar != before) == isKept)
    }

    @Test mutating func aSecureCookieOfAFolderDoesNotCloseTheFoldersAboveIt() {
        // RFC 6265bis §5.7: the new cookie's path has to be inside the Secure
        // cookie's path.
        set("s=1; Secure; Path=/login")
        set("s=2; Path=/", from: "http://a.example.com/")
        #expect(sent(to: "https://a.example.com/login") == "s=1; s=2")
    }

    @Test mutating func aSecureCookieThatHasExpiredProtectsItsNameNoMore() {
        set("s=1; Secure; Max-Age=10")
        time += 10
        set("s=2", from: "http://a.example.com/")
        #expect(sent() == "s=2")
    }

    // MARK: Bounds

    @Test mutating func ofADomainFiftyAreKeptAndTheLeastRecentlyUsedGoes() {
        for number in 0..<50 { set("c\(number)=1; Path=/\(number)") }
        // Sent, and set again.
        _ = sent(to: "https://a.example.com/0")
        set("c1=2; Path=/1")
        set("new=1; Path=/new")
        #expect(jar.count == 50)
        for number in 0..<50 {
            #expect((sent(to: "https://a.example.com/\(number)") != nil) == (number != 2), "\(number)")
        }
        #expect(sent(to: "https://a.example.com/new") == "new=1")
    }

    @Test mutating func whatHasExpiredGoesFirstThenWhatIsNotSecure() {
        for number in 0..<48 { set("s\(number)=1; Secure; Path=/s\(number)") }
        set("old=1; Path=/old; Max-Age=10", "plain=1; Path=/plain; Max-Age=20")
        time += 10
        set("one=1; Secure; Path=/one")
        #expect(jar.count == 50)
        #expect(sent(to: "https://a.example.com/plain") == "plain=1")
        set("two=1; Secure; Path=/two")
        #expect(sent(to: "https://a.example.com/plain") == nil)
        #expect(sent(to: "https://a.example.com/s0") == "s0=1")
        // Now all are Secure: the oldest is removed, which isn't the one that
        // was just sent.
        set("three=1; Secure; Path=/three")
        #expect(sent(to: "https://a.example.com/s0") == "s0=1")
        #expect(sent(to: "https://a.example.com/s1") == nil)
        #expect(jar.count == 50)
    }

    @Test mutating func noFloodWithoutHTTPSPushesASecureCookieOut() {
        set("s=1; Secure; Path=/")
        for number in 0..<200 { set("c\(number)=1; Path=/x", from: "http://a.example.com/") }
        #expect(sent() == "s=1")
        #expect(jar.count == 50)
    }

    @Test mutating func inAllThreeThousandAreKept() {
        for number in 0..<3_000 { set("a=\(number)", from: "https://h\(number).example.com/") }
        #expect(sent(to: "https://h0.example.com/") == "a=0")
        set("b=1", from: "https://other.example.com/")
        #expect(jar.count == 3_000)
        #expect(sent(to: "https://h0.example.com/") == "a=0")
        #expect(sent(to: "https://h1.example.com/") == nil)
        #expect(sent(to: "https://other.example.com/") == "b=1")
        set("a=new; Max-Age=10", from: "https://h2999.example.com/")
        time += 10
        // The expired cookie is removed, although it was set last.
        set("c=1", from: "https://more.example.com/")
        #expect(jar.count == 3_000)
        #expect(sent(to: "https://h2.example.com/") == "a=2")
        #expect(sent(to: "https://h2999.example.com/") == nil)
    }
}
