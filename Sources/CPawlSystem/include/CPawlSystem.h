// The one door to system calls that Swift cannot make: variadic ones, those that the C library's overlay hides, and
// those that each system spells differently. Unless said otherwise a door answers 0 or an errno value.
#pragma once
#include <stddef.h>
#include <stdint.h>

// openat: a descriptor, or -errno. Close-on-exec, and a symbolic link as the last component is refused.
int pawl_open_at(int folder, const char *name, int flags, unsigned mode);

// A file to be read, by its path below the folder: a descriptor, or -errno. Close-on-exec, without waiting for the other
// end of a pipe; no symbolic link is followed on the way, and nothing leads out of the folder (openat2(2), RESOLVE_BENEATH).
int pawl_open_beneath(int folder, const char *path);

// A folder, by its path: a descriptor, or -errno. Here symbolic links are followed.
int pawl_open_folder(const char *path);

// Calls `each` with the names in the folder that end in `ending`.
void pawl_list_folder(
    int folder, const char *ending, void *context, void (*each)(void *context, const char *name));

// A write lock on the whole file that belongs to the open description (fcntl_locking(2), "open file description
// locks"), so that two parts of one process exclude each other too. EAGAIN: held elsewhere.
int pawl_lock(int file);
int pawl_unlock(int file);
// Whether somebody else has that lock, without taking it: 1, 0, or -errno when it cannot be told.
int pawl_is_locked(int file);

// A file in the folder that has no name: a descriptor, or -errno. EOPNOTSUPP: not here.
int pawl_open_unnamed(int folder, unsigned mode);
// Gives a file without a name one, and never another one's. EEXIST: the name is taken.
int pawl_name(int file, int folder, const char *name);
// Moves a file inside one folder without ever replacing another. EEXIST: the new name is taken.
int pawl_rename_new(int folder, const char *from, const char *to);

// Blocks for the first `length` bytes, without changing the file's length. EOPNOTSUPP: not on this file system.
int pawl_allocate(int file, int64_t length);

// The data, and the metadata needed to find it, are on stable storage when this returns.
int pawl_sync_data(int file);
int pawl_sync_all(int file);
// Syncs everything on the file system of this file. ENOSYS: not on this system.
int pawl_sync_file_system(int file);
// After that: whether the write-back of this file's pages failed. Costs no flush of the disk's cache.
int pawl_check_writeback(int file);

// What a file system is like, as bits.
enum {
    PAWL_FS_LOCAL = 1,     // its page cache is this kernel's alone
    PAWL_FS_VOLATILE = 2,  // in memory: nothing survives a power cut, so nothing is synced
    PAWL_FS_MAPPABLE = 4,  // a store to a mapped page that was written before cannot find the disk full
    PAWL_FS_INODES = 8,    // inode numbers stay
    PAWL_FS_OWNERS = 16,   // files have owners and permissions of their own
};
unsigned pawl_file_system(int file);

// The mark on part files: an extended attribute. pawl_mark answers the value's length or -errno.
int pawl_set_mark(int file, const void *value, size_t length);
int pawl_mark(int file, void *value, size_t length);
int pawl_remove_mark(int file);

// 16 bytes that name this boot of this kernel; an errno value when it does not say.
int pawl_boot_identity(uint8_t identity[16]);

// Copies `length` bytes between two files at the same offset, sharing blocks where the file system can.
int pawl_copy_data(int from, int to, int64_t length);

// One store that is seen whole or not at all, after all stores before it.
static inline void pawl_store(void *word, uint64_t value) {
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE);
}

// Whether the processor has instructions for AES.
int pawl_has_aes(void);

// What pawl_poller_wait tells of a descriptor.
struct pawl_ready {
    uint64_t key;
    unsigned events;
};

// epoll's bits (epoll_ctl(2)): in, error, hang-up and half-closed; out; error, hang-up and half-closed.
enum { PAWL_READY_TO_READ = 0x2019, PAWL_READY_TO_WRITE = 0x004, PAWL_PEER_CLOSED = 0x2018 };

int pawl_poller_make(void);

// A descriptor that wakes a poller when something is written to it.
int pawl_bell_make(void);

// Tells of input for as long as it is there.
int pawl_poller_add_bell(int poller, int bell, uint64_t key);

// Tells of each change once.
int pawl_poller_add_socket(int poller, int socket, uint64_t key);

// Fills at most 64 of `ready` and answers how many, -1 when a signal came.
int pawl_poller_wait(int poller, struct pawl_ready *ready, int milliseconds);

// A copy of the descriptor that closes on exec.
int pawl_duplicate(int descriptor);

// How many bytes a TCP connection has brought so far; -1 where the kernel does not say.
int64_t pawl_received(int socket);

// The port of a socket's own end; -1 when it has none.
int pawl_local_port(int socket);

// How many of the bytes that were sent the peer has not acknowledged yet; 0 when nobody can tell.
int pawl_unacknowledged(int socket);

// Both ends of a pipe that does not block, of `size` bytes where the system allows it.
int pawl_pipe_make(int ends[2], int size);

// splice(2) from a stream into a pipe.
long pawl_splice_in(int from, int pipe, size_t count);

// splice(2) from a pipe to a place in a file.
long pawl_splice_out(int pipe, int file, int64_t offset, size_t count);
