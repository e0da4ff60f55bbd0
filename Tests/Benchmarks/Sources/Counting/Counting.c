#define _GNU_SOURCE
#include "Counting.h"

// This header defines which C library it is.
#include <stdlib.h>

#if defined(__linux__) && defined(__GLIBC__)

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

// A definition in the program takes precedence over the C library's, for all
// libraries.

static atomic_long allocations;
static atomic_long contendedLocks;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void count(atomic_long *counter) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    count(&allocations);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(&allocations);
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count(&allocations);
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(&allocations);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count(&allocations);
    *block = __libc_memalign(alignment, size);
    return *block == NULL ? 12 /* ENOMEM */ : 0;
}

typedef int (*Lock)(pthread_mutex_t *);
static Lock takeLock;

__attribute__((constructor)) static void findLock(void) { takeLock = (Lock)dlsym(RTLD_NEXT, "pthread_mutex_lock"); }

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    // Before the constructor has run there is only one thread.
    if (takeLock == NULL || pthread_mutex_trylock(mutex) == 0) return takeLock == NULL ? pthread_mutex_trylock(mutex) : 0;
    count(&contendedLocks);
    return takeLock(mutex);
}

long allocationCount(void) { return atomic_load(&allocations); }

long contendedLockCount(void) { return atomic_load(&contendedLocks); }

#else

long allocationCount(void) { return -1; }

long contendedLockCount(void) { return -1; }

#endif
