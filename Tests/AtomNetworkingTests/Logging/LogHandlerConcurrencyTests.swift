import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// The log handler is the app's code and may call the SDK.
@Suite(.timeLimit(.minutes(5))) struct LogHandlerConcurrencyTests {
    @Test func aLogHandlerMayCancelTheRequestThatItHearsOf() throws {
        let transport = ScriptedTransport.held()
        let call = Call()
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"), isLogEnabled: true)
        configuration.transport = transport
        configuration.logHandler = { line in if line.contains("redirected") { call.cancel() } }
        let atom = Atom(serviceConfiguration: configuration)
        call.keep(atom.enqueue(PathEndpoint()).resume { call.heard($0) })

        // On a separate thread: if it deadlocks, the test still ends.
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            transport.exchanges.first?.redirect(to: "/elsewhere")
            isOver.signal()
        }
        try #require(isOver.wait(timeout: .now() + 250) == .success)
        #expect(transport.exchanges.count == 1)
    }
}
