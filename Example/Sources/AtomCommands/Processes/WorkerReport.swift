/// A report of a worker process to its parent, one line each.
enum WorkerReport: Equatable {
    /// How a session has ended, by a request's error.
    enum Ending: String {
        /// The refresh token was rejected.
        case rejected
        /// The refresh token was rejected, and the response of an earlier
        /// refresh with it was never stored.
        case interrupted
    }

    /// This many requests got their own responses since the last report.
    case answered(Int)
    /// A request failed, but not because the session has ended.
    case failed(String)
    /// Requests found that the session has ended.
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
