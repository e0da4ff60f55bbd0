import Foundation

/// The resources that a program has used so far.
struct Usage {
    let seconds: Double
    /// Of all threads, in user and system mode.
    let processorSeconds: Double

    static var now: Usage {
        var processor = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &processor)
        return Usage(
            seconds: Double(DispatchTime.now().uptimeNanoseconds) / 1e9,
            processorSeconds: Double(processor.tv_sec) + Double(processor.tv_nsec) / 1e9)
    }
}

/// The memory of a program in KiB, as reported by the system.
enum Memory {
    /// The maximum so far.
    static var peak: Int {
        #if canImport(Darwin)
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss / 1024
        #else
            return status("VmHWM:")
        #endif
    }

    /// The current value; 0 if it can't be read.
    static var current: Int {
        #if canImport(Darwin)
            return 0
        #else
            return status("VmRSS:")
        #endif
    }

    private static func status(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
