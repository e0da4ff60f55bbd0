import AtomNetworkingExports
import AtomNetworkingTesting
import Foundation

extension ScriptedTransport {
    /// The recording of every request that was sent.
    ///
    /// Its last event may be told directly after the caller, if another one is being told at that moment.
    func recorded(by recorder: HARRecorder) async -> Data {
        let count = requests.count + authorizationServer.requests.count
        await idle(until: { ((try? HTTPArchive(recorder.har()))?.entries.count ?? 0) >= count })
        return recorder.har()
    }
}
