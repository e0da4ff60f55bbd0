import Foundation

/// Uploads of any size, and files of any size.
struct TransferEndpoints {
    let state: Locked<ServerState>

    func install(on router: inout Router) {
        let state = state
        for method in ["POST", "PUT"] {
            router.on(method, "/uploads", body: .digested) { call in .json(try Receipt(call)) }
        }
        router.on("GET", "/downloads/:size") { call in
            guard let size = Int(call.parameter("size")), (0...Self.largestFile).contains(size) else {
                throw Problem(422, "invalid_size", "The size must be from 0 to \(Self.largestFile) bytes.")
            }
            return try reply(with: size, to: call, state)
        }
    }

    private static let largestFile = 10_000_000_000

    /// What has arrived.
    private struct Receipt: Encodable {
        let bytes: Int
        let crc32: String
        let contentType: String?
        /// The parts of a form.
        var parts: [Part]?

        struct Part: Encodable {
            let name: String
            let fileName: String?
            let contentType: String?
            let bytes: Int
            let crc32: String
        }

        init(_ call: Call) throws(Problem) {
            let digest = call.digest ?? BodyDigest(call.body)
            bytes = digest.bytes
            crc32 = digest.crc32
            contentType = call.header("Content-Type")
            guard call.mediaType == MultipartBody.mediaType else { return }
            guard let form = MultipartBody(call.body, contentType: contentType) else {
                throw Problem(400, "malformed_form", "The body is not multipart/form-data.")
            }
            parts = form.parts.map { part in
                let digest = BodyDigest(part.content)
                return Part(
                    name: part.name, fileName: part.fileName, contentType: part.contentType, bytes: digest.bytes,
                    crc32: digest.crc32)
            }
        }
    }
}

/// A file, or the part of it that is asked for (RFC 9110 §14).
private func reply(with size: Int, to call: Call, _ state: Locked<ServerState>) throws -> Reply {
    let file = SampleFile(size: size, version: state.withLock(\.transferFaults.fileVersion))
    var headers = [
        ("Content-Type", "application/octet-stream"), ("ETag", file.entityTag), ("Accept-Ranges", "bytes"),
    ]
    let range: Range<Int>
    let status: Int
    switch ByteRange(
        call.header("Range"), ifRange: call.header("If-Range"), entityTag: file.entityTag, size: size)
    {
    case .whole:
        (status, range) = (200, 0..<size)
    case .part(let part):
        (status, range) = (206, part)
        headers.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"))
    case .notSatisfiable:
        throw Problem(
            416, "range_not_satisfiable", "The file has \(size) bytes.",
            headers: [("Content-Range", "bytes */\(size)"), ("ETag", file.entityTag)])
    }
    var reply = Reply(status: status, headers: headers)
    reply.note = call.header("Range")
    guard call.method != "HEAD" else {
        reply.headers.append(("Content-Length", String(range.count)))
        return reply
    }
    reply.delivery = .stream(length: range.count, part(of: file, range, state))
    return reply
}

/// Makes the parts of a file while it is sent.
private func part(
    of file: SampleFile, _ range: Range<Int>, _ state: Locked<ServerState>
) -> @Sendable () async throws -> Data? {
    let (cut, bytesPerSecond) = state.withLock { state in
        (state.transferFaults.nextCut(of: range), state.transferFaults.bytesPerSecond)
    }
    let end = cut ?? range.upperBound
    let offset = Locked(range.lowerBound)
    let pattern = file.pattern
    return {
        let part = offset.withLock { offset in
            let part = file.part(
                at: offset, upTo: min(bytesPerSecond.map { max($0 / 20, 1) } ?? .max, end - offset), of: pattern)
            offset += part.count
            return part
        }
        guard !part.isEmpty else {
            if cut != nil { throw ConnectionCut() }
            return nil
        }
        try await Pace.wait(for: part.count, at: bytesPerSecond)
        return part
    }
}

/// The connection is closed in the middle of a body on purpose.
private struct ConnectionCut: Error {}
