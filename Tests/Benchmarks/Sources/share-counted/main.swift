// The same with allocations and contended locks counted, for which every call
// to the allocator and each lock takes a detour.

import Counting
import OwnShare

OwnShare.run([
    (name: "allocations", count: { allocationCount() }),
    (name: "contended", count: { contendedLockCount() }),
])
