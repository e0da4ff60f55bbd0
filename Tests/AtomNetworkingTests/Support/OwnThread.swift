import Foundation

/// Runs a long computation without blocking a thread of the cooperative pool,
/// which all tests of the process share.
func onAThreadOfItsOwn<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.stackSize = 8 << 20
        thread.qualityOfService = .utility
        thread.start()
    }
}
