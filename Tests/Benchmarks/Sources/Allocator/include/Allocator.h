#include <stddef.h>

/// The bytes that the program has allocated and not freed, as its allocator
/// counts them: the overhead of each block included, free lists left out.
size_t allocatedBytes(void);
