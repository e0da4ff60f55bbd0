import Foundation

#if canImport(FoundationNetworking)
    /// Foundation's only thread on Linux that sends and reads, for all sessions
    /// of the process.
    ///
    /// Nothing but this thread limits how much of a response is read. It is held
    /// while the callbacks of a session pile up, for example because a disk is
    /// slower than the network. Functions of URLSession that wait for the thread
    /// are called with ``call(_:)``, which lets it go on first: a callback that
    /// called one of them would wait for itself otherwise.
    final class LoadingThread: Sendable {
        static let shared = LoadingThread()

        private struct State {
            /// How many threads are in `call`.
            var callers = 0
            /// What wakes the threads that are held.
            var held: [ObjectIdentifier: DispatchSemaphore] = [:]
        }

        private let state = Guarded(State())

        /// Calls functions of URLSession that wait for the loading thread.
        func call<T>(_ body: () -> T) -> T {
            let held = state.withLock { state in
                state.callers += 1
                defer { state.held = [:] }
                return Array(state.held.values)
            }
            for semaphore in held { semaphore.signal() }
            defer { state.withLock { $0.callers -= 1 } }
            return body()
        }

        /// Holds the calling thread until the semaphore is signalled or another
        /// thread needs it.
        ///
        /// - Returns: Whether the duration has passed.
        func hold(until semaphore: DispatchSemaphore, atMost duration: DispatchTimeInterval) -> Bool {
            let isNeeded = state.withLock { state in
                if state.callers == 0 { state.held[ObjectIdentifier(semaphore)] = semaphore }
                return state.callers > 0
            }
            if isNeeded { return false }
            let result = semaphore.wait(timeout: .now() + duration)
            state.withLock { _ = $0.held.removeValue(forKey: ObjectIdentifier(semaphore)) }
            return result == .timedOut
        }
    }
#else
    /// On Apple's systems no thread of URLSession has to be waited for.
    struct LoadingThread: Sendable {
        static let shared = LoadingThread()

        /// Calls functions of URLSession.
        func call<T>(_ body: () -> T) -> T { body() }
    }
#endif
