import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Runs a long computation without blocking a thread of the cooperative pool,
/// which all tests of the process share.
///
/// - Parameter isPatient: Whether other threads go first. A computation that
///   takes a whole processor would else delay tests with deadlines.
func onAThreadOfItsOwn<T: Sendable>(isPatient: Bool = false, _ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            #if canImport(Glibc)
                // On Linux this concerns the calling thread only, and a quality of service has no effect.
                if isPatient { _ = setpriority(.init(PRIO_PROCESS.rawValue), 0, 19) }
            #endif
            continuation.resume(returning: body())
        }
        thread.stackSize = 8 << 20
        thread.qualityOfService = .utility
        thread.start()
    }
}
