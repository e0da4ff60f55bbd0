import AtomNetworking
import Foundation

/// What the command line asks for.
struct Options: Sendable {
    var seed: UInt64 = UInt64.random(in: 0..<1_000_000_000)
    var seconds = 60.0
    /// How many requests a soak makes; `nil` for chaos.
    var soak: Int?
    /// The name of the transport that the clients use.
    var transport: String
    let makeTransport: @Sendable () throws -> any Transport
    /// Whether the loopback interface is this program's own, to be slowed down and cut.
    var ownsNetwork = false
    /// What stands before the servers and speaks HTTP/2; `nil` for HTTP/1.1 without anything between.
    var front: Front.Manner?

    // What a client is told by the process that starts it.
    var client: String?
    var process = 0
    var port = 0
    var otherPort = 0
    var folder = ""

    /// - Parameter transports: By their names. If there are several, libcurl is meant where none is named.
    init(_ arguments: [String], transports: Chaos.Makers) {
        var rest = arguments[...]
        var transport = transports.count == 1 ? transports.keys.first ?? "" : "libcurl"
        func refuse(_ text: String) -> Never {
            FileHandle.standardError.write(Data("chaos: \(text)\n".utf8))
            exit(2)
        }
        while let name = rest.popFirst() {
            if name == "--own-network" {
                ownsNetwork = true
                continue
            }
            guard let value = rest.popFirst() else { refuse("\(name) needs a value") }
            func number<Number: LosslessStringConvertible>() -> Number {
                guard let number = Number(value) else { refuse("\(name) \(value) isn't a number") }
                return number
            }
            switch name {
            case "--seed": seed = number()
            case "--seconds": seconds = number()
            case "--minutes": seconds = number() * 60
            case "--transport": transport = value
            case "--soak": soak = number()
            case "--front":
                front = Front.Manner(rawValue: value)
                if front == nil { refuse("there is no front that is \(value)") }
            case "--client": client = value
            case "--process": process = number()
            case "--port": port = number()
            case "--other-port": otherPort = number()
            case "--folder": folder = value
            default: refuse("there is no option \(name)")
            }
        }
        guard let makeTransport = transports[transport] else { refuse("there is no transport \(transport)") }
        if front != nil, transport != "libcurl" || soak != nil { refuse("a front is for chaos over libcurl") }
        self.transport = transport
        self.makeTransport = makeTransport
    }

    /// The command line of a client.
    func arguments(of client: String, process: Int, seconds: Double) -> [String] {
        [
            "--client", client, "--process", "\(process)", "--seed", "\(seed)", "--seconds", "\(seconds)", "--port",
            "\(port)", "--transport", transport, "--other-port", "\(otherPort)", "--folder", folder,
        ] + (soak.map { ["--soak", "\($0)"] } ?? []) + (front.map { ["--front", $0.rawValue] } ?? [])
    }
}
