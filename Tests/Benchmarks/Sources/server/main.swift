// Replaces nginx: the same responses from the tests' own server. It ends when
// its standard input ends.

import AtomNetworkingTesting
import Foundation

let flight = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
let token = try String(contentsOfFile: CommandLine.arguments[2], encoding: .utf8)
let few = [("X-Request-Id", "4f1c2b9a"), ("Cache-Control", "no-store"), ("Server", "loopback")]
let cookie = [("Set-Cookie", "seat=12A; Path=/; HttpOnly")]
let fields = (1...60).map { ("X-Field-\($0)", "value \($0)") }
let server = try LoopbackServer(
    handler: LoopbackServer.routes([
        "/flight": { _ in .json(flight, headers: few) },
        "/flight-with-cookie": { _ in .json(flight, headers: few + cookie) },
        "/flight-with-many-fields": { _ in .json(flight, headers: fields.prefix(17) + cookie) },
        "/flight-with-64-fields": { _ in .json(flight, headers: fields + cookie) },
        "/bytes-65536": { _ in .generated(length: 1 << 16) },
        "/bytes-1048576": { _ in .generated(length: 1 << 20) },
        "/flight-to-keep": { _ in .json(flight, headers: [("Cache-Control", "max-age=86400")]) },
        "/token": { _ in .json(token) },
    ]))
FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
while readLine() != nil {}
server.stop()
