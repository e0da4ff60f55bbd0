import Foundation

/// A value that can only be reached under its lock.
///
/// Lock and value are one allocation, and the value is reached through a
/// pointer: an `NSLock` on Linux is four allocations, and each touch of a
/// class's variable is checked for exclusivity at run time, which the lock
/// ensures already. (`Mutex` would need newer Apple systems, and gives the
/// thread sanitizer false races.)
struct Guarded<Value>: @unchecked Sendable {
    // The value is touched between lock and unlock only. What goes in is nobody else's and what comes out is
    // `Sendable`, which the compiler checks; the mutex is never moved.
    private let box: ManagedBuffer<pthread_mutex_t, Value>

    /// Guards a value that nobody else holds.
    init(_ value: consuming sending Value) {
        box = Box<Value>.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        // Initialized outside of the call: a closure would copy the value.
        let (mutex, place) = box.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_init(mutex, nil)
        place.initialize(to: value)
        withExtendedLifetime(box) {}
    }

    /// Runs the body with the lock held; nothing in it may take it again.
    @inline(__always)
    func withLock<T: Sendable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> T
    ) throws(Failure) -> T {
        try box.withUnsafeMutablePointers { (mutex, place) throws(Failure) in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            let place = Place(pointer: place)
            return try body(&place.pointer.pointee)
        }
    }

    /// Where the value is: nobody's as long as the lock is free.
    private struct Place: @unchecked Sendable {
        // Made and used with the lock held only.
        let pointer: UnsafeMutablePointer<Value>
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
