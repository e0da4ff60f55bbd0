import Foundation

/// What HAR 1.2 demands of a file.
///
/// http://www.softwareishard.com/blog/har-12-spec/
enum HARSchema {
    /// What is wrong with the file, by place; empty if nothing is.
    static func faults(in data: Data) -> [String] {
        guard let file = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else { return ["not JSON"] }
        guard let log = file["log"] as? [String: Any] else { return ["log"] }
        var faults = missing(log, at: "log", ["version": .text, "creator": .object, "entries": .list])
        if log["version"] as? String != "1.2" { faults.append("log.version") }
        faults += missing(log["creator"], at: "log.creator", ["name": .text, "version": .text])
        let entries = log["entries"] as? [Any] ?? []
        for (index, entry) in entries.enumerated() { faults += self.faults(inEntry: entry, at: "entries[\(index)]") }
        let starts = entries.compactMap { ($0 as? [String: Any])?["startedDateTime"] as? String }
        if starts != starts.sorted() { faults.append("entries aren't sorted") }
        return faults
    }

    private enum Kind {
        case text
        case number
        case wholeNumber
        case list
        case object
        case pairs
    }

    private static func missing(_ value: Any?, at place: String, _ members: [String: Kind]) -> [String] {
        guard let object = value as? [String: Any] else { return [place] }
        return members.filter { !isValid(object[$0.key], $0.value) }.map { "\(place).\($0.key)" }.sorted()
    }

    private static func isValid(_ value: Any?, _ kind: Kind) -> Bool {
        switch kind {
        case .text: value is String
        case .number: value is Double && !(value is String)
        case .wholeNumber: (value as? Double).map { $0 == $0.rounded() } ?? false
        case .list: value is [Any]
        case .object: value is [String: Any]
        case .pairs:
            (value as? [[String: Any]])?.allSatisfy { $0["name"] is String && $0["value"] is String } ?? false
        }
    }

    private static func faults(inEntry entry: Any, at place: String) -> [String] {
        var faults = missing(
            entry, at: place,
            [
                "startedDateTime": .text, "time": .number, "request": .object, "response": .object, "cache": .object,
                "timings": .object,
            ])
        guard let entry = entry as? [String: Any] else { return faults }
        let started = entry["startedDateTime"] as? String ?? ""
        // ISO 8601 with milliseconds and a zone.
        if started.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) == nil {
            faults.append("\(place).startedDateTime")
        }
        faults += missing(
            entry["request"], at: "\(place).request",
            [
                "method": .text, "url": .text, "httpVersion": .text, "cookies": .list, "headers": .pairs,
                "queryString": .pairs, "headersSize": .wholeNumber, "bodySize": .wholeNumber,
            ])
        let request = entry["request"] as? [String: Any] ?? [:]
        if URL(string: request["url"] as? String ?? "")?.scheme?.hasPrefix("http") != true {
            faults.append("\(place).request.url")
        }
        if let post = request["postData"] {
            faults += missing(post, at: "\(place).postData", ["mimeType": .text, "text": .text, "params": .list])
        }
        faults += missing(
            entry["response"], at: "\(place).response",
            [
                "status": .wholeNumber, "statusText": .text, "httpVersion": .text, "cookies": .list, "headers": .pairs,
                "content": .object, "redirectURL": .text, "headersSize": .wholeNumber, "bodySize": .wholeNumber,
            ])
        let response = entry["response"] as? [String: Any] ?? [:]
        faults += missing(
            response["content"], at: "\(place).content", ["size": .wholeNumber, "mimeType": .text])
        return faults + self.faults(inTimesOf: entry, at: place)
    }

    private static func faults(inTimesOf entry: [String: Any], at place: String) -> [String] {
        var faults = missing(
            entry["timings"], at: "\(place).timings", ["send": .number, "wait": .number, "receive": .number])
        let timings = entry["timings"] as? [String: Double] ?? [:]
        for name in ["send", "wait", "receive"] where (timings[name] ?? -1) < 0 {
            faults.append("\(place).timings.\(name)")
        }
        for (name, value) in timings where value < 0 && value != -1 { faults.append("\(place).timings.\(name)") }
        // `ssl` is a part of `connect`.
        let sum = timings.filter { $0.key != "ssl" && $0.value > 0 }.values.reduce(0, +)
        if abs(sum - (entry["time"] as? Double ?? -1)) > 0.000_5 { faults.append("\(place).time") }
        if let ssl = timings["ssl"], ssl > timings["connect"] ?? -1 { faults.append("\(place).timings.connect") }
        return faults
    }
}
