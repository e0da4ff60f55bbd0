import AtomNetworking
import Foundation

extension Conformance {
    private struct Limbo: Decodable {
        struct Name: Decodable {
            let kind: String
            let value: String
        }

        // swift-format-ignore: AlwaysUseLowerCamelCase
        struct Test: Decodable {
            let id: String
            let validation_kind: String
            let trusted_certs: [String]
            let peer_certificate_key: String?
            let validation_time: String?
            let expected_result: String
            let expected_peer_name: Name?
            let max_chain_depth: Int?
            let crls: [String]?
        }

        let testcases: [Test]
    }

    /// Certificates of servers, by a proxy that answers with them.
    ///
    /// Cases for another time, a depth or a list of revoked certificates ask for what the
    /// SDK has no setting for.
    static func certificates(_ folder: Folder) async throws -> [Case] {
        let path = "x509-limbo/limbo.json"
        let limbo = try JSONDecoder().decode(Limbo.self, from: folder.bytes(path))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "tls-proxy")
        process.arguments = [folder.file(path).path]
        let (pipe, life) = (Pipe(), Pipe())
        process.standardOutput = pipe
        process.standardInput = life
        try process.run()
        defer { try? life.fileHandleForWriting.close() }
        let port = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .newlines)

        var cases: [Case] = []
        for (index, test) in limbo.testcases.enumerated() {
            guard test.validation_kind == "SERVER", let name = test.expected_peer_name, name.kind != "RFC822",
                test.peer_certificate_key != nil, test.validation_time == nil, test.max_chain_depth == nil,
                test.crls?.isEmpty != false, !test.trusted_certs.isEmpty, !test.id.hasPrefix("bettertls::")
            else { continue }
            var result = "SUCCESS"
            do {
                var configuration = ServiceConfiguration()
                configuration.transport = try CurlTransport(
                    authorities: test.trusted_certs.joined(separator: "\n"), trustsSystem: false,
                    proxy: .server("http://127.0.0.1:\(port)"))
                let host = name.value.contains(":") ? "[\(name.value)]" : name.value
                let endpoint = try Endpoint(url: "https://\(host):\(index + 1)/")
                _ = try await Atom(serviceConfiguration: configuration).enqueue(endpoint).resume()
            } catch AtomError.session(let error as URLError) where certificateFailures.contains(error.code) {
                result = "FAILURE"
            } catch {
                result = "\(error)"
            }
            cases.append(Case(id: test.id, problem: Case.difference(test.expected_result, result)))
        }
        return cases
    }

    private static let certificateFailures: [URLError.Code] = [
        .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid,
    ]
}
