#if os(Linux)
    import AtomNetworkingTesting
    import Foundation
    import FoundationNetworking
    import Testing

    @testable import AtomNetworking

    extension TransportRequest {
        /// A request to a server of a test.
        static func to(
            _ server: LoopbackServer, _ path: String = "/x", method: String = "GET", body: Data? = nil,
            needsFreshConnection: Bool = false
        ) throws -> TransportRequest {
            let request = try TransportRequest(
                method: method, base: BaseURL(scheme: .http, host: server.host, port: server.port),
                path: URLPath(path), body: body)
            return TransportRequest(
                method: request.method, target: request.target, headerFields: request.headerFields, body: request.body,
                idleTimeout: request.idleTimeout, needsFreshConnection: needsFreshConnection)
        }
    }

    /// An exchange that a test has started, with its events.
    struct StartedExchange: Sendable {
        let recorder: EventRecorder
        let exchange: any TransportExchange
        let hasEnded: Signal

        /// Waits for the last event.
        func end() async -> EventRecorder {
            await hasEnded.wait()
            return recorder
        }
    }

    extension Transport {
        /// Starts an exchange and records its events.
        func begin(
            _ request: TransportRequest, recorder: EventRecorder = EventRecorder()
        ) -> StartedExchange {
            let hasEnded = Signal()
            let exchange = start(request) { event in
                recorder.receive(event)
                switch event {
                case .finished, .failed: hasEnded.raise()
                case .sent, .response, .data, .measured: break
                }
            }
            return StartedExchange(recorder: recorder, exchange: exchange, hasEnded: hasEnded)
        }

        /// Runs an exchange to its end.
        func run(_ request: TransportRequest) async -> EventRecorder { await begin(request).end() }
    }

    extension EventRecorder {
        var text: String { String(decoding: body, as: UTF8.self) }

        var status: Int? {
            for case .response(let response) in events { return response.statusCode }
            return nil
        }

        var urlError: URLError? { failure?.error as? URLError }

        var curlError: CurlError? { urlError?.userInfo[NSUnderlyingErrorKey] as? CurlError }
    }

    /// Passes everything on to another transport, and records the events of
    /// each exchange.
    final class RecordingTransport: Transport {
        let base: any Transport
        private let recorders = Locked<[EventRecorder]>([])

        init(_ base: any Transport) { self.base = base }

        var exchangesPerOrigin: Int? { base.exchangesPerOrigin }

        func start(
            _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
        ) -> any TransportExchange {
            let recorder = EventRecorder {}
            recorders.with { $0.append(recorder) }
            return base.start(request) { event in
                recorder.receive(event)
                receive(event)
            }
        }

        /// The recorders since the last call; all exchanges have ended.
        func take() async -> [EventRecorder] {
            let taken = recorders.with { recorders in
                defer { recorders = [] }
                return recorders
            }
            #expect(await eventually { taken.allSatisfy { $0.terminals > 0 } })
            return taken
        }
    }

    /// What this process has open.
    enum ThisProcess {
        static func entries(_ folder: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)")) ?? []
        }

        static var threadCount: Int { entries("task").count }

        static var descriptorCount: Int { entries("fd").count }

        /// How many threads have the name of a transport's.
        static var transportThreads: Int {
            entries("task").count { task in
                let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
                // Not the main thread, which is called as the program.
                return name == "AtomNetworking\n"
            }
        }

        /// One bit for each signal that these threads don't take.
        static var blockedSignalsOfTransportThreads: [UInt64] {
            entries("task").compactMap { thread in
                let status = (try? String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8)) ?? ""
                let lines = status.split(separator: "\n")
                guard lines.contains("Name:\tAtomNetworking") else { return nil }
                let mask = lines.first { $0.hasPrefix("SigBlk:") }?.split(separator: "\t").last
                return mask.flatMap { UInt64($0, radix: 16) }
            }
        }

        /// The bytes that are in memory.
        static var residentBytes: Int {
            let fields = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return (fields.flatMap { $0.count > 1 ? Int($0[1]) : nil } ?? 0) * 4_096
        }

        /// The name of the calling thread.
        static var currentThreadName: String {
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            return name?.trimmingCharacters(in: .newlines) ?? ""
        }
    }
#endif
