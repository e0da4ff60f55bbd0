import Foundation

/// A file that the server has for each person: every line says whose it is.
enum PersonalFile {
    static let lineLength = 64

    /// The files of all people have the same length, and the same entity tag.
    static func data(_ name: String, of owner: String) -> Data {
        var lines = 200
        for byte in name.utf8 { lines = (lines &* 31 &+ Int(byte)) % 2_800 + 200 }
        var data = Data(capacity: lines * lineLength)
        for line in 0..<lines {
            let text = "\(owner) \(name) \(line) "
            data += Data(text.utf8) + Data(repeating: 0x2E, count: lineLength - 1 - text.utf8.count) + [0x0A]
        }
        return data
    }
}
