import Foundation

/// A body of known length in pieces; files are read while they are sent.
struct BodySegments: Sendable {
    let segments: [Segment]

    /// The number of bytes of the whole body.
    let length: Int64

    enum Segment: Sendable {
        case data(Data)
        case file(FileSegment)

        var length: Int64 {
            switch self {
            case .data(let data): Int64(data.count)
            case .file(let file): file.length
            }
        }
    }

    /// Creates a body from its pieces, whose length has to fit into 63 bits.
    init(_ segments: [Segment]) throws(AtomError) {
        var length: Int64 = 0
        for segment in segments {
            let (sum, overflows) = length.addingReportingOverflow(segment.length)
            guard !overflows else {
                throw .requestable(.invalidBody(.init(reason: "the files are too large to be sent together")))
            }
            length = sum
        }
        self.segments = segments
        self.length = length
    }

    /// A new reader; all readers of a body give the same bytes, or fail.
    func makeReader() -> SegmentReader { SegmentReader(segments) }
}
