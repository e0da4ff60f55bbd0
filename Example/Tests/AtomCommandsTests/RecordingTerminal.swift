import AirlineServer
import Foundation

@testable import AtomCommands

/// Records the output.
struct RecordingTerminal: Sendable {
    private let written = Locked(Data())

    var text: String { String(decoding: written.withLock(\.self), as: UTF8.self) }

    /// A pipe.
    func terminal() -> Terminal {
        Terminal(isTerminal: false, environment: [:]) { write(Data($0.utf8)) }
    }

    @Sendable func write(_ data: Data) { written.withLock { $0.append(data) } }
}
