import Foundation
import Terminal

/// Records the output.
final class RecordingTerminal: @unchecked Sendable {
    private let lock = NSLock()
    private var written = Data()

    var text: String { lock.withLock { String(decoding: written, as: UTF8.self) } }

    var lines: [String] { text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

    /// A pipe, or a terminal with colour and symbols.
    func terminal(isTerminal: Bool = false) -> Terminal {
        Terminal(isTerminal: isTerminal, environment: ["LANG": "en_US.UTF-8"]) { [self] text in
            write(Data(text.utf8))
        }
    }

    @Sendable func write(_ data: Data) {
        lock.withLock { written.append(data) }
    }
}
