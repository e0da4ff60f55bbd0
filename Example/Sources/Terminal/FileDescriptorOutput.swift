import Foundation

/// Writes bytes the way a Unix tool does.
public enum FileDescriptorOutput {
    /// Writes all of the bytes, and waits until that is done.
    ///
    /// When nobody reads them any more, as after `| head -1`, the process ends
    /// with status 141: what SIGPIPE would have done, had a server that runs
    /// in this process not had to ignore it. Other failures are dropped.
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
