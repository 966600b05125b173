// The only access to system calls that Swift cannot make: variadic ones, and those that the C library's overlay hides.
// Unless stated otherwise a function returns 0 or an errno value.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// openat: a descriptor, or -errno. Close-on-exec; a symbolic link as the last component is rejected.
int pawl_open_at(int folder, const char *name, int flags, unsigned mode);

// Opens a file for reading, by its path below the folder: a descriptor, or -errno. Close-on-exec, without waiting for
// the other end of a pipe; symbolic links are not followed, and no path leads outside (openat2(2), RESOLVE_BENEATH).
int pawl_open_beneath(int folder, const char *path);

// What identifies a file, whatever its name.
struct pawl_stamp {
    uint64_t device;
    uint64_t inode;
    int64_t length;
    int64_t modified;  // the time of the last write, in nanoseconds since 1970
    int64_t birth;     // the time of its creation in the same unit; 0 where the file system does not keep it
    int is_regular;
    int is_link;
    int is_folder;
};

// The stamp of what has this name in a folder, or of the open file itself where the name is empty: 0, or an error number.
// A symbolic link is followed if `follows` is not 0.
int pawl_stamp(int folder, const char *name, int follows, struct pawl_stamp *stamp);

// Whether what has this name in a folder, or the folder itself where the name is empty, has an attribute that keeps it from
// being renamed, replaced or removed, and a folder its entries (chattr +a, +i). A symbolic link is not followed.
bool pawl_is_protected(int folder, const char *name);

// Opens a folder by its path below another one: a descriptor, or -errno. Symbolic links are followed as long as they lead
// nowhere outside (EXDEV); where openat2(2) is not available, none is (ELOOP, ENOTDIR).
int pawl_open_folder_beneath(int folder, const char *path);

// Opens a folder by its path: a descriptor, or -errno. Symbolic links are followed.
int pawl_open_folder(const char *path);

// The same, by its path below another one, wherever links lead. It serves only to be identified.
int pawl_open_folder_at(int folder, const char *path);

// Opens the parent of a folder, which serves only to be identified: a descriptor, or -errno.
int pawl_open_parent(int folder);

// Calls `each` with the names in the folder that end in `ending`.
void pawl_list_folder(
    int folder, const char *ending, void *context, void (*each)(void *context, const char *name));

// A write lock on the whole file that belongs to the open description (fcntl_locking(2), "open file description
// locks"), so that two parts of one process exclude each other too. EAGAIN: held elsewhere.
int pawl_lock(int file);
int pawl_unlock(int file);
// Whether the lock is held elsewhere, without taking it: 1, 0, or -errno when it cannot be determined.
int pawl_is_locked(int file);

// Creates an unnamed file in the folder: a descriptor, or -errno. EOPNOTSUPP: not supported.
int pawl_open_unnamed(int folder, unsigned mode);
// Names an unnamed file, without replacing another. EEXIST: the name is taken.
int pawl_name(int file, int folder, const char *name);
// Moves a file inside one folder without replacing another. EEXIST: the new name is taken.
int pawl_rename_new(int folder, const char *from, const char *to);

// Allocates blocks for the first `length` bytes, without changing the file's length. EOPNOTSUPP: not supported.
int pawl_allocate(int file, int64_t length);

// Syncs the data, and the metadata needed to find it, to stable storage.
int pawl_sync_data(int file);
int pawl_sync_all(int file);
// Syncs the whole file system of this file. ENOSYS: not supported.
int pawl_sync_file_system(int file);
// After that: whether the writeback of this file's pages failed. Does not flush the disk's cache.
int pawl_check_writeback(int file);

// Guarantees of a file system, as bits.
enum {
    PAWL_FS_LOCAL = 1,     // only this kernel caches its pages
    PAWL_FS_VOLATILE = 2,  // in memory: nothing survives a power cut, so nothing is synced
    PAWL_FS_MAPPABLE = 4,  // a store to a mapped page that was written before cannot fail for lack of space
    PAWL_FS_INODES = 8,    // inode numbers are stable
    PAWL_FS_OWNERS = 16,   // files have owners and permissions of their own
};
unsigned pawl_file_system(int file);

// The mark on part files: an extended attribute. pawl_mark returns the value's length or -errno.
int pawl_set_mark(int file, const void *value, size_t length);
int pawl_mark(int file, void *value, size_t length);
int pawl_remove_mark(int file);
// Another extended attribute, with a name such as `user.NAME`. pawl_attribute returns the value's length or -errno.
int pawl_set_attribute(int file, const char *name, const void *value, size_t length);
int pawl_attribute(int file, const char *name, void *value, size_t length);
// Copies the extended attributes `user.*` that are not Pawl's, as far as the file system stores them.
void pawl_copy_attributes(int from, int to);

// The 16 bytes that identify this boot of the kernel; an errno value when it does not report them.
int pawl_boot_identity(uint8_t identity[16]);

// Copies `length` bytes between two files at the same offset, sharing blocks where the file system can.
int pawl_copy_data(int from, int to, int64_t length);

// The first hole at or after `from`: its start, and its end or that of the file in `end`. -1 where there is none, or the
// file system does not know.
int64_t pawl_next_hole(int file, int64_t from, int64_t *end);

// An atomic store, with release order.
static inline void pawl_store(void *word, uint64_t value) {
    __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE);
}

// Names the calling thread with the first 15 bytes of `name`.
void pawl_name_thread(const char *name);

// Makes malloc return freed memory to the system soon, for a process that runs for weeks; before any other thread.
void pawl_keep_memory_small(void);
// Returns what is free to the system.
void pawl_trim_memory(void);

// Whether the processor has instructions for AES.
int pawl_has_aes(void);

// An event of pawl_poller_wait.
struct pawl_ready {
    uint64_t key;
    unsigned events;
};

// epoll's bits (epoll_ctl(2)): in, error, hang-up and half-closed; out; error, hang-up and half-closed.
enum { PAWL_READY_TO_READ = 0x2019, PAWL_READY_TO_WRITE = 0x004, PAWL_PEER_CLOSED = 0x2018 };

int pawl_poller_make(void);

// What is watched: what can be read or written for as long as it can (level-triggered), each change of that once
// (edge-triggered), or each signal of a wakeup once.
enum {
    PAWL_WATCH_READING = 0x001,
    PAWL_WATCH_WRITING = 0x004,
    PAWL_WATCH_CHANGES = (int)0x80002005,
    PAWL_WATCH_SIGNALS = (int)0x80000001,
};

// Creates a descriptor that wakes a poller when it is written to (eventfd(2)).
int pawl_wakeup_make(void);

int pawl_poller_add(int poller, int descriptor, unsigned events, uint64_t key);

// For a descriptor that was added.
int pawl_poller_change(int poller, int descriptor, unsigned events, uint64_t key);

void pawl_poller_remove(int poller, int descriptor);

// Fills at most 64 of `ready` and returns their number, -1 after a signal.
int pawl_poller_wait(int poller, struct pawl_ready *ready, int capacity, int milliseconds);

// Where a TCP connection leads and where it begins.
struct pawl_route {
    const uint8_t *address;
    // 4 or 16.
    size_t length;
    // An interface's index, for a link-local address; 0 for none.
    uint32_t zone;
    uint16_t port;
    // The interface to use, and the address of this machine, of `length` bytes; null for the system's choice.
    const char *device;
    const uint8_t *source;
};

// Begins a TCP connection, with Nagle's algorithm off and probes after a minute of silence. Returns a non-blocking
// socket, -1 with errno. `*established`: 1 if it is established already.
int pawl_connect(const struct pawl_route *route, int *established);

// Writes the numeric address of a socket's end, the peer's or its own, and returns the port; -1 when it has none.
int pawl_socket_end(int socket, int is_peer, char *text, size_t capacity);

// Listens at a port of an address of 4 or 16 bytes, also while connections of an earlier listener end, or at a path that nothing
// has. Returns a non-blocking socket, -1 with errno.
int pawl_listen(const uint8_t *address, size_t length, uint16_t port);
int pawl_listen_local(const char *path);

// Accepts a connection, with Nagle's algorithm off. Returns a non-blocking socket, -1 with errno.
int pawl_accept(int listener);

// Whether the other end of a TCP connection has a loopback address.
bool pawl_has_near_peer(int socket);

// The error of a connection that is being established, 0 if there is none.
int pawl_connection_error(int socket);

// The local port of a socket; -1 when it has none.
int pawl_local_port(int socket);

// The number of sent bytes that the peer has not acknowledged; 0 when it is not known.
int pawl_unacknowledged(int socket);

// Creates a non-blocking pipe of `size` bytes where the system allows it.
int pawl_pipe_make(int ends[2], int size);

// splice(2) from a stream into a pipe.
long pawl_splice_in(int from, int pipe, size_t count);

// splice(2) from a pipe to an offset of a file.
long pawl_splice_out(int pipe, int file, int64_t offset, size_t count);

// An ended child that has not been reaped, which it is not by this; 0 if there is none.
int pawl_ended_child(void);

// Adds to a posix_spawn_file_actions_t that all descriptors from `first`, which the child would inherit, are closed.
int pawl_spawn_close_from(void *actions, int first);

// What a program is started with.
struct pawl_program {
    // For its standard output, a new file; its standard input and standard error are /dev/null then. May be NULL.
    const char *output;
    // Becomes descriptor 3 of the program; -1 for none.
    int passed;
    // Become its standard input and standard output, and its standard error is /dev/null then; -1 for none.
    int questions;
    int answers;
};
// Starts a program, found in PATH if it has no slash: with every signal unblocked, SIGPIPE at its default, the limit of
// descriptors that this process was started with, and no descriptor from 3 on but the passed one.
int pawl_spawn(int *child, const char *path, char *const arguments[], char *const environment[],
    const struct pawl_program *how);

// Raises the soft limit of descriptors to the hard one. Programs that are started get the former one.
void pawl_raise_descriptors(void);
// Restores the former one.
void pawl_restore_descriptors(void);
// How many descriptors this process can still open; INT_MAX where the limit is far away.
int pawl_free_descriptors(void);

// Cyclic redundancy checks. `crc` is that of the bytes before, 0 at the beginning.
enum { PAWL_CRC32 = 0, PAWL_CRC32C = 1, PAWL_CRC64NVME = 2 };
uint64_t pawl_crc(int kind, uint64_t crc, const void *bytes, size_t length);
// The same without the processor's instructions.
uint64_t pawl_crc_portable(int kind, uint64_t crc, const void *bytes, size_t length);
// The CRC of two parts one after another; `length` is that of the second one.
uint64_t pawl_crc_combined(int kind, uint64_t first, uint64_t second, uint64_t length);

// iconv(3) of a whole text to UTF-8: the length of the result, or -1 where the charset is unknown, the bytes are not of it, or
// the result is longer than `room`.
long pawl_to_utf8(const char *charset, const void *bytes, size_t length, void *result, size_t room);

// Limits the time that the C library's resolver takes for each lookup of this thread, where resolv.conf(5) leaves it open: one attempt
// of 2 seconds for each name server.
void pawl_limit_lookups(bool sequential);
