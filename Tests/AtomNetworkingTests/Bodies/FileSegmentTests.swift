import Foundation
import Testing

@testable import AtomNetworking

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite("A file in a body, before the network is used", .limited)
struct FileSegmentTests {
    private static func check(
        _ url: URL, isRefusedAs name: String, because reason: String, isMissing: Bool = false,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let error = refusal { () throws(AtomError) in try FileSegment(url: url) }
        #expect(error == .invalidBody(.init(reason: "")), sourceLocation: location)
        #expect(error?.violation.subject == name, sourceLocation: location)
        let text = error?.violation.reason ?? ""
        #expect(text.contains(reason), sourceLocation: location)
        // The folder may be private, but is the reason if the file is missing.
        #expect("\(String(describing: error))".contains("/store-") == isMissing, sourceLocation: location)
        if isMissing { #expect(text.hasSuffix("/\(name)”"), sourceLocation: location) }
    }

    @Test("Its length is noted")
    func length() throws {
        let folder = try TemporaryFolder()
        try Data("hello".utf8).write(to: folder["a.txt"])
        try Data().write(to: folder["empty"])
        #expect(try FileSegment(url: folder["a.txt"]).length == 5)
        #expect(try FileSegment(url: folder["empty"]).length == 0)
    }

    @Test("A length over 32 bits is noted too")
    func largeLength() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: folder["sparse"])
        let handle = try FileHandle(forWritingTo: folder["sparse"])
        try handle.truncate(atOffset: 6_000_000_000)
        try handle.close()
        let segment = try FileSegment(url: folder["sparse"])
        #expect(segment.length == 6_000_000_000)
        #expect(try BodySegments([.file(segment), .data(Data([1])), .file(segment)]).length == 12_000_000_001)
    }

    @Test("A symbolic link is followed, and spaces and accents are in the name")
    func link() throws {
        let folder = try TemporaryFolder()
        try Data("hello".utf8).write(to: folder["Reise nach Köln #1?.txt"])
        try FileManager.default.createSymbolicLink(
            at: folder["link"], withDestinationURL: folder["Reise nach Köln #1?.txt"])
        #expect(try BodySegments([.file(FileSegment(url: folder["Reise nach Köln #1?.txt"]))]).bytes().count == 5)
        #expect(try FileSegment(url: folder["link"]).length == 5)
    }

    @Test("What is no file is refused, and a pipe isn't waited for")
    func noFile() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder["album"], withIntermediateDirectories: false)
        try #require(mkfifo(folder["pipe"].path, 0o600) == 0)
        try FileManager.default.createSymbolicLink(at: folder["dangling"], withDestinationURL: folder["nothing"])
        try Data().write(to: folder["plain"])

        Self.check(folder["album"], isRefusedAs: "album", because: "this is a folder")
        Self.check(folder["pipe"], isRefusedAs: "pipe", because: "this is a pipe or a socket")
        Self.check(folder["photo.jpg"], isRefusedAs: "photo.jpg", because: "there is no such file: “/", isMissing: true)
        Self.check(folder["dangling"], isRefusedAs: "dangling", because: "there is no such file: “/", isMissing: true)
        Self.check(folder["plain/inner"], isRefusedAs: "inner", because: "there is no such file: “/", isMissing: true)
        Self.check(URL(fileURLWithPath: "/dev/null"), isRefusedAs: "null", because: "this is a device")
    }

    #if canImport(Glibc)
        @Test("A socket is refused")
        func socket() throws {
            let folder = try TemporaryFolder()
            let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(number) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: folder["socket"].path.utf8) }
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(status == 0)
            Self.check(folder["socket"], isRefusedAs: "socket", because: "this is a pipe or a socket")
        }
    #endif

    @Test("A URL that isn't a file's is refused")
    func noFileURL() throws {
        let url = try #require(URL(string: "https://example.com/photo.jpg?token=secret"))
        Self.check(url, isRefusedAs: "photo.jpg", because: "create it with URL(fileURLWithPath:)")
    }

    // The administrator may read every file.
    @Test("A file without permission is refused", .enabled(if: geteuid() != 0))
    func permission() throws {
        let folder = try TemporaryFolder()
        try Data("hello".utf8).write(to: folder["private"])
        try #require(chmod(folder["private"].path, 0) == 0)
        Self.check(folder["private"], isRefusedAs: "private", because: "may not read")
    }
}
