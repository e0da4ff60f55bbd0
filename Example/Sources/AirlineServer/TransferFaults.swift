/// What happens to uploads and downloads.
public struct TransferFaults: Sendable, Codable, Hashable {
    /// The number of bytes after which the next download's connection is closed;
    /// `nil` for none.
    ///
    /// They are counted from the beginning of the file. A download that doesn't
    /// get so far, or begins after it, leaves the fault for the next one.
    public var cutDownloadAt: Int?

    /// How fast bodies are read and files are sent; `nil` for no limit.
    public var bytesPerSecond: Int?

    /// The version of all files; another version has other bytes and another
    /// `ETag`.
    public var fileVersion = 1

    /// No faults.
    public init() {}

    enum CodingKeys: String, CodingKey, CaseIterable {
        case cutDownloadAt
        case bytesPerSecond
        case fileVersion
    }
}

extension TransferFaults {
    /// Where to cut a download of these bytes; counts the fault down.
    mutating func nextCut(of range: Range<Int>) -> Int? {
        guard let cut = cutDownloadAt, range.contains(cut) else { return nil }
        cutDownloadAt = nil
        return cut
    }
}
