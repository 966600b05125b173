#define _GNU_SOURCE
#include "CPawlSystem.h"

#if defined(__OPTIMIZE__) && !defined(_FORTIFY_SOURCE)
#error "release builds check the lengths of C's copies: define _FORTIFY_SOURCE"
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#include <resolv.h>
#endif
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

int pawl_open_at(int folder, const char *name, int flags, unsigned mode) {
    for (;;) {
        int file = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
        if (file >= 0) return file;
        if (errno != EINTR) return -errno;
    }
}

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

// The same, one folder after the other, for kernels before 5.6 and system call filters that do not know openat2.
static int open_stepwise(int folder, const char *path) {
    int current = folder;
    for (;;) {
        size_t length = strcspn(path, "/");
        const char *end = path + length;
        char name[256];
        int file = -ENOENT;
        if (length > 0 && length < sizeof name) {
            memcpy(name, path, length);
            name[length] = 0;
            int kind = *end ? O_PATH | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
            file = strcmp(name, "..") == 0 ? -EXDEV : pawl_open_at(current, name, kind, 0);
        }
        if (current != folder) close(current);
        if (file < 0 || !*end) return file;
        current = file;
        path = end + 1;
    }
}

static int open_resolved(int folder, const char *path, uint64_t flags, uint64_t resolve) {
#ifdef SYS_openat2
    struct open_how how = {
        .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve,
    };
    for (int tries = 0; tries < 100; tries++) {
        int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
        if (file >= 0) return file;
        if (errno == ENOSYS || errno == EPERM) return open_stepwise(folder, path);
        // EAGAIN: something was renamed concurrently.
        if (errno != EINTR && errno != EAGAIN) return -errno;
    }
    return -EAGAIN;
#else
    return open_stepwise(folder, path);
#endif
}

int pawl_open_beneath(int folder, const char *path) {
    return open_resolved(folder, path, O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
}

int pawl_open_folder_beneath(int folder, const char *path) {
    return open_resolved(folder, path, O_DIRECTORY, 0);
}

int pawl_open_folder_at(int folder, const char *path) {
    int file;
    do file = openat(folder, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    return file < 0 ? -errno : file;
}

int pawl_open_parent(int folder) { return pawl_open_folder_at(folder, ".."); }

int pawl_open_unnamed(int folder, unsigned mode) {
#ifdef O_TMPFILE
    // A file that is not listed under /proc cannot be named without a privilege.
    static atomic_int named_by = 0;
    if (!named_by) named_by = access("/proc/self/fd", X_OK) == 0 ? 1 : -1;
    if (named_by < 0) return -EOPNOTSUPP;
    for (;;) {
        int file = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
        if (file >= 0) return file;
        // Kernels and file systems that do not know the flag see an attempt to write to a folder.
        if (errno == EISDIR || errno == ENOENT || errno == EINVAL) return -EOPNOTSUPP;
        if (errno != EINTR) return -errno;
    }
#else
    (void)folder;
    (void)mode;
    return -EOPNOTSUPP;
#endif
}

int pawl_name(int file, int folder, const char *name) {
#ifdef O_TMPFILE
    // Faster than through /proc; kernels before 6.10 require a privilege for it and return ENOENT without.
    static atomic_int is_refused = 0;
    if (!is_refused) {
        if (linkat(file, "", folder, name, AT_EMPTY_PATH) == 0) return 0;
        if (errno != ENOENT && errno != EPERM) return errno;
    }
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) != 0) return errno;
    // Not if the folder was removed, which is ENOENT as well.
    is_refused = 1;
    return 0;
#else
    (void)file;
    (void)folder;
    (void)name;
    return EOPNOTSUPP;
#endif
}

int pawl_open_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0 ? folder : -errno;
}

void pawl_list_folder(
    int folder, const char *ending, void *context, void (*each)(void *context, const char *name)) {
    // A separate description: the stream moves its offset and closes it.
    int file = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return;
    DIR *stream = fdopendir(file);
    if (!stream) {
        close(file);
        return;
    }
    size_t tail = strlen(ending);
    struct dirent *entry;
    while ((entry = readdir(stream))) {
        size_t length = strlen(entry->d_name);
        if (length > tail && !strcmp(entry->d_name + length - tail, ending)) each(context, entry->d_name);
    }
    closedir(stream);
}

static int set_lock(int file, short type) {
#if defined(F_OFD_SETLK)
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    if (fcntl(file, F_OFD_SETLK, &lock) == 0) return 0;
    return errno == EACCES ? EAGAIN : errno;
#else
    return flock(file, (type == F_UNLCK ? LOCK_UN : LOCK_EX) | LOCK_NB) == 0 ? 0 : errno;
#endif
}

int pawl_lock(int file) { return set_lock(file, F_WRLCK); }
int pawl_unlock(int file) { return set_lock(file, F_UNLCK); }

int pawl_is_locked(int file) {
#if defined(F_OFD_GETLK)
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(file, F_OFD_GETLK, &lock) != 0) return -errno;
    return lock.l_type != F_UNLCK;
#else
    // The kernel has no query for it: the lock is taken for a moment.
    int status = pawl_lock(file);
    if (status == 0) pawl_unlock(file);
    return status == 0 ? 0 : status == EWOULDBLOCK ? 1 : -status;
#endif
}

// For file systems without an atomic rename: a hard link never replaces. Without hard links either, a check and a
// plain rename have to do.
static int rename_by_link(int folder, const char *from, const char *to) {
    if (linkat(folder, from, folder, to, 0) == 0) return unlinkat(folder, from, 0) == 0 ? 0 : errno;
    if (errno == EEXIST || errno == ENOENT || errno == ENOSPC || errno == EDQUOT) return errno;
    struct stat found;
    if (fstatat(folder, to, &found, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
    if (errno != ENOENT) return errno;
    return renameat(folder, from, folder, to) == 0 ? 0 : errno;
}

int pawl_rename_new(int folder, const char *from, const char *to) {
    int failed = renameat2(folder, from, folder, to, RENAME_NOREPLACE);
    if (!failed) return 0;
    if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP) return rename_by_link(folder, from, to);
    return errno;
}

int pawl_allocate(int file, int64_t length) {
    return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, length) == 0 ? 0 : errno;
}

int pawl_sync_data(int file) {
    return fdatasync(file) == 0 ? 0 : errno;
}

int pawl_sync_all(int file) {
    return fsync(file) == 0 ? 0 : errno;
}

int pawl_sync_file_system(int file) {
    return syncfs(file) == 0 ? 0 : errno;
}

int pawl_check_writeback(int file) {
    unsigned all = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return sync_file_range(file, 0, 0, all) == 0 ? 0 : errno;
}

unsigned pawl_file_system(int file) {
    struct statfs found;
    if (fstatfs(file, &found) != 0) return 0;
    switch ((uint32_t)found.f_type) {
        case 0x01021994:  // tmpfs
        case 0x858458F6:  // ramfs
            return PAWL_FS_LOCAL | PAWL_FS_VOLATILE | PAWL_FS_MAPPABLE | PAWL_FS_INODES | PAWL_FS_OWNERS;
        case 0xEF53:      // ext2, ext3, ext4
        case 0x58465342:  // XFS
            return PAWL_FS_LOCAL | PAWL_FS_MAPPABLE | PAWL_FS_INODES | PAWL_FS_OWNERS;
        case 0x9123683E:  // Btrfs: copies on write, so a store to a mapped page may need space
        case 0xCA451A4E:  // bcachefs
        case 0x2FC12FC1:  // ZFS
        case 0xF2F52010:  // F2FS
        case 0x3153464A:  // JFS
        case 0x52654973:  // ReiserFS
        case 0x3434:      // NILFS
            return PAWL_FS_LOCAL | PAWL_FS_INODES | PAWL_FS_OWNERS;
        case 0x794C7630:  // overlayfs: the layers below are not known
            return PAWL_FS_LOCAL | PAWL_FS_OWNERS;
        case 0x4D44:      // FAT
        case 0x2011BAB0:  // exFAT
        case 0x7366746E:  // NTFS3
        case 0x482B:      // HFS+
        case 0x15013346:  // UDF
            return PAWL_FS_LOCAL;
        case 0x6969:      // NFS
        case 0x00C36400:  // Ceph
            return PAWL_FS_OWNERS;
        default:  // SMB, 9p, FUSE, and later ones
            return 0;
    }
}

static const char mark_name[] = "user.pawl";

int pawl_set_mark(int file, const void *value, size_t length) {
    return fsetxattr(file, mark_name, value, length, 0) == 0 ? 0 : errno;
}

int pawl_mark(int file, void *value, size_t length) {
    ssize_t count = fgetxattr(file, mark_name, value, length);
    return count < 0 ? -errno : (int)count;
}

int pawl_remove_mark(int file) {
    return fremovexattr(file, mark_name) == 0 ? 0 : errno;
}

int pawl_set_attribute(int file, const char *name, const void *value, size_t length) {
    return fsetxattr(file, name, value, length, 0) == 0 ? 0 : errno;
}

int pawl_attribute(int file, const char *name, void *value, size_t length) {
    ssize_t count = fgetxattr(file, name, value, length);
    return count < 0 ? -errno : (int)count;
}

void pawl_copy_attributes(int from, int to) {
    ssize_t size = flistxattr(from, NULL, 0);
    char *names = size > 0 ? malloc((size_t)size) : NULL;
    if (!names) return;
    // A value has at most 64 KiB on Linux.
    char *value = malloc(65536);
    size = value ? flistxattr(from, names, (size_t)size) : 0;
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
        const char *name = names + at;
        size_t length = strlen(mark_name);
        if (strncmp(name, "user.", 5) != 0) continue;
        if (strncmp(name, mark_name, length) == 0 && (name[length] == 0 || name[length] == '.')) continue;
        ssize_t count = fgetxattr(from, name, value, 65536);
        if (count >= 0) (void)fsetxattr(to, name, value, (size_t)count, 0);
    }
    free(value);
    free(names);
}

int pawl_boot_identity(uint8_t identity[16]) {
    char text[64];
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno;
    ssize_t length = read(file, text, sizeof text);
    int failure = errno;
    close(file);
    if (length < 0) return failure;
    int digits = 0;
    for (size_t index = 0; index < (size_t)length && digits < 32; index++) {
        char c = text[index];
        if (c == '-') continue;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return EINVAL;
        identity[digits / 2] = (uint8_t)(digits % 2 ? identity[digits / 2] << 4 | digit : digit);
        digits++;
    }
    return digits == 32 ? 0 : EINVAL;
}

int64_t pawl_next_hole(int file, int64_t from, int64_t *end) {
    off_t length = lseek(file, 0, SEEK_END);
    off_t start = lseek(file, from, SEEK_HOLE);
    // Every file ends with a hole of no length.
    if (start < 0 || start >= length) return -1;
    off_t data = lseek(file, start, SEEK_DATA);
    *end = data < 0 ? length : data;
    return start;
}

int pawl_copy_data(int from, int to, int64_t length) {
    enum { chunk = 64 * 1024 };
    int64_t done = 0;
    while (done < length) {
        off_t in = done, out = done;
        ssize_t count = copy_file_range(from, &in, to, &out, (size_t)(length - done), 0);
        if (count > 0) { done += count; continue; }
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO)) return errno;
        break;  // Not supported between these files: copy instead.
    }
    char buffer[chunk];
    while (done < length) {
        size_t wanted = length - done < chunk ? (size_t)(length - done) : chunk;
        ssize_t count = pread(from, buffer, wanted, done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count == 0 ? EIO : errno;
        for (ssize_t sent = 0; sent < count;) {
            ssize_t part = pwrite(to, buffer + sent, (size_t)(count - sent), done + sent);
            if (part < 0 && errno == EINTR) continue;
            if (part < 0) return errno;
            sent += part;
        }
        done += count;
    }
    return 0;
}

void pawl_name_thread(const char *name) {
    char part[16];
    snprintf(part, sizeof part, "%s", name);
    pthread_setname_np(pthread_self(), part);
}

void pawl_keep_memory_small(void) {
#ifdef __GLIBC__
    // With an arena per core, each keeps freed memory; large responses would raise both thresholds.
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    mallopt(M_TRIM_THRESHOLD, 128 * 1024);
#endif
}

void pawl_trim_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

int pawl_spawn_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// The soft limit before it was raised; 0 when it was not.
static _Atomic(rlim_t) former_descriptors;

void pawl_raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    rlim_t former = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0) former_descriptors = former;
}

void pawl_restore_descriptors(void) {
    rlim_t former = former_descriptors;
    struct rlimit limit;
    if (former == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = former < limit.rlim_max ? former : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

// Counting as many takes some 50 µs.
enum { counted_descriptors = 16384 };

int pawl_free_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > counted_descriptors) return INT_MAX;
    nfds_t count = limit.rlim_cur;
    struct pollfd *all = malloc((count + 1) * sizeof *all);
    if (!all) return INT_MAX;
    for (nfds_t index = 0; index < count; index++) all[index] = (struct pollfd){.fd = (int)index};
    int unused = 0;
    // poll(2) marks those that are not open.
    if (poll(all, count, 0) < 0) {
        unused = INT_MAX;
    } else {
        for (nfds_t index = 0; index < count; index++) unused += (all[index].revents & POLLNVAL) != 0;
    }
    free(all);
    return unused;
}

void pawl_limit_lookups(bool sequential) {
#ifdef __GLIBC__
    // Once it is changed, the library does not replace a configuration that is no longer that of the file.
    if (_res.options & RES_INIT) res_nclose(&_res);
    if (res_ninit(&_res) != 0) return;
    if (_res.retrans == RES_TIMEOUT) _res.retrans = 2;
    if (_res.retry == RES_DFLRETRY) _res.retry = 1;
    if (sequential) _res.options |= RES_SNGLKUPREOP;
#endif
}
