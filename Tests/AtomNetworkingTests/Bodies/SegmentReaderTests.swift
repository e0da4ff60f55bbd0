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

@Suite("Reading a body of data and files", .limited)
struct SegmentReaderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func file(_ name: String, _ content: Data) throws -> FileSegment {
        try content.write(to: folder[name])
        return try FileSegment(url: folder[name])
    }

    private func file(_ name: String, _ content: String) throws -> FileSegment {
        try file(name, Data(content.utf8))
    }

    /// Moves the time of the last change by ten seconds, because the clock of a
    /// file system can be coarse.
    private func age(_ name: String) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date().addingTimeInterval(10)], ofItemAtPath: folder[name].path)
    }

    @Test("Each buffer is filled up to the end of the body", arguments: [1, 2, 3, 7, 16, 64, 1000, 100_000])
    func bufferSizes(_ size: Int) throws {
        var random = SeededGenerator(seed: 11)
        var segments: [BodySegments.Segment] = []
        var expected = Data()
        for (index, count) in [0, 5, 64, 0, 63, 1, 1000, 3, 0].enumerated() {
            let content = Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
            // A slice, whose indices don't begin with 0.
            segments.append(.data((Data([1, 2, 3]) + content).dropFirst(3)))
            segments.append(.file(try file("\(index)", Data(content.reversed()))))
            expected += content + content.reversed()
        }
        let body = try BodySegments(segments)
        #expect(body.length == Int64(expected.count))
        #expect(try body.makeReader().rest(bufferSize: size) == expected)

        let reader = body.makeReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { buffer.deallocate() }
        var left = expected.count
        while left > 0 {
            #expect(try reader.read(into: buffer) == min(size, left))
            left -= size
        }
        #expect(try reader.read(into: buffer) == 0)
        #expect(try reader.read(into: buffer) == 0)
    }

    @Test("A body without bytes is at its end")
    func empty() throws {
        #expect(try BodySegments([]).bytes() == Data())
        #expect(try BodySegments([.data(Data()), .file(file("a", ""))]).bytes() == Data())
    }

    @Test("Each reader begins at the beginning")
    func twoReaders() throws {
        let body = try BodySegments([.data(Data("<".utf8)), .file(file("a", "hello")), .data(Data(">".utf8))])
        let first = body.makeReader()
        let second = body.makeReader()
        #expect(try first.readByte() == 1)
        #expect(try second.rest() == Data("<hello>".utf8))
        #expect(try first.rest() == Data("hello>".utf8))
    }

    @Test("After closing, nothing is read")
    func closed() throws {
        let body = try BodySegments([.file(file("a", "hello"))])
        let reader = body.makeReader()
        #expect(try reader.readByte() == 1)
        reader.close()
        reader.close()
        #expect(try reader.rest() == Data())
    }

    @Test("At most one file is open, and none after the end")
    func openFiles() throws {
        #if os(Linux)
            func openFiles() throws -> Int {
                let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                let paths = numbers.compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
                }
                return paths.count { $0.hasPrefix(folder.url.path) }
            }
            let body = try BodySegments([.file(file("a", "aa")), .file(file("b", "bb"))])
            #expect(try openFiles() == 0)
            var reader: SegmentReader? = body.makeReader()
            for expected in [1, 0, 1, 0, 0] {
                _ = try reader?.readByte()
                #expect(try openFiles() == expected)
            }
            reader = body.makeReader()
            _ = try reader?.readByte()
            #expect(try openFiles() == 1)
            reader = nil
            #expect(try openFiles() == 0)
        #endif
    }

    @Test(
        "A file with other content than was noted is never sent as a whole",
        arguments: [("shorter", "hell"), ("longer", "hello!"), ("empty", "")], [true, false])
    func otherLength(_ change: (String, String), isReplaced: Bool) throws {
        let body = try BodySegments([.data(Data("<".utf8)), .file(file("a", "hello")), .data(Data(">".utf8))])
        // An atomic writing replaces the file.
        try Data(change.1.utf8).write(to: folder["a"], options: isReplaced ? .atomic : [])
        let reader = body.makeReader()
        let error = transferFailure { () throws(AtomError) in try reader.rest(bufferSize: 2) }
        #expect(error?.reason == .bodyLengthChanged)
        #expect(error?.delivery == .maybeSent)
        #expect(error?.explanation.contains("“a”") == true)
        #expect(error?.explanation.contains(folder.url.path) == false)
        // The error stays.
        #expect(transferFailure { () throws(AtomError) in try reader.rest() } == error)
    }

    @Test(
        "A file that is changed while it is read is not sent to its end", arguments: ["hell", "hello world", "HELLO"])
    func changedWhileOpen(_ content: String) throws {
        let body = try BodySegments([.file(file("a", "hello"))])
        let reader = body.makeReader()
        #expect(try reader.readByte() == 1)
        try Data(content.utf8).write(to: folder["a"])
        try age("a")
        var received = 1
        let error = transferFailure { () throws(AtomError) in
            while try reader.readByte() > 0 { received += 1 }
            return Data()
        }
        #expect(error?.reason == .bodyLengthChanged)
        #expect(received < 5)
    }

    @Test("A file that is overwritten with the same length before it is read is not sent")
    func sameLength() throws {
        let body = try BodySegments([.file(file("a", "hello"))])
        try Data("HELLO".utf8).write(to: folder["a"])
        try age("a")
        let error = transferFailure { () throws(AtomError) in try body.bytes() }
        #expect(error?.reason == .bodyLengthChanged)
    }

    @Test("An open file that is removed is sent as it was")
    func removedWhileOpen() throws {
        let body = try BodySegments([.file(file("a", "hello"))])
        let reader = body.makeReader()
        #expect(try reader.readByte() == 1)
        try FileManager.default.removeItem(at: folder["a"])
        #expect(try reader.rest() == Data("ello".utf8))
    }

    @Test("A file that vanished fails with the error of the system")
    func vanished() throws {
        let body = try BodySegments([.data(Data("<".utf8)), .file(file("a", "hello"))])
        try FileManager.default.removeItem(at: folder["a"])
        let error = transferFailure { () throws(AtomError) in try body.bytes() }
        #expect(error?.reason == .bodyFailed)
        #expect(error?.delivery == .maybeSent)
        #expect(error?.explanation == "The file “a” was removed before it was sent.")
        #expect((error?.underlyingError as? POSIXError)?.code == .ENOENT)
    }

    @Test("A file that was replaced by a pipe or a folder is refused without waiting")
    func replacedByPipe() throws {
        let pipe = try BodySegments([.file(file("a", "hello"))])
        let directory = try BodySegments([.file(file("b", "hello"))])
        for name in ["a", "b"] { try FileManager.default.removeItem(at: folder[name]) }
        try #require(mkfifo(folder["a"].path, 0o600) == 0)
        try FileManager.default.createDirectory(at: folder["b"], withIntermediateDirectories: false)
        #expect(transferFailure { () throws(AtomError) in try pipe.bytes() }?.reason == .bodyLengthChanged)
        #expect(transferFailure { () throws(AtomError) in try directory.bytes() }?.reason == .bodyLengthChanged)
    }

    #if os(Linux)
        @Test("A file of the kernel, whose length is always 0, isn't sent as an empty body")
        func kernelFile() throws {
            let segment = try FileSegment(url: URL(fileURLWithPath: "/proc/self/status"))
            #expect(segment.length == 0)
            let body = try BodySegments([.file(segment)])
            #expect(transferFailure { () throws(AtomError) in try body.bytes() }?.reason == .bodyLengthChanged)
        }
    #endif

    @Test("A large file goes through a small buffer")
    func largeFile() throws {
        try Data("start".utf8).write(to: folder["large"])
        let handle = try FileHandle(forWritingTo: folder["large"])
        try handle.truncate(atOffset: 64 << 20)
        try handle.close()
        let reader = try BodySegments([.file(FileSegment(url: folder["large"]))]).makeReader()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 60_000, alignment: 1)
        defer { buffer.deallocate() }
        var total = 0
        while true {
            let count = try reader.read(into: buffer)
            guard count > 0 else { break }
            if total == 0 { #expect(buffer.starts(with: "start".utf8)) }
            total += count
        }
        #expect(total == 64 << 20)
    }

    @Test("A length over 63 bits is refused")
    func overflow() throws {
        try Data().write(to: folder["sparse"])
        let handle = try FileHandle(forWritingTo: folder["sparse"])
        // Not every file system has files of this size.
        guard (try? handle.truncate(atOffset: UInt64(Int64.max) - 4095)) != nil else { return }
        try handle.close()
        let segment = try FileSegment(url: folder["sparse"])
        let error = refusal { () throws(AtomError) in try BodySegments([.file(segment), .file(segment)]) }
        #expect(error == .invalidBody(.init(reason: "")))
    }
}
