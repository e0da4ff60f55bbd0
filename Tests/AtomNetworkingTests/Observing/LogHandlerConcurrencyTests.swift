import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// The log handler is the app's code and may call the SDK.
@Suite(.limited) struct LogHandlerConcurrencyTests {
    @Test func aLogHandlerMayCancelTheRequestThatItHearsOf() async {
        let transport = ScriptedTransport.held()
        let call = Call()
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"), isLogEnabled: true)
        configuration.transport = transport
        configuration.timeSource = transport.clock
        configuration.logHandler = { line in if line.contains("redirected") { call.cancel() } }
        let atom = Atom(serviceConfiguration: configuration)
        call.keep(atom.enqueue(PathEndpoint()).resume { call.heard($0) })

        // On a separate thread: if it deadlocks, the test still ends.
        let isOver = Signal()
        DispatchQueue.global().async {
            transport.exchanges.first?.redirect(to: "/elsewhere")
            isOver.raise()
        }
        await isOver.wait()
        #expect(transport.exchanges.count == 1)
    }
}
