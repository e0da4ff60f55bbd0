import AtomNetworking
import Workload

Program.run([
    "urlsession": { URLSessionClient($0) },
    "urlsession-tuned": { URLSessionClient($0, isTuned: true) },
    "atom": { try AtomClient($0) },
    "atom-completions": { try AtomCompletionClient($0) },
    "atom-urlsession": { try AtomClient($0, transport: URLSessionTransport()) },
    "atom-unsigned": { try AtomClient($0, session: .unsigned) },
    "atom-expired": { try AtomClient($0, session: .expired) },
])
