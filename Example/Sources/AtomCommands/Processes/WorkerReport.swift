/// What a worker process tells the one that started it, a line at a time.
enum WorkerReport: Equatable {
    /// How a session is over, by what a request was told.
    enum Ending: String {
        /// The refresh token was refused.
        case rejected
        /// The refresh token was refused, and an earlier refresh with it had
        /// been begun whose answer nobody stored.
        case interrupted
    }

    /// So many requests got their own answers since the last report.
    case answered(Int)
    /// A request failed, other than for the end of the session.
    case failed(String)
    /// Requests found that the session is over.
    case ended(Ending, String)

    init?(line: String) {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        switch words.first {
        case "answered" where words.count == 2:
            guard let count = Int(words[1]) else { return nil }
            self = .answered(count)
        case "failed":
            self = .failed(words.dropFirst().joined(separator: " "))
        case "ended" where words.count > 1:
            guard let ending = Ending(rawValue: words[1]) else { return nil }
            self = .ended(ending, words.count > 2 ? words[2] : "")
        default:
            return nil
        }
    }

    var line: String {
        switch self {
        case .answered(let count): "answered \(count)"
        case .failed(let reason): "failed \(ResponsePrinter.printable(reason))"
        case .ended(let ending, let reason): "ended \(ending.rawValue) \(ResponsePrinter.printable(reason))"
        }
    }
}
