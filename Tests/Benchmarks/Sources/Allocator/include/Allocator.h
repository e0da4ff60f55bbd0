#include <stddef.h>

/// The bytes that the program has allocated and not freed, as counted by its
/// allocator: including the overhead of each block, without free lists.
size_t allocatedBytes(void);
