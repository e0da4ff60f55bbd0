import AtomNetworkingTesting
import Foundation

/// Uploads, and files of any size, of which a part may be asked for (RFC 9110 §14).
struct TransferEndpoints {
    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        [
            "POST /uploads": { Self.receipt($0) },
            "PUT /uploads": { Self.receipt($0) },
            "GET /downloads/{size}": { request throws(Problem) in
                guard let size = request.parameters["size"].flatMap({ Int($0) }), size >= 0 else {
                    throw Problem(422, "invalid_size", "The size must be a number of bytes.")
                }
                return try file(of: size, for: request)
            },
        ]
    }

    private struct Receipt: Encodable {
        let bytes: Int
        let contentType: String?
    }

    private static func receipt(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        .encoding(Receipt(bytes: request.body.count, contentType: request["Content-Type"]))
    }

    private func file(
        of size: Int, for request: LoopbackServer.Request
    ) throws(Problem) -> LoopbackServer.Response {
        let tag = "\"\(size)\""
        var headers = [
            ("Content-Type", "application/octet-stream"), ("ETag", tag), ("Accept-Ranges", "bytes"),
        ]
        // Only what a client sends that goes on with a download.
        var start = 0
        if let range = request["Range"], request["If-Range"] ?? tag == tag, range.hasPrefix("bytes="),
            range.hasSuffix("-"), let first = Int(range.dropFirst(6).dropLast())
        {
            guard first < size else { throw Problem(416, "range_not_satisfiable", "The file has \(size) bytes.") }
            start = first
            headers.append(("Content-Range", "bytes \(start)-\(size - 1)/\(size)"))
        }
        let response = LoopbackServer.Response.streamed(
            Self.bytes(from: start, to: size), status: start > 0 ? 206 : 200, headers: headers,
            length: Int64(size - start))
        return state.withLock { state in
            let paced = state.transfers.bytesPerSecond.map {
                response.dripping(bytes: max($0 / 20, 1), everyMilliseconds: 50)
            }
            guard let cut = state.transfers.cutDownloadAt, (start..<size).contains(cut) else {
                return paced ?? response
            }
            state.transfers.cutDownloadAt = nil
            return (paced ?? response).cut(at: .bodyByte(Int64(cut - start)))
        }
    }

    /// The byte at an offset of a file is the offset modulo 251, so that bytes from a wrong offset are seen.
    private static func bytes(from start: Int, to end: Int) -> [LoopbackServer.Response.Step] {
        let middle = min((start + 250) / 251 * 251, end)
        return [
            .write(Data((start..<middle).map { LoopbackServer.Response.generatedByte(at: Int64($0)) })),
            .generate(length: Int64(end - middle), chunk: 65_536),
        ]
    }
}
