#if os(Linux)
    import Foundation

    /// An answer that a server should send.
    struct NormalAnswer: Sendable {
        let testDescription: String
        let head: String
        let coded: Data
        let body: Data
        /// The size of the shortest beginning that counts as complete, if it
        /// isn't the whole.
        var shortest: Int?
        /// Whether the end of the connection isn't the end of the body.
        var isFramed = true

        var bytes: Data { Data(head.utf8) + coded }

        var headSize: Int { head.utf8.count }

        /// The size up to the end of the final status line.
        var statusSize: Int {
            let final = head.components(separatedBy: "HTTP/").last ?? ""
            return headSize - final.utf8.drop { $0 != 0x0A }.count + 1
        }

        var firstComplete: Int { shortest ?? bytes.count }

        static let all: [NormalAnswer] = {
            let hello = Data("hello, world".utf8)
            let gzip = Deflate.gzip(hello)
            let ended = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
            return [
                NormalAnswer(
                    testDescription: "a length", head: "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX: y\r\n\r\n",
                    coded: hello,
                    body: hello),
                NormalAnswer(
                    testDescription: "chunks", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                    coded: Data("5;x=y\r\nhello\r\n7\r\n, world\r\n0\r\nX-Checksum: 1\r\n\r\n".utf8), body: hello,
                    // libcurl doesn't wait for the very last octet.
                    shortest: 92),
                NormalAnswer(
                    testDescription: "gzip",
                    head: "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n",
                    coded: gzip, body: hello),
                NormalAnswer(
                    testDescription: "an interim answer",
                    head:
                        "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 12\r\n\r\n",
                    coded: hello, body: hello),
                NormalAnswer(
                    testDescription: "the end of the connection", head: ended, coded: hello, body: hello,
                    shortest: ended.utf8.count, isFramed: false),
                NormalAnswer(
                    testDescription: "no body", head: "HTTP/1.1 204 No Content\r\nDate: today\r\n\r\n", coded: Data(),
                    body: Data()),
            ]
        }()
    }
#endif
