import Foundation

/// The parts of a file in the HTTP Archive format 1.2 that matter for answers.
///
/// All but the request and the status may be missing: tools leave out much.
struct HARFile: Decodable {
    struct Log: Decodable {
        var entries: [Entry]
        var comment: String?
    }

    struct Pair: Decodable {
        var name: String
        var value: String
    }

    struct Entry: Decodable {
        var request: Request
        var response: Response
        var serverIPAddress: String?
        var failure: Failure?
        var purpose: String?
        var sending: Sending?
        var sequence: Int?
        var error: String?

        // Fields that the format doesn't know begin with an underscore.
        enum CodingKeys: String, CodingKey {
            case request
            case response
            case serverIPAddress
            case failure = "_failure"
            case purpose = "_purpose"
            case sending = "_sending"
            case sequence = "_sequence"
            case error = "_error"
        }
    }

    /// Which sending of which request it is.
    struct Sending: Decodable {
        var requestID: UInt64
        var number: Int
    }

    struct Request: Decodable {
        var method: String
        var url: String
        var headers: [Pair]?
        var postData: PostData?
        var bodySize: Int64?
    }

    struct PostData: Decodable {
        var mimeType: String?
        var params: [Param]?
        var text: String?
        var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType
            case params
            case text
            case encoding = "_encoding"
        }
    }

    struct Param: Decodable {
        var name: String
        var value: String?
    }

    struct Response: Decodable {
        var status: Int
        var headers: [Pair]?
        var content: Content?
        var bodySize: Int64?
    }

    struct Content: Decodable {
        var size: Int64?
        var mimeType: String?
        var text: String?
        var encoding: String?
        var comment: String?
    }

    struct Failure: Decodable {
        var code: Int
        var delivery: String?
    }

    var log: Log
}

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
