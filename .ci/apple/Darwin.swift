// What the SDK uses of Darwin and Glibc doesn't have. The rest is Glibc's, with
// Darwin's integer types; see .ci/check-apple.

@_exported import Glibc

public var F_FULLFSYNC: Int32 { 51 }
public var F_SETNOSIGPIPE: Int32 { 73 }

public func clock_gettime_nsec_np(_ clock: clockid_t) -> UInt64 { 0 }
