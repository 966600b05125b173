#define _GNU_SOURCE
#include "CPawlSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static int64_t nanoseconds(struct statx_timestamp time) {
    return (int64_t)((uint64_t)time.tv_sec * 1000000000u + time.tv_nsec);
}

int pawl_stamp(int folder, const char *name, int follows, struct pawl_stamp *stamp) {
    struct statx found;
    int flags = AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH) | (follows ? 0 : AT_SYMLINK_NOFOLLOW);
    if (statx(folder, name, flags, STATX_BASIC_STATS | STATX_BTIME, &found)) return errno;
    *stamp = (struct pawl_stamp){
        .device = makedev(found.stx_dev_major, found.stx_dev_minor),
        .inode = found.stx_ino,
        .length = (int64_t)found.stx_size,
        .modified = nanoseconds(found.stx_mtime),
        .birth = found.stx_mask & STATX_BTIME ? nanoseconds(found.stx_btime) : 0,
        .is_regular = S_ISREG(found.stx_mode),
        .is_link = S_ISLNK(found.stx_mode),
        .is_folder = S_ISDIR(found.stx_mode),
    };
    return 0;
}

bool pawl_is_protected(int folder, const char *name) {
    struct statx found;
    int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH);
    if (statx(folder, name, flags, STATX_TYPE, &found)) return false;
    return found.stx_attributes & (STATX_ATTR_APPEND | STATX_ATTR_IMMUTABLE);
}
