/* `struct stat` as Darwin declares it, in place of Glibc's. The sizes of its
   types are replaced by .ci/check-apple. */

#define ATOM_DARWIN_STAT { \
    __dev_t st_dev; \
    __mode_t st_mode; \
    __nlink_t st_nlink; \
    __ino_t st_ino; \
    __uid_t st_uid; \
    __gid_t st_gid; \
    __dev_t st_rdev; \
    struct timespec st_atimespec; \
    struct timespec st_mtimespec; \
    struct timespec st_ctimespec; \
    struct timespec st_birthtimespec; \
    __off_t st_size; \
}

struct stat ATOM_DARWIN_STAT;
#ifdef __USE_LARGEFILE64
struct stat64 ATOM_DARWIN_STAT;
#endif
