// The same with counts of allocations and contended locks, for which every call
// of the allocator and each lock is intercepted.

import Counting
import OwnShare

OwnShare.run([
    (name: "allocations", count: { allocationCount() }),
    (name: "contended", count: { contendedLockCount() }),
])
