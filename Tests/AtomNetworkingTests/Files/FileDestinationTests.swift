import Foundation
import Testing

@testable import AtomNetworking

@Suite("Where files are written", .limited)
struct FileDestinationTests {
    private let folder: TransferFolder

    init() throws { folder = try TransferFolder() }

    private func place(_ name: String) -> URL { folder.url.appendingPathComponent(name) }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: place(name).path, withDestinationPath: target)
    }

    private func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(at: place(name), withIntermediateDirectories: false)
    }

    private func kind(_ name: String) -> mode_t {
        var status = stat()
        return lstat(place(name).path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    @Test(
        "A file is replaced as a whole and keeps its mode, a new one is for this user only",
        arguments: [0o640, 0o666] as [mode_t])
    func file(mode: mode_t) throws {
        try FileDestination(place("a")).write(Data("new".utf8))
        var status = stat()
        #expect(stat(place("a").path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let before = try #require(Descriptor(place("a").path, O_RDONLY))
        #expect(chmod(place("a").path, mode) == 0)
        try makeFolder("c")
        try link("b", to: "./c/../a")
        try FileDestination(place("b")).write(Data("newer".utf8))
        #expect(try Data(contentsOf: place("a")) == Data("newer".utf8) && before.read(9, at: 0) == Data("new".utf8))
        #expect(stat(place("a").path, &status) == 0 && status.st_mode & 0o777 == mode)
        #expect(folder.names == ["a", "b", "c"] && kind("b") == S_IFLNK)
    }

    @Test("A pipe is written to until all is read, and stays", arguments: ["pipe", "link"])
    func pipe(name: String) async throws {
        #expect(mkfifo(place("pipe").path, 0o600) == 0)
        try link("link", to: "pipe")
        let destination = try FileDestination(place(name))
        let error = #expect(throws: POSIXError.self) { try destination.write(Data("nobody reads".utf8)) }
        #expect(error?.code == .ENXIO)
        // Both ends, so that the file has no end while nobody writes.
        let ends = try #require(FileHandle(forUpdatingAtPath: place("pipe").path))
        // More than a pipe holds.
        let data = Data((0..<300_000).map { UInt8($0 % 251) })
        async let isWritten = onAThreadOfItsOwn { (try? destination.write(data)) != nil }
        let read = await onAThreadOfItsOwn { try? ends.read(upToCount: data.count) }
        #expect(read == data)
        #expect(await isWritten)
        #expect(folder.names == ["link", "pipe"] && kind("pipe") == S_IFIFO)
    }

    @Test("A reader that leaves is an error, and not the end of the process")
    func brokenPipe() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let folder = try TransferFolder()
            let pipe = folder.url.appendingPathComponent("pipe")
            #expect(mkfifo(pipe.path, 0o600) == 0)
            var reader = Descriptor(pipe.path, O_RDONLY)
            let number = try #require(reader?.number)
            let destination = try FileDestination(pipe)
            async let isWritten = onAThreadOfItsOwn { (try? destination.write(Data(count: 1 << 20))) != nil }
            #expect(
                await eventually {
                    var byte: UInt8 = 0
                    return read(number, &byte, 1) == 1
                })
            reader = nil
            #expect(await !isWritten)
        }
    }

    #if os(Linux)
        @Test("What a process has open is written to, by the system's names for it")
        func openFile() throws {
            let file = try #require(Descriptor(place("a").path, O_WRONLY | O_CREAT))
            #expect(file.write(Data("old ".utf8)))
            for folder in ["/proc/self/fd", "/dev/fd"] {
                try FileDestination(URL(fileURLWithPath: "\(folder)/\(file.number)")).write(Data("new ".utf8))
            }
            #expect(try Data(contentsOf: place("a")) == Data("old new new ".utf8) && file.size == 12)
            #expect(folder.names == ["a"])
        }
    #endif

    @Test("What is no place for a file is refused", arguments: ["loose", "circle", "folder", "loose/a"])
    func refused(name: String) throws {
        try link("loose", to: "nowhere")
        try link("circle", to: "circle")
        try makeFolder("folder")
        #expect(throws: (any Error).self) { try FileDestination(place(name)).write(Data()) }
        #expect(folder.names == ["circle", "folder", "loose"])
    }

    @Test(
        "In a folder for everybody another user's links, pipes and files are not used",
        .enabled(if: geteuid() == 0, "only root makes them"), arguments: [0o1777, 0o777, 0o1755] as [mode_t])
    func strangers(mode: mode_t) throws {
        let secret = try folder.file("secret", Data("old".utf8))
        try makeFolder("shared")
        #expect(chmod(place("shared").path, mode) == 0)
        try link("shared/link", to: secret.path)
        try link("shared/way", to: folder.url.path)
        try link("shared/own", to: "link")
        #expect(mkfifo(place("shared/pipe").path, 0o666) == 0)
        try Data().write(to: place("shared/file"))
        for name in ["link", "way", "pipe", "file"] {
            #expect(lchown(place("shared/\(name)").path, 12_345, 12_345) == 0)
        }
        func isRefused(_ name: String) -> Bool { (try? FileDestination(place("shared/\(name)"))) == nil }
        let isShared = mode == 0o1777
        for name in ["link", "own", "way/secret", "pipe", "file"] { #expect(isRefused(name) == isShared, "\(name)") }
        #expect(((try? DownloadPlace(place("shared/link"))) == nil) == isShared)
        // The folder's owner may do there what it likes, and so may this user.
        #expect(lchown(place("shared").path, 12_345, 12_345) == 0 && !isRefused("link") && !isRefused("way/secret"))
        #expect(lchown(place("shared/link").path, 0, 0) == 0 && !isRefused("own"))
    }

    @Test(
        "A folder in the place of a partial file or its notes is said to be one",
        arguments: ["partial", "partial.json"])
    func folderForNotes(ending: String) throws {
        try makeFolder("a.\(ending)")
        #expect(throws: Never.self) { try DownloadPlace(place("a")) }
        let error = #expect(throws: AtomError.self) { try DownloadPlace(place("a"), isResumable: true) }
        #expect(error?.description.contains("“a.\(ending)” is a folder") == true, "\(error as Any)")
        #expect(error?.delivery == .notSent)
    }
}
