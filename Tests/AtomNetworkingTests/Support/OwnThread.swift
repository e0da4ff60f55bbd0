import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Runs a long computation without blocking a thread of the cooperative pool,
/// which all tests of the process share.
///
/// - Parameter isPatient: Whether other threads go first. A computation that
///   takes a whole processor would else delay tests with deadlines. Only a few
///   run at the same time.
func onAThreadOfItsOwn<T: Sendable>(isPatient: Bool = false, _ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        let thread = Thread {
            guard isPatient else { return continuation.resume(returning: body()) }
            places.wait()
            let result = patiently(body)
            places.signal()
            // Not on the patient thread: a thread that it starts for the pool
            // would be as patient, for as long as the process runs.
            continuation.resume(returning: result)
        }
        thread.stackSize = 8 << 20
        thread.start()
    }
}

private let places = DispatchSemaphore(value: ProcessInfo.processInfo.activeProcessorCount)

/// Waits for a thread that lets all others go first.
private func patiently<T: Sendable>(_ body: @escaping @Sendable () -> T) -> T {
    let (result, isDone) = (Locked<T?>(nil), DispatchSemaphore(value: 0))
    let thread = Thread {
        #if canImport(Glibc)
            // On Linux this concerns the calling thread only, and a quality of service has no effect.
            _ = setpriority(.init(PRIO_PROCESS.rawValue), 0, 19)
        #endif
        result.set(body())
        isDone.signal()
    }
    thread.stackSize = 8 << 20
    thread.qualityOfService = .utility
    thread.start()
    isDone.wait()
    guard let value = result.value else { preconditionFailure("The thread has left its result") }
    return value
}
