import Foundation

/// Writes bytes in the way of a Unix tool.
public enum FileDescriptorOutput {
    /// Writes all of the bytes before it returns.
    ///
    /// If the reader has closed the pipe, as in `| head -1`, the process ends
    /// with status 141. SIGPIPE would do the same, if it isn't ignored in this
    /// process. Other errors are ignored.
    public static func write(_ data: Data, to descriptor: Int32) {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
                #if canImport(Darwin)
                    let written = Darwin.write(descriptor, start, rest.count)
                #else
                    let written = Glibc.write(descriptor, start, rest.count)
                #endif
                if written > 0 {
                    rest = rest.dropFirst(written)
                } else if errno == EPIPE {
                    _exit(128 + SIGPIPE)
                } else if errno != EINTR {
                    return
                }
            }
        }
    }
}
