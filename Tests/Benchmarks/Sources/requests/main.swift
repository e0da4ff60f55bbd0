import AtomNetworking
import Foundation
import Workload

Program.run([
    "urlsession": { URLSessionClient($0) },
    "urlsession-tuned": { URLSessionClient($0, isTuned: true) },
    "atom": { try AtomClient($0) },
    "atom-completions": { try AtomCompletionClient($0) },
    "atom-urlsession": { try AtomClient($0, transport: URLSessionTransport()) },
    "atom-unsigned": { try AtomClient($0, session: .unsigned) },
    "atom-expired": { try AtomClient($0, session: .expired) },
    "atom-one-query": { try AtomClient($0, query: .same) },
    "atom-other-queries": { try AtomClient($0, query: .other) },
    "atom-200-origins": { try AtomClient($0, session: .unsigned, origins: 200) },
    "atom-1000-origins": { try AtomClient($0, session: .unsigned, origins: 1_000) },
    "atom-data": { try AtomDataClient($0) },
    "atom-observed": { try AtomClient($0, configure: { $0.observers = [Observer()] }) },
    "atom-signer": { try AtomClient($0, configure: { $0.signers = [Signer()] }) },
    "atom-memory": { try AtomCachedClient($0, cache: ResponseCache()) },
    "atom-disk": { try AtomCachedClient($0, cache: ResponseCache(memory: 0, disk: disk())) },
    "atom-beside-streams": { try AtomClient($0, transport: transportWithStreams()) },
])

struct Observer: RequestObserver {
    func observe(_ event: RequestEvent) {}
}

struct Signer: RequestSigner {
    func sign(_ request: inout SignableRequest) throws { try request.setHeader("X-Signature", to: "4f1c2b9a") }
}

/// A folder where the report removes it.
func disk() -> ResponseCache.Disk {
    let folder = URL(fileURLWithPath: ProcessInfo.processInfo.environment["XDG_CACHE_HOME"] ?? NSTemporaryDirectory())
    return ResponseCache.Disk(folder: folder.appendingPathComponent("responses"), keepsSignedResponses: true)
}

/// A transport with as many open exchanges as the variable STREAMS says, with the
/// origin that STREAMS_ORIGIN names.
func transportWithStreams() throws -> any Transport {
    let variables = ProcessInfo.processInfo.environment
    let count = Int(variables["STREAMS"] ?? "") ?? 0
    let request = try TransportRequest(
        base: BaseURL(string: variables["STREAMS_ORIGIN"] ?? ""), path: URLPath("/stream"))
    #if os(Linux)
        let transport = try CurlTransport()
    #else
        let transport = URLSessionTransport()
    #endif
    let opened = DispatchSemaphore(value: 0)
    // Not all at once: a listener keeps only so many connections waiting.
    for _ in 0..<count {
        _ = transport.start(request) { event in
            switch event {
            case .response: opened.signal()
            case .failed(let failure): fatalError("a stream has failed: \(failure)")
            default: break
            }
        }
        opened.wait()
    }
    return transport
}
