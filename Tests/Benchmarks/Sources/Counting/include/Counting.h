/// Blocks that the program has taken from its allocator so far, all threads
/// together; -1 where they aren't counted.
long allocationCount(void);

/// How often a thread found a mutex taken so far; -1 where that isn't counted.
long contendedLockCount(void);
