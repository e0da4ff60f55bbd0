import AtomNetworking
import Foundation

/// A script of HTTP/2 met by the real client, and what is wrong with the end of it.
struct FramesTrial: Sendable {
    let behaviour: Behaviour
    let script: FrameScript
    let number: Int
    let server: FramesServer

    init?(_ behaviour: Behaviour, number: Int) {
        guard var script = behaviour.frames, let server = FramesServer.shared else { return nil }
        script.id = Self.name(0, of: number)
        (self.behaviour, self.script, self.number, self.server) = (behaviour, script, number, server)
    }

    private var isPost: Bool { behaviour.method == "POST" }

    /// Floods come one after the other: all of them would be too much for the server itself.
    private static let dam = Dam()

    func run(over transport: any Transport) async -> Trial.Result {
        guard script.hasFlood else { return await meet(transport) }
        await Self.dam.enter()
        let result = await meet(transport)
        await Self.dam.leave()
        return result
    }

    private func meet(_ transport: any Transport) async -> Trial.Result {
        let heard = Locked<[String]>([])
        guard let port = try? server.open(script) else {
            return Trial.Result(outcome: .failure(.unexpected), faults: ["no server"])
        }
        let atom = atom(transport, heard)
        var faults: [String] = []
        var own: [String] = []
        func other(_ name: String, _ method: HTTPMethod = .token("POST")) async {
            let outcome = await outcome(of: atom, port, method, name, timeout: (20, 40))
            guard isOwn(outcome, method == .get ? "" : name), !own.contains(outcome.bodyText) else {
                return faults.append("\(name): \(outcome.text)")
            }
            own.append(outcome.bodyText)
        }
        for count in 1..<max(2, script.nth - script.count + 1) where script.nth > 1 { await other("before-\(count)") }
        let began = DispatchTime.now().uptimeNanoseconds
        async let besides = script.hasFlood ? plain(atom, port) : nil
        let outcomes = await withTaskGroup(of: (Int, Outcome).self) { group in
            for index in 0..<script.count {
                group.addTask {
                    let method: HTTPMethod = isPost ? .token("POST") : .get
                    return (index, await outcome(of: atom, port, method, name(index), timeout: behaviour.timeout))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        if seconds > behaviour.timeout.total + Trial.patience { faults.append("it took \(Int(seconds)) s") }
        if let besides = await besides { faults.append("another request was held up: \(besides)") }
        if !script.hasFlood { await settled(port) }
        guard let report = try? server.report(of: port) else {
            return Trial.Result(outcome: .failure(.unexpected), faults: ["no report"])
        }
        // At times another connection is used than before, and the script isn't met.
        let isMet = script.nth == 1 || report.played != 0
        if !script.steps.isEmpty, isMet, report.played != 1 {
            faults.append("the script was played \(report.played) times")
        }
        if isMet { for (index, outcome) in outcomes { faults += problems(of: outcome, name(index), report) } }
        own += outcomes.map(\.1.bodyText).filter { $0.hasPrefix("ok ") }
        if Set(own).count < own.count { faults.append("two got the same response: \(own)") }
        await other("next-1")
        await other("next-2", .get)
        if let last = try? server.report(of: port, isLast: true) {
            for (name, count) in last.taken where count > 1 && name != "" {
                faults.append("\(name) was processed \(count) times: \(last)")
            }
        }
        var texts = heard.value
        for case .failure(let error) in outcomes.map(\.1) { texts += Trial.texts(of: error) }
        for text in texts where Trial.secrets.contains(where: text.contains) {
            faults.append("a secret is shown: \(text.prefix(300))")
        }
        let first = outcomes.first { $0.1.error != nil } ?? outcomes[0]
        return Trial.Result(outcome: first.1, faults: faults)
    }

    private static func name(_ index: Int, of number: Int) -> String { "t\(number)-\(index)" }
    private func name(_ index: Int) -> String { Self.name(index, of: number) }

    private func atom(_ transport: any Transport, _ heard: Locked<[String]>) -> Atom {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "trial"), timeout: ServiceTimeout(request: 20, resource: 40),
            isLogEnabled: true)
        configuration.maximumResponseSize = Trial.limit
        configuration.transport = transport
        configuration.logHandler = { line in heard.with { $0.append(line) } }
        configuration.observers = [Trial.Listener(heard: heard)]
        return Atom(serviceConfiguration: configuration)
    }

    /// A POST has its name in its body.
    private func outcome(
        of atom: Atom, _ port: Int, _ method: HTTPMethod, _ name: String, timeout: (idle: Double, total: Double),
        scheme: BaseURLScheme = .https
    ) async -> Outcome {
        do throws(AtomError) {
            var endpoint = Trial.Endpoint(
                base: try BaseURL(scheme: scheme, host: "127.0.0.1", port: port), target: "/x", method: method)
            endpoint.queryItems = [QueryItem(name: "api_key", value: Trial.queryValue)]
            endpoint.headerItems = [HeaderItem(name: "Authorization", value: "Bearer \(Trial.token)")]
            endpoint.timeout = ServiceTimeout(request: timeout.idle, resource: timeout.total)
            if method != .get {
                var text = name
                if case .data(let count) = behaviour.body { text += " " + String(repeating: "a", count: count) }
                endpoint.body = .data(Data(text.utf8))
            }
            let response = try await atom.enqueue(endpoint).resume()
            return .success(response.statusCode ?? 0, response.data)
        } catch {
            return .failure(error)
        }
    }

    /// Another origin's request, which is answered when the flood has begun; returns what is wrong.
    private func plain(_ atom: Atom, _ port: Int) async -> String? {
        let outcome = await outcome(of: atom, port, .get, "", timeout: (20, 40), scheme: .http)
        return outcome.bodyText == "plain" ? nil : outcome.text
    }

    /// Waits until the server has done all that it does, if it has begun.
    private func settled(_ port: Int) async {
        for _ in 0..<1_000 {
            guard let report = try? server.report(of: port), report.ended < report.played else { return }
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    private func isOwn(_ outcome: Outcome, _ name: String) -> Bool {
        let words = outcome.bodyText.split(separator: " ", omittingEmptySubsequences: false)
        return outcome.error == nil && outcome.status == 200 && words.count == 3 && words[0] == "ok"
            && words[2] == name
    }

    private func problems(of outcome: Outcome, _ name: String, _ report: FramesServer.Report) -> [String] {
        let name = isPost ? name : ""
        var ends = script.ends
        // What harms nobody may be sent again.
        if !isPost, !ends.isDisjoint(with: [.maybeSent, .notSent]) { ends.insert(.own) }
        let end: FrameScript.End
        switch outcome {
        case .success(200, Data("scripted".utf8)): end = .scripted
        case .success:
            guard isOwn(outcome, name) else { return ["the response of another, or half of one: \(outcome.text)"] }
            end = .own
        case .failure(.unexpected): return ["an error without a cause"]
        case .failure(.requestable(let error)): return ["the request was refused: \(error)"]
        case .failure(let error):
            end =
                switch error.delivery {
                case .notSent: .notSent
                case .answered: .answered
                default: .maybeSent
                }
        }
        var faults: [String] = []
        func fault(_ text: String) { faults.append("\(text), got \(outcome.text); \(report)") }
        if !ends.contains(end) { fault("expected \(ends.map(\.rawValue).sorted())") }
        if end == .notSent, report.taken[name] ?? 0 > 0 { fault("the server has taken it in") }
        if end == .answered, report.answered[name] ?? 0 == 0 { fault("the server has not answered") }
        if isPost, report.taken[name] ?? 0 > 1 { fault("it was processed \(report.taken[name] ?? 0) times") }
        return faults
    }
}

/// Lets one in at a time.
private actor Dam {
    private var isClosed = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        guard isClosed else {
            isClosed = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty { isClosed = false } else { waiting.removeFirst().resume() }
    }
}

extension Outcome {
    fileprivate var bodyText: String { error == nil ? body.map { String(decoding: $0, as: UTF8.self) } ?? "" : "" }
}
