import Foundation

/// How a request's body is delimited (RFC 9112 §6.3).
enum BodyFraming: Equatable {
    case none
    case length(Int64)
    case chunked

    init(of request: LoopbackServer.Request) throws(RequestReader.Failure) {
        var hosts = 0
        var codings: [String] = []
        var lengths: [String] = []
        for field in request.headers {
            switch field.name.utf8.count {
            case 4 where field.isNamed("Host"): hosts += 1
            case 14 where field.isNamed("Content-Length"): lengths.append(field.value)
            case 17 where field.isNamed("Transfer-Encoding"): codings.append(field.value)
            default: break
            }
        }
        guard hosts == 1 || (hosts == 0 && request.version == "HTTP/1.0") else {
            throw .malformed("\(hosts) Host fields")
        }
        if !codings.isEmpty {
            // A Content-Length field is ignored then (Foundation on Linux sends both); tests find it in the headers, and
            // the connection is closed after the response.
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw .malformed("Transfer-Encoding: \(codings.joined(separator: ", "))", status: 501)
            }
            self = .chunked
        } else if let text = lengths.first {
            guard lengths.allSatisfy({ $0 == text }), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let length = Int64(text)
            else { throw .malformed("Content-Length: \(lengths.joined(separator: ", "))") }
            self = length == 0 ? .none : .length(length)
        } else {
            self = .none
        }
    }
}
