import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Makes requests, one after the other, and tells what became of each.
struct Work: Sendable {
    let process: Int
    let base: BaseURL
    let folder: URL
    let isCalm: Bool
    private let numbers = Locked(0)

    init(_ options: Options) throws {
        process = options.process
        base = try BaseURL(scheme: options.front == nil ? .http : .https, host: "127.0.0.1", port: options.port)
        folder = URL(fileURLWithPath: options.folder)
        isCalm = options.soak != nil
    }

    /// How many requests were made.
    var made: Int { numbers.value }

    private struct Answer: Model {
        let request: String
        let family: Int
        let owner: String
        let padding: String
    }

    /// What became of a request.
    private struct Outcome: Sendable {
        var code = "ok"
        var delivery = "-"
        var seen: Set<Int> = []
        var detail = ""

        init(seen: Set<Int>) { self.seen = seen }

        init(_ error: AtomError) {
            delivery = error.delivery.rawValue
            detail = error.description.replacingOccurrences(of: "\t", with: " ")
            code =
                switch error {
                case .response(let response): "status:\(response.statusCode ?? 0)"
                case .session(let error): "session:\((error as? URLError)?.code.rawValue ?? 0)"
                case .cancelled: "cancelled"
                case .authentication(let error): Self.code(error)
                case .transfer(let error):
                    [.incompleteResponse].contains(error.reason)
                        ? "transfer:\(error.reason.rawValue)" : "bad:transfer:\(error.reason.rawValue)"
                case .decoder: "bad:decoder"
                case .requestable: "bad:requestable"
                default: "bad:unexpected"
                }
        }

        private static func code(_ error: AuthenticationError) -> String {
            switch error {
            case .missingCredential: "auth:missingCredential"
            case .refreshRejected: "auth:refreshRejected"
            case .refreshInterrupted: "auth:refreshInterrupted"
            case .refreshFailed: "auth:refreshFailed"
            case .signedOut: "auth:signedOut"
            case .waitedTooLong: "auth:waitedTooLong"
            case .tooManyRefreshes: "auth:tooManyRefreshes"
            case .credentialNotReadable: "auth:credentialNotReadable"
            default: "bad:auth"
            }
        }
    }

    private func makeName() -> RequestName {
        RequestName(
            process: process,
            number: numbers.with { number in
                number += 1
                return number
            })
    }

    private func begin(_ kind: Kind, _ door: Door, wire: RequestName? = nil) -> Ticket {
        let ticket = Ticket(makeName(), door, isSigned: kind.isSigned)
        Report.line("B", "\(ticket.name)", kind.rawValue, door.name, "\(wire ?? ticket.name)")
        return ticket
    }

    private func end(_ ticket: Ticket, _ outcome: Outcome) {
        let list = { (sessions: Set<Int>) in sessions.map(String.init).joined(separator: ",") }
        Report.line(
            "E", "\(ticket.name)", outcome.code, outcome.delivery, list(ticket.allowed), list(outcome.seen),
            ticket.isSentAgain.value ? "again" : "once", outcome.detail)
    }

    // MARK: - Requests

    /// Makes a request, and perhaps cancels it.
    func one(_ kind: Kind, _ door: Door, _ chance: inout Chance) async {
        let isCancelled = chance.happens(isCalm ? 0.002 : 0.12)
        let milliseconds = isCancelled ? chance.number(0...150) : nil
        let dice = Chance(chance.next())
        if kind == .completion { return await completion(door, dice, cancelledAfter: milliseconds) }
        let task = Task {
            var dice = dice
            let atom = door.atoms[dice.number(0...(door.atoms.count - 1))]
            switch kind {
            case .shared:
                let pauses = (0..<6).map { _ in dice.number(0...20) }
                await burst(door, atom, "/get", pauses)
            case .stream: await stream(door, atom, &dice)
            case .download, .resumed: await download(kind, door, atom, &dice)
            default: await plain(kind, door, atom)
            }
        }
        if let milliseconds {
            try? await Task.sleep(for: .milliseconds(milliseconds))
            task.cancel()
        }
        await task.value
    }

    private func call(_ kind: Kind, _ name: RequestName) -> Call {
        let body = RequestBody.data(Data(name.description.utf8))
        return switch kind {
        case .post: Call(base: base, path: "/post", method: .post, body: body, name: name)
        case .put: Call(base: base, path: "/put", method: .put, body: body, name: name)
        case .open: Call(base: base, path: "/open", isSigned: false, name: name)
        case .hop: Call(base: base, path: "/hop", name: name)
        case .postHop: Call(base: base, path: "/post-hop", method: .post, body: body, name: name)
        case .leave: Call(base: base, path: "/leave", name: name)
        default: Call(base: base, path: "/get", name: name)
        }
    }

    private func outcome(_ answer: Answer, _ name: RequestName) -> Outcome {
        if answer.request != name.description {
            Report.violation("\(name) got the response of \(answer.request)")
        }
        return Outcome(seen: answer.family == -1 ? [] : [answer.family])
    }

    private func plain(_ kind: Kind, _ door: Door, _ atom: Atom) async {
        let ticket = begin(kind, door)
        let outcome: Outcome
        do {
            let answer = try await Ticket.$current.withValue(ticket) {
                try await atom.enqueue(call(kind, ticket.name)).resume(expecting: Answer.self)
            }
            outcome = self.outcome(answer, ticket.name)
        } catch let error as AtomError {
            outcome = Outcome(error)
        } catch {
            outcome = Outcome(.unexpected)
        }
        end(ticket, outcome)
    }

    private func completion(_ door: Door, _ dice: Chance, cancelledAfter milliseconds: Int?) async {
        var dice = dice
        let atom = door.atoms[dice.number(0...(door.atoms.count - 1))]
        let ticket = begin(.completion, door)
        let isOver = Locked(false)
        await withCheckedContinuation { continuation in
            let heard: @Sendable (Result<Answer, AtomError>) -> Void = { result in
                switch result {
                case .success(let answer): end(ticket, outcome(answer, ticket.name))
                case .failure(let error): end(ticket, Outcome(error))
                }
                // A second call has told the books by now.
                let wasOver = isOver.with { isOver in
                    defer { isOver = true }
                    return isOver
                }
                if !wasOver { continuation.resume() }
            }
            let service = atom.enqueue(call(.completion, ticket.name))
            let task = Ticket.$current.withValue(ticket) {
                dice.happens(0.5)
                    ? service.resume(expecting: Answer.self, completion: heard)
                    : service.resume { result in
                        heard(
                            result.flatMap { response in
                                Result { () throws(AtomError) in try response.decode(Answer.self) }
                            })
                    }
            }
            if let milliseconds {
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { task.cancel() }
            }
        }
    }

    /// Callers for the same, before, while and after somebody signs in.
    func straddle(_ door: Door) async {
        await burst(door, door.atoms[0], "/slow", [0, 0, 5, 10, 20, 30, 45, 60, 80, 100, 120])
    }

    /// Several callers that may share one request.
    private func burst(_ door: Door, _ atom: Atom, _ place: String, _ pauses: [Int]) async {
        let wire = makeName()
        await withTaskGroup(of: Void.self) { group in
            for pause in pauses {
                group.addTask {
                    try? await Task.sleep(for: .milliseconds(pause))
                    let ticket = begin(.shared, door, wire: wire)
                    let outcome: Outcome
                    do {
                        let answer = try await Ticket.$current.withValue(ticket) {
                            try await atom.enqueue(Call(base: base, path: place, name: wire, shares: true))
                                .resume(expecting: Answer.self)
                        }
                        outcome = self.outcome(answer, wire)
                    } catch let error as AtomError {
                        outcome = Outcome(error)
                    } catch {
                        outcome = Outcome(.unexpected)
                    }
                    end(ticket, outcome)
                }
            }
        }
    }

    private func stream(_ door: Door, _ atom: Atom, _ dice: inout Chance) async {
        let ticket = begin(.stream, door)
        let reconnection =
            dice.happens(0.5) ? Reconnection.automatic(after: .milliseconds(30), maximumAttempts: 3) : .never
        let most = dice.number(1...20)
        var outcome = Outcome(seen: [])
        do {
            try await Ticket.$current.withValue(ticket) {
                let stream = try await atom.enqueue(Call(base: base, path: "/stream", name: ticket.name))
                    .serverSentEvents(reconnection: reconnection)
                var reader = stream.makeAsyncIterator()
                for _ in 0..<most {
                    let era = door.era
                    guard let event = try await reader.next() else { break }
                    let words = event.data.split(separator: " ")
                    guard words.count == 3, let family = Int(words[1]) else {
                        Report.violation("\(ticket.name) got half an event: \(event.data)")
                        break
                    }
                    if words[0] != ticket.name.description {
                        Report.violation("\(ticket.name) got an event of \(words[0])")
                    }
                    outcome.seen.insert(family)
                    let sessions = door.sessions(since: era)
                    if !sessions.contains(family), !sessions.contains(Door.anyone) {
                        Report.violation(
                            "\(ticket.name) got an event of session \(family) when it was over: now it is \(sessions)")
                    }
                }
            }
        } catch let error as AtomError {
            let seen = outcome.seen
            outcome = Outcome(error)
            outcome.seen = seen
        } catch {
            outcome = Outcome(.unexpected)
        }
        end(ticket, outcome)
    }

    private func download(_ kind: Kind, _ door: Door, _ atom: Atom, _ dice: inout Chance) async {
        let slot = dice.number(0...2)
        if kind == .resumed, !door.takeSlot(slot) { return }
        defer { if kind == .resumed { door.giveBack(slot) } }
        let ticket = begin(kind, door)
        let file = kind == .resumed ? "kept-\(slot)" : "file-\(dice.number(0...9))"
        let place = folder.appendingPathComponent(
            kind == .resumed ? "\(door.name)-\(process < 2 ? "a" : "b")-\(slot)" : "\(ticket.name)")
        var outcome: Outcome
        do {
            let response = try await Ticket.$current.withValue(ticket) {
                try await atom.enqueue(Call(base: base, path: "/file", name: ticket.name, file: file))
                    .download(to: place, isResumable: kind == .resumed)
            }
            let family = response.headerFields["Set-Cookie"].flatMap {
                Int($0.dropFirst("who=".count).prefix { $0 != ";" })
            }
            outcome = Outcome(seen: family.map { [$0] } ?? [])
            let data = (try? Data(contentsOf: place)) ?? Data()
            let owners = door.owners(of: ticket.allowed)
            if !owners.contains(where: { PersonalFile.data(file, of: $0) == data }) {
                Report.violation(
                    "\(ticket.name) has a file of \(data.count) bytes that is none of \(owners.sorted())'s: "
                        + String(decoding: data.prefix(64), as: UTF8.self))
            }
        } catch let error as AtomError {
            outcome = Outcome(error)
        } catch {
            outcome = Outcome(.unexpected)
        }
        if kind == .download || outcome.code == "ok" { try? FileManager.default.removeItem(at: place) }
        end(ticket, outcome)
    }
}
