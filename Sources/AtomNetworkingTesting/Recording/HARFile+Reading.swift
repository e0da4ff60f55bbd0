import AtomNetworkingExports
import Foundation

extension HARFile {
    /// Reads a file.
    static func read(_ data: Data) throws(HTTPArchiveError) -> HARFile {
        do {
            return try JSONDecoder().decode(HARFile.self, from: data.withoutByteOrderMark)
        } catch let error as DecodingError {
            throw HTTPArchiveError("The data isn't a HAR file: \(reason(error)).")
        } catch {
            throw HTTPArchiveError("The data isn't a HAR file.")
        }
    }

    /// Names the place, and never a value.
    private static func reason(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(place(context.codingPath + [key])) is missing"
        case .typeMismatch(let type, let context): "\(place(context.codingPath)) isn't of the type \(type)"
        case .valueNotFound(let type, let context): "\(place(context.codingPath)) is null and not of the type \(type)"
        case .dataCorrupted: "it isn't valid JSON"
        @unknown default: "it has another form"
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}

extension Data {
    /// Some tools on Windows write one.
    fileprivate var withoutByteOrderMark: Data { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}
