import Foundation

/// The size and the checksum of a body that isn't kept.
struct BodyDigest: Sendable {
    private(set) var bytes = 0
    private var checksum = CRC32()

    init() {}

    init(_ data: Data) {
        add(data)
    }

    mutating func add(_ part: Data) {
        bytes += part.count
        part.withUnsafeBytes { checksum.update(with: $0) }
    }

    /// Eight hexadecimal digits.
    var crc32: String { checksum.description }
}
