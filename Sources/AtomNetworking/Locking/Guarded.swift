import Foundation

/// A value that is accessible only under its lock.
///
/// Lock and value share one allocation, without the check for exclusivity of a class's variable: an `NSLock` on Linux
/// takes four. (`Mutex` would need newer Apple systems, and causes false reports of the thread sanitizer.)
package struct Guarded<Value>: @unchecked Sendable {
    // The value is accessed only between lock and unlock, and isn't shared. The mutex is never moved.
    private let box: ManagedBuffer<pthread_mutex_t, Value>

    /// Guards a value that isn't shared.
    package init(_ value: consuming sending Value) {
        box = Box<Value>.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        // Initialized outside the call: a closure would copy the value.
        let (mutex, place) = box.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_init(mutex, nil)
        place.initialize(to: value)
        withExtendedLifetime(box) {}
    }

    /// Runs the body, which must not take the lock again.
    @inline(__always)
    package func withLock<T: Sendable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> T
    ) throws(Failure) -> T {
        try box.withUnsafeMutablePointers { (mutex, place) throws(Failure) in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            let place = Place(pointer: place)
            return try body(&place.pointer.pointee)
        }
    }

    /// Where the value is, while the lock is held.
    private struct Place: @unchecked Sendable {
        // Created and used only while the lock is held.
        let pointer: UnsafeMutablePointer<Value>
    }
}

extension Guarded where Value == Bool {
    /// Sets the flag, and returns whether it was not set before.
    func isSetNow() -> Bool {
        withLock { isSet in
            defer { isSet = true }
            return !isSet
        }
    }
}

private final class Box<Value>: ManagedBuffer<pthread_mutex_t, Value> {
    deinit {
        withUnsafeMutablePointers { mutex, place in
            _ = place.deinitialize(count: 1)
            pthread_mutex_destroy(mutex)
        }
    }
}
