import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses that go to files.
@Suite(.limited) struct DownloadTests {
    private static func content(_ count: Int64, from start: Int64 = 0) -> Data {
        Data((start..<count).map { LoopbackServer.Response.generatedByte(at: $0) })
    }

    private func transferError(of body: () async throws(AtomError) -> Void) async -> TransferError? {
        do {
            try await body()
            return nil
        } catch {
            if case .transfer(let failure) = error { return failure }
            Issue.record("\(error)")
            return nil
        }
    }

    @Test(
        arguments: [(0, false), (0, true), (1, false), (1, true), (300_000, false), (300_000, true)],
        TransportUnderTest.all)
    func aFileIsInPlaceAtTheEnd(_ body: (Int64, Bool), over transport: TransportUnderTest) async throws {
        let (size, isChunked) = body
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .generated(length: size, chunked: isChunked) }
        defer { server.stop() }
        let file = try folder.file("report.pdf")
        let calls = Locked<[TransferProgress]>([])
        let atom = Atom.forTest(over: transport) { $0.dispatchQueue = DispatchQueue(label: "test") }
        let response = try await atom.enqueue(server.endpoint("/report")).download(
            progress: { progress in calls.with { $0.append(progress) } }, to: file)
        #expect(response.statusCode == 200)
        #expect(response.data.isEmpty)
        #expect(try Data(contentsOf: file) == Self.content(size))
        #expect(folder.names == ["report.pdf"])
        #expect(server.requests.first?["Range"] == nil)
        #expect(await eventually { calls.value.last?.completed == size })
        #expect(calls.value.last?.total == (isChunked ? nil : size))
    }

    @Test(arguments: TransportUnderTest.all)
    func whatWasThereIsReplacedOnlyByAWholeFile(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a", Data("old".utf8))
        let server = try LoopbackServer { request in
            request.path == "/short" ? .truncated(declaredLength: 10, body: Data("new".utf8)) : .text("new")
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        await #expect(throws: AtomError.self) { try await atom.enqueue(server.endpoint("/short")).download(to: file) }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(folder.names == ["a"])
        try await atom.enqueue(server.endpoint("/whole")).download(to: file)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(folder.names == ["a"])
    }

    @Test(arguments: TransportUnderTest.all)
    func anErrorsBodyIsInTheError(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .text("no such report", status: 404) }
        defer { server.stop() }
        do {
            try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).download(to: folder.file("a"))
            Issue.record("It succeeded")
        } catch {
            guard case .response(let response)? = error as? AtomError else {
                Issue.record("\(error)")
                return
            }
            #expect(response.data == Data("no such report".utf8))
        }
        #expect(folder.names == [])
    }

    @Test(arguments: TransportUnderTest.all)
    func aDestinationThatCannotBeUsedIsToldBeforeAnythingIsSent(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .text("x") }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let places = [
            folder.url, folder.url.appendingPathComponent("missing/a"),
            try #require(URL(string: "https://a.example/b")),
        ]
        for place in places {
            let error = await transferError { () throws(AtomError) in try await service.download(to: place) }
            #expect(error?.reason == .destinationUnusable)
            #expect(error?.delivery == .notSent)
        }
        #expect(server.requestCount == 0)
    }

    @Test(arguments: TransportUnderTest.all)
    func onlyAFileIsReplaced(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .text("new") }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let pipe = folder.url.appendingPathComponent("pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let loose = folder.url.appendingPathComponent("loose")
        let toPipe = folder.url.appendingPathComponent("to-pipe")
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: loose.path, withDestinationPath: "nowhere")
        try manager.createSymbolicLink(atPath: toPipe.path, withDestinationPath: "pipe")
        for place in [pipe, loose, toPipe] {
            let error = await transferError { () throws(AtomError) in try await service.download(to: place) }
            #expect(error?.reason == .destinationUnusable)
        }
        #expect(server.requestCount == 0)
        #expect(folder.names == ["loose", "pipe", "to-pipe"])

        let target = try folder.file("target", Data("old".utf8))
        let link = folder.url.appendingPathComponent("link")
        try manager.createSymbolicLink(atPath: link.path, withDestinationPath: "target")
        try await service.download(to: link, isResumable: true)
        #expect(try Data(contentsOf: target) == Data("new".utf8))
        #expect(try manager.destinationOfSymbolicLink(atPath: link.path) == "target")
        #expect(folder.names == ["link", "loose", "pipe", "target", "to-pipe"])
    }

    @Test(arguments: TransportUnderTest.all)
    func aLimitEndsTheDownload(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        for isChunked in [false, true] {
            let server = try LoopbackServer { _ in .generated(length: 1_000_000, chunked: isChunked) }
            defer { server.stop() }
            let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
            let error = await transferError { () throws(AtomError) in
                try await service.download(to: file, maximumSize: 500_000)
            }
            #expect(error?.reason == .tooLarge)
            #expect(folder.names == [])
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func cancellationLeavesNothing(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let server = try LoopbackServer { _ in
            .streamed([.generate(length: 100_000, chunk: 10_000), .hang], length: 200_000)
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let task = Task { try await service.download(to: file) }
        #expect(await eventually { !folder.names.isEmpty })
        task.cancel()
        let result = await task.result
        #expect(throws: AtomError.self) { try result.get() }
        // The file goes with the attempt, whose end may come later.
        #expect(await eventually { folder.names == [] })
    }

    // MARK: Resumption

    @Test("A pipe in the place of the notes isn't waited for", arguments: TransportUnderTest.all)
    func pipeForNotes(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .text("new") }
        defer { server.stop() }
        #expect(mkfifo(folder.url.appendingPathComponent("a.partial.json").path, 0o600) == 0)
        let file = try folder.file("a")
        try await Atom.forTest(over: transport).enqueue(server.endpoint("/")).download(to: file, isResumable: true)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
    }

    @Test(arguments: TransportUnderTest.all)
    func aCancelledDownloadCanBeResumedAtOnce(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let isFirst = Locked(true)
        let server = try LoopbackServer { request in
            let headers = [("ETag", "\"v\""), ("Accept-Ranges", "bytes")]
            let begins = isFirst.value
            isFirst.with { $0 = false }
            guard begins else {
                let first = request["Range"].flatMap { Int64($0.dropFirst("bytes=".count).dropLast()) } ?? 0
                return .status(
                    206, headers: headers + [("Content-Range", "bytes \(first)-199999/200000")],
                    body: Self.content(200_000, from: first))
            }
            return .streamed([.generate(length: 100_000, chunk: 10_000), .hang], headers: headers, length: 200_000)
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let task = Task { try await service.download(to: file, isResumable: true) }
        let partial = folder.url.appendingPathComponent("a.partial")
        #expect(await eventually { ((try? Data(contentsOf: partial))?.count ?? 0) > 0 })
        task.cancel()
        let result = await task.result
        #expect(throws: AtomError.self) { try result.get() }
        try await service.download(to: file, isResumable: true)
        #expect(try Data(contentsOf: file) == Self.content(200_000))
        #expect(folder.names == ["a"])
    }

    /// A server of one file, with an entity tag and ranges.
    private static func fileServer(
        _ size: Int64, tag: Locked<String>, cutsAt cut: Locked<Int64?>
    ) throws -> LoopbackServer {
        try LoopbackServer { request in
            var start: Int64 = 0
            var status = 200
            var headers = [("ETag", tag.value), ("Accept-Ranges", "bytes")]
            if let range = request["Range"], request["If-Range"] == tag.value,
                let first = Int64(range.dropFirst("bytes=".count).dropLast())
            {
                (start, status) = (first, 206)
                headers.append(("Content-Range", "bytes \(first)-\(size - 1)/\(size)"))
            }
            let body = content(size, from: start)
            guard let end = cut.value, end > start else { return .status(status, headers: headers, body: body) }
            return .truncated(
                declaredLength: body.count, body: body.prefix(Int(end - start)), status: status, headers: headers)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func aDownloadGoesOnWhereItEnded(over transport: TransportUnderTest) async throws {
        let size: Int64 = 100_000
        let folder = try TransferFolder()
        let file = try folder.file("a.bin")
        let (tag, cut) = (Locked("\"v1\""), Locked<Int64?>(nil))
        let server = try Self.fileServer(size, tag: tag, cutsAt: cut)
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/a.bin"))
        for end in [Int64(1), 40_000, 70_000] {
            cut.with { $0 = end }
            await #expect(throws: AtomError.self) { try await service.download(to: file, isResumable: true) }
            #expect(folder.names == ["a.bin.partial", "a.bin.partial.json"])
        }
        cut.with { $0 = nil }
        let response = try await service.download(to: file, isResumable: true)
        #expect(response.statusCode == 206)
        #expect(try Data(contentsOf: file) == Self.content(size))
        #expect(folder.names == ["a.bin"])
        #expect(server.requests.map { $0["Range"] } == [nil, "bytes=0-", "bytes=23616-", "bytes=53616-"])
        #expect(server.requests.dropFirst().allSatisfy { $0["If-Range"] == "\"v1\"" })
    }

    @Test(arguments: TransportUnderTest.all)
    func aChangedFileBeginsAnew(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a.bin")
        let (tag, cut) = (Locked("\"v1\""), Locked<Int64?>(5_000))
        let server = try Self.fileServer(10_000, tag: tag, cutsAt: cut)
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/a.bin"))
        await #expect(throws: AtomError.self) { try await service.download(to: file, isResumable: true) }
        tag.with { $0 = "\"v2\"" }
        cut.with { $0 = nil }
        let response = try await service.download(to: file, isResumable: true)
        #expect(response.statusCode == 200)
        #expect(try Data(contentsOf: file) == Self.content(10_000))
        #expect(folder.names == ["a.bin"])
    }

    @Test(arguments: TransportUnderTest.all)
    func theEndpointsOwnRangeIsTheFile(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let server = try LoopbackServer { _ in
            .status(206, headers: [("Content-Range", "bytes 5-7/100"), ("ETag", "\"v\"")], body: Data("567".utf8))
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/", headers: ["Range": "bytes=5-7"]))
        try await service.download(to: file, isResumable: true)
        #expect(try Data(contentsOf: file) == Data("567".utf8))
        #expect(server.requests.map { $0["Range"] } == ["bytes=5-7"])
    }

    /// What happens to a partial file between the request and its response.
    enum Interference: CaseIterable { case removed, shortened, otherVersion, replaced }

    @Test(arguments: Interference.allCases, TransportUnderTest.all)
    func aPartialFileThatChangesDuringTheRequestIsNotUsed(
        interference: Interference, over transport: TransportUnderTest
    ) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a", Data("whole".utf8))
        let partial = folder.url.appendingPathComponent("a.partial")
        let notes = folder.url.appendingPathComponent("a.partial.json")
        let server = try LoopbackServer { request in
            guard request["Range"] != nil else {
                return .truncated(declaredLength: 100, body: Data(count: 50), headers: [("ETag", "\"v\"")])
            }
            switch interference {
            case .removed: try? FileManager.default.removeItem(at: partial)
            case .shortened: try? Data(count: 10).write(to: partial)
            case .otherVersion:
                let text = (try? String(contentsOf: notes, encoding: .utf8)) ?? ""
                try? Data(text.replacingOccurrences(of: "\\\"v", with: "\\\"w").utf8).write(to: notes)
            case .replaced:
                try? FileManager.default.removeItem(at: partial)
                try? Data(count: 10).write(to: partial)
            }
            return .status(
                206, headers: [("Content-Range", "bytes 0-99/100"), ("ETag", "\"v\"")], body: Data(count: 100))
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        for _ in 0..<2 {
            await #expect(throws: AtomError.self) { try await service.download(to: file, isResumable: true) }
        }
        #expect(try Data(contentsOf: file) == Data("whole".utf8))
    }

    @Test("A part that nobody has asked for is a failure", arguments: TransportUnderTest.all)
    func unaskedPart(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in
            .status(206, headers: [("Content-Range", "bytes 0-3/100")], body: Data("part".utf8))
        }
        defer { server.stop() }
        var endpoint = server.endpoint("/")
        let atom = Atom.forTest(over: transport)
        let place = try folder.file("a")
        func status(_ body: () async throws -> Void) async -> Int? {
            do { try await body() } catch { return (error as? AtomError)?.response?.statusCode }
            return nil
        }
        #expect(await status { _ = try await atom.enqueue(endpoint).resume() } == 206)
        #expect(await status { _ = try await atom.enqueue(endpoint).bytes() } == 206)
        #expect(await status { try await atom.enqueue(endpoint).download(to: place) } == 206)
        endpoint.headerItems = [HeaderItem(name: "Range", value: "bytes=0-3")]
        #expect(try await atom.enqueue(endpoint).resume().data == Data("part".utf8))
    }

    @Test(arguments: TransportUnderTest.all)
    func anAcceptedStatusThatIsNoFileIsAnError(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .text("none", status: 404) }
        defer { server.stop() }
        var endpoint = server.endpoint("/")
        endpoint.acceptableStatusCodes = 200...499
        let service = Atom.forTest(over: transport).enqueue(endpoint)
        let place = try folder.file("a")
        do throws(AtomError) {
            try await service.download(to: place)
            Issue.record("It succeeded")
        } catch {
            guard case .response(let response) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(response.statusCode == 404)
        }
        #expect(folder.names == [])
    }

    @Test(arguments: TransportUnderTest.all)
    func withoutAStrongTagNothingIsLeft(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        for tag in ["W/\"v\"", "v", ""] {
            let server = try LoopbackServer { _ in
                .truncated(
                    declaredLength: 100, body: Data(count: 50), headers: tag.isEmpty ? [] : [("ETag", tag)])
            }
            defer { server.stop() }
            let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
            await #expect(throws: AtomError.self) { try await service.download(to: file, isResumable: true) }
            #expect(folder.names == [])
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func aCompletionHearsOnce(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a")
        let server = try LoopbackServer { _ in .text("whole") }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let result = await withCheckedContinuation { continuation in
            service.download(to: file) { continuation.resume(returning: $0) }
        }
        #expect(result.response?.statusCode == 200)
        #expect(try Data(contentsOf: file) == Data("whole".utf8))
    }

    // MARK: What is no file, and what a file is like

    @Test(arguments: [204, 205, nil], TransportUnderTest.all)
    func aResponseWithoutContentIsNoFile(status: Int?, over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("a", Data("old".utf8))
        // Without a status of its own it is a response to HEAD.
        let server = try LoopbackServer { _ in
            status.map { .empty($0) } ?? .status(200, headers: [("ETag", "\"v\"")])
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/", method: status == nil ? .head : .get))
        for isResumable in [false, true] {
            do throws(AtomError) {
                try await service.download(to: file, isResumable: isResumable)
                Issue.record("It succeeded")
            } catch {
                guard case .response(let response) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(response.statusCode == (status ?? 200))
            }
            #expect(try Data(contentsOf: file) == Data("old".utf8))
            #expect(folder.names == ["a"])
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func aNameMayBeAsLongAsTheFileSystemAllows(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let server = try LoopbackServer { _ in .text("new") }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        for (count, isResumable, fits) in [
            (79, false, true), (85, false, true), (86, false, false), (79, true, true), (81, true, false),
        ] {
            let name = String(repeating: "語", count: count)
            let file = try folder.file(name)
            let before = server.requestCount
            let error = await transferError { () throws(AtomError) in
                try await service.download(to: file, isResumable: isResumable)
            }
            if fits {
                #expect(error == nil)
                #expect(try Data(contentsOf: file) == Data("new".utf8))
                #expect(folder.names == [name])
                try FileManager.default.removeItem(at: file)
            } else {
                #expect(error?.reason == .destinationUnusable && error?.delivery == .notSent)
                #expect(server.requestCount == before)
            }
        }
    }

    @Test(arguments: [false, true], TransportUnderTest.all)
    func aFileKeepsTheModeOfTheOneThatItReplaces(isResumable: Bool, over transport: TransportUnderTest) async throws {
        func mode(_ file: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        }
        let folder = try TransferFolder()
        let (tag, cut) = (Locked("\"v\""), Locked<Int64?>(nil))
        let server = try Self.fileServer(100_000, tag: tag, cutsAt: cut)
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        let ordinary = folder.url.appendingPathComponent("ordinary")
        #expect(FileManager.default.createFile(atPath: ordinary.path, contents: nil))
        for wanted in [nil, 0o600, 0o640] {
            let file = folder.url.appendingPathComponent("a")
            if let wanted {
                try Data("old".utf8).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: file.path)
            }
            if isResumable {
                for end in [Int64(30_000), 60_000] {
                    cut.set(end)
                    await #expect(throws: AtomError.self) { try await service.download(to: file, isResumable: true) }
                    #expect(try mode(file.appendingPathExtension("partial")) == 0o600)
                    #expect(try mode(file.appendingPathExtension("partial.json")) == 0o600)
                }
                cut.set(nil)
            }
            try await service.download(to: file, isResumable: isResumable)
            #expect(try mode(file) == wanted ?? mode(ordinary))
            #expect(try Data(contentsOf: file) == Self.content(100_000))
            try FileManager.default.removeItem(at: file)
        }
    }

    #if os(Linux)
        /// The files of a folder that this process has open, also removed ones.
        private static func openFiles(in folder: TransferFolder) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
                .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                .filter { $0.hasPrefix(folder.url.path + "/") }
        }

        @Test(arguments: [false, true], TransportUnderTest.all)
        func whoKeepsTheTaskKeepsNoFileOpen(isResumable: Bool, over transport: TransportUnderTest) async throws {
            let folder = try TransferFolder()
            let cut = Locked<Int64?>(nil)
            let server = try Self.fileServer(100_000, tag: Locked("\"v\""), cutsAt: cut)
            defer { server.stop() }
            let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
            var tasks: [ServiceTask] = []
            for end in [Int64(30_000), nil] {
                cut.set(end)
                let isWhole = await withCheckedContinuation { continuation in
                    let file = folder.url.appendingPathComponent("a")
                    tasks.append(
                        service.download(to: file, isResumable: isResumable) { result in
                            continuation.resume(returning: (try? result.get()) != nil)
                        })
                }
                #expect(isWhole == (end == nil))
                #expect(await eventually { (try? Self.openFiles(in: folder)) == [] })
            }
            withExtendedLifetime(tasks) {}
        }
    #endif

    @Test(arguments: TransportUnderTest.all)
    func aFileThatIsCutWhileItIsWrittenIsNotWhole(over transport: TransportUnderTest) async throws {
        let folder = try TransferFolder()
        let gate = Gate()
        let server = try LoopbackServer { _ in
            .streamed([.write(text: "one"), .wait(gate), .write(text: "two")], headers: [("ETag", "\"v\"")])
        }
        defer { server.stop() }
        let file = folder.url.appendingPathComponent("a")
        let partial = file.appendingPathExtension("partial")
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/"))
        async let failure = transferError { () throws(AtomError) in
            try await service.download(to: file, isResumable: true)
        }
        #expect(await eventually { (try? Data(contentsOf: partial))?.count == 3 })
        #expect(truncate(partial.path, 0) == 0)
        gate.open()
        #expect(await failure?.reason == .destinationUnusable)
        #expect(folder.names == [])
    }

    @Test func aFileSystemThatTellsNoSizeIsNotFull() throws {
        // Its size is zero. Who may not write there can't try it.
        guard let place = try? DownloadPlace(URL(fileURLWithPath: "/proc/a")) else { return }
        try place.checkSpace(for: 1 << 40)
    }
}
