import AtomNetworking
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Runs the behaviours over some transports, each family in a process of its own, and
/// prints what became of them.
///
/// What ends the process is looked for one by one.
public struct Torture {
    /// How a transport is made, by its name.
    public typealias Makers = [(name: String, make: @Sendable () throws -> any Transport)]

    private struct Verdict {
        var isRight = false
        var isError = false
        var faults: [String] = []
    }

    private let makers: Makers
    private var isShort = false
    private var onlyFamily: String?
    private var onlyName: String?
    private var knownFile: String?
    private var names: [String] = []

    /// The most that a family may make the process grow by.
    private static let maximumGrowth = 256 << 20
    private static let lanes = 8
    /// How long a behaviour may say nothing.
    private static let silence: Int32 = 120_000

    /// Runs what the command line asks for over these transports, and ends the process.
    public static func run(_ makers: Makers) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        signal(SIGPIPE, SIG_IGN)
        if arguments.first == "--child" {
            await child(makers, arguments)
            exit(0)
        }
        var torture = Torture(makers: makers)
        torture.read(arguments)
        exit(torture.runAll() ? 0 : 1)
    }

    private mutating func read(_ arguments: [String]) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--short": isShort = true
            case "--family": onlyFamily = rest.popFirst()
            case "--name": onlyName = rest.popFirst()
            case "--known": knownFile = rest.popFirst()
            default: names.append(argument)
            }
        }
        if names.isEmpty { names = makers.map(\.name) }
    }

    /// Prints a line at once.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
    private func say(_ line: String) { Self.say(line) }

    // MARK: - One family, in its process

    private static func child(_ makers: Makers, _ arguments: [String]) async {
        guard arguments.count == 4, let make = makers.first(where: { $0.name == arguments[1] })?.make,
            let family = Catalogue.families.first(where: { $0.name == arguments[2] })
        else { exit(2) }
        let numbers = arguments[3].split(separator: ",").compactMap { Int($0) }
        let catalogue = family.behaviours()
        let before = residentBytes("VmRSS")
        let lanes = min(lanes, numbers.count)
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    guard let transport = try? family.hasFrames ? FramesServer.transport() : make() else { exit(2) }
                    for index in stride(from: lane, to: numbers.count, by: lanes) {
                        let number = numbers[index]
                        say("B \(number)")
                        let behaviour = catalogue[number]
                        let result =
                            if let trial = FramesTrial(behaviour, number: number) {
                                await trial.run(over: transport)
                            } else {
                                await Trial(behaviour: behaviour, number: number).run(over: transport)
                            }
                        for fault in result.faults {
                            say("F \(number) \(fault.replacingOccurrences(of: "\n", with: " ").prefix(1_500))")
                        }
                        say("E \(number) \(result.outcome.error == nil ? "right" : "error")")
                    }
                }
            }
        }
        say("R \(max(0, residentBytes("VmHWM") - before))")
    }

    private static func residentBytes(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(separator: " ").dropLast().last.flatMap { Int($0) } ?? 0) << 10
    }

    // MARK: - All of them

    private func runAll() -> Bool {
        var known = readKnown()
        var isFine = true
        var total = (behaviours: 0, right: 0, errors: 0, faults: 0, known: 0)
        var seen: Set<String> = []
        for family in Catalogue.families where onlyFamily.map({ $0 == family.name }) ?? true {
            let catalogue = family.behaviours()
            let obstacle = family.obstacle
            let family = family.name
            for behaviour in catalogue {
                precondition(seen.insert(behaviour.title).inserted, "two are called \(behaviour.title)")
            }
            let mine = catalogue.indices.filter { index in
                (!isShort || !catalogue[index].isLong) && onlyName.map { catalogue[index].title.contains($0) } ?? true
            }
            for name in names where !mine.isEmpty {
                if let reason = obstacle(name) {
                    say("\(name)\t\(family)\tleft out: \(reason)")
                    continue
                }
                let began = DispatchTime.now().uptimeNanoseconds
                // What is known to end the process is tried once for all that its line is about.
                let lines = mine.map { number in
                    known.firstIndex { $0.isAlone && $0.isAbout(name, catalogue[number].title) }
                }
                var tried: Set<Int> = []
                let alone = zip(mine, lines)
                    .filter { $1.map { !known[$0].endsProcess || tried.insert($0).inserted } ?? false }.map(\.0)
                let others = zip(mine, lines).filter { $1 == nil }.map(\.0)
                let titles = catalogue.map(\.title)
                var (verdicts, growth) = run(others, of: family, titles: titles, over: name)
                for number in alone {
                    verdicts.merge(run([number], of: family, titles: titles, over: name).0) { $1 }
                }
                let faulty = verdicts.filter { !$0.value.faults.isEmpty }
                var news: [(String, [String])] = []
                func judge(_ title: String, _ faults: [String]) {
                    guard let line = known.firstIndex(where: { $0.isAbout(name, title) }) else {
                        return news.append((title, faults))
                    }
                    known[line].isMet = true
                    limits += 1
                }
                var limits = mine.count - others.count - alone.count
                for (number, verdict) in faulty.sorted(by: { $0.key < $1.key }) {
                    judge(catalogue[number].title, verdict.faults)
                }
                if growth > Self.maximumGrowth {
                    judge("\(family): memory", ["the process grew by \(growth >> 20) MiB"])
                }
                let right = verdicts.values.count { $0.isRight }
                let errors = verdicts.values.count { $0.isError }
                let seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
                say(
                    "\(name)\t\(family)\t\(mine.count) behaviours\t\(right) responses\t\(errors) errors\t\(news.count) faults\t"
                        + "\(limits) known\t"
                        + String(format: "%.1f s\t+%d MiB", seconds, growth >> 20))
                for (title, faults) in news {
                    for fault in faults { say("    FAULT \(name)\t\(title)\n        \(fault)") }
                }
                total.behaviours += mine.count
                total.right += right
                total.errors += errors
                total.faults += news.count
                total.known += limits
                if !news.isEmpty { isFine = false }
            }
        }
        if onlyFamily == nil, onlyName == nil, !isShort {
            for line in known where !line.isMet && !line.isAtTimes && names.contains(line.transport) {
                say("    UNUSED \(line.transport)\t\(line.pattern): it is in the list of known limits, and is none")
                isFine = false
            }
        }
        say(
            "torture: \(total.behaviours) behaviours, \(total.right) responses, \(total.errors) errors, "
                + "\(total.faults) faults, \(total.known) known limits")
        return isFine
    }

    /// A line of the list of known limits: a transport, a pattern of names, and the reason.
    private struct Known {
        let transport: String
        let pattern: String
        let reason: String
        var isMet = false

        /// Whether it shows only sometimes.
        var isAtTimes: Bool { reason.hasPrefix("at times") }
        var endsProcess: Bool { reason.contains("ends the process") }
        /// Whether what runs beside it would be blamed for it.
        var isAlone: Bool { endsProcess || reason.hasSuffix("others wait") }

        func isAbout(_ transport: String, _ title: String) -> Bool {
            let isMeant =
                transport == self.transport
                || transport == "libcurl" && "libcurl \(CurlTransport.libraryVersion ?? "")".hasPrefix(self.transport)
            return isMeant && fnmatch(pattern, title, FNM_NOESCAPE) == 0
        }
    }

    private func readKnown() -> [Known] {
        guard let knownFile, let text = try? String(contentsOfFile: knownFile, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "\t").map(String.init)
            precondition(parts.count == 3, "not transport, name and reason: \(line)")
            return Known(transport: parts[0], pattern: parts[1], reason: parts[2])
        }
    }

    private func run(
        _ numbers: [Int], of family: String, titles: [String], over name: String
    ) -> ([Int: Verdict], Int) {
        var verdicts: [Int: Verdict] = [:]
        var growth = 0
        var left = numbers
        while !left.isEmpty {
            let (ended, begun, end, grown) = runChild(left, of: family, over: name)
            growth = max(growth, grown)
            verdicts.merge(ended) { $1 }
            left.removeAll { ended[$0] != nil }
            guard let end else {
                if !left.isEmpty {
                    for number in left { verdicts[number, default: Verdict()].faults.append("it never ran") }
                }
                break
            }
            let suspects = begun.subtracting(ended.keys).sorted()
            var isFound = false
            for suspect in suspects {
                let (ended, _, end, _) = runChild([suspect], of: family, over: name)
                verdicts.merge(ended) { $1 }
                if let end {
                    verdicts[suspect, default: Verdict()].faults.append(end)
                    isFound = true
                }
            }
            if !isFound, let first = suspects.first {
                verdicts[first, default: Verdict()].faults.append(
                    "\(end), beside \(suspects.map { titles[$0] })")
            }
            if suspects.isEmpty, let first = left.first {
                verdicts[first, default: Verdict()].faults.append("\(end), after others")
                left.removeFirst()
            }
            left.removeAll { suspects.contains($0) }
        }
        return (verdicts, growth)
    }

    /// Runs some behaviours in a process of its own.
    ///
    /// - Returns: Those that ended, those that began, how the process was ended if it
    ///   was, and what it grew by.
    private func runChild(
        _ numbers: [Int], of family: String, over name: String
    ) -> (ended: [Int: Verdict], begun: Set<Int>, end: String?, growth: Int) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--child", name, family, numbers.map(String.init).joined(separator: ",")]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        // A process that ends itself shall do so at once.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        if ProcessInfo.processInfo.environment["TORTURE_ERRORS"] == nil {
            process.standardError = FileHandle.nullDevice
        }
        do { try process.run() } catch { return ([:], [], "it can't be run: \(error)", 0) }
        var ended: [Int: Verdict] = [:]
        var faults: [Int: [String]] = [:]
        var begun: Set<Int> = []
        var growth: Int?
        var end: String?
        var buffer = Data()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        while true {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, Self.silence) > 0 else {
                end = "it hung"
                kill(process.processIdentifier, SIGKILL)
                break
            }
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            buffer += data
            while let newline = buffer.firstIndex(of: 0x0A) {
                let line = String(decoding: buffer[..<newline], as: UTF8.self)
                buffer = Data(buffer[(newline + 1)...])
                let words = line.split(separator: " ", maxSplits: 2).map(String.init)
                guard words.count > 1, let number = Int(words[1]) else { continue }
                switch words[0] {
                case "B": begun.insert(number)
                case "F": faults[number, default: []].append(words.last ?? "")
                case "E":
                    ended[number] = Verdict(
                        isRight: words.last == "right", isError: words.last == "error", faults: faults[number] ?? [])
                case "R": growth = number
                default: break
                }
            }
        }
        process.waitUntilExit()
        if end == nil, growth == nil {
            end =
                process.terminationReason == .uncaughtSignal
                ? "it ended the process with signal \(process.terminationStatus)"
                : "it ended the process with status \(process.terminationStatus)"
        }
        return (ended, begun, end, growth ?? 0)
    }
}
