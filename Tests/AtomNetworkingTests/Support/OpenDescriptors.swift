import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Waits until this process may start another one.
///
/// `Process.run()` of Foundation on Linux reads beyond the list of open
/// descriptors if there are more than about 1,350, and may end the process. Many
/// tests at once have that many for a moment.
func waitForFewDescriptors(below limit: Int = 1_100) async {
    _ = await eventually { openDescriptors() < limit }
}

/// The number of open descriptors; 0 where the system doesn't list them.
private func openDescriptors() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    // The entry isn't read: its type is longer than an entry.
    while readdir(folder) != nil { count += 1 }
    return count
}
