/// The number of blocks that the program has allocated so far, on all threads;
/// -1 if they aren't counted.
long allocationCount(void);

/// How often a thread found a mutex locked so far; -1 if that isn't counted.
long contendedLockCount(void);
