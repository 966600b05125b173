/*
 * A file system with one file, which records in order what a block device above it writes and when it flushes.
 *
 * usage: recorder IMAGE MOUNTPOINT RECORDING FLUSH-MILLISECONDS
 *
 * MOUNTPOINT is an empty file; reads and writes of it go to IMAGE. RECORDING gets an entry for each write and each flush, appended
 * before the reply is sent: whoever has seen a flush return finds it in the recording. A flush takes FLUSH-MILLISECONDS, as on a disk.
 * One thread serves all: nothing is written during a flush. Prints a line when it serves, and ends when the file system is unmounted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { longest = 1 << 20, room = longest + (64 << 10) };
enum kind { kind_write = 1, kind_flush = 2 };

/* Nanoseconds of CLOCK_MONOTONIC: when the request was read, and when its reply was due. */
struct entry {
    uint64_t begun, ended, offset;
    uint32_t length, kind;
};

static int device, image, recording;
static struct timespec pause_of_flush;

static void fail(const char *what) {
    fprintf(stderr, "recorder: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void record(enum kind kind, uint64_t begun, uint64_t offset, const void *data, uint32_t length) {
    struct entry entry = {begun, now(), offset, length, kind};
    struct iovec parts[] = {{&entry, sizeof entry}, {(void *)data, length}};
    if (writev(recording, parts, 2) != (ssize_t)(sizeof entry + length)) fail("the recording cannot be written");
}

static void reply(const struct fuse_in_header *in, int error, const void *body, size_t length) {
    struct fuse_out_header out = {(uint32_t)(sizeof out + length), error, in->unique};
    struct iovec parts[] = {{&out, sizeof out}, {(void *)body, length}};
    /* ENOENT: the request was interrupted. */
    if (writev(device, parts, 2) < 0 && errno != ENOENT) fail("the reply cannot be sent");
}

static void reply_attributes(const struct fuse_in_header *in) {
    struct stat status;
    if (fstat(image, &status) < 0) fail("the image cannot be read");
    struct fuse_attr_out out = {.attr_valid = 1000000,
                                .attr = {.ino = FUSE_ROOT_ID,
                                         .size = (uint64_t)status.st_size,
                                         .blocks = (uint64_t)status.st_size / 512,
                                         .mode = S_IFREG | 0600,
                                         .nlink = 1,
                                         .blksize = 4096}};
    reply(in, 0, &out, sizeof out);
}

static void start(const struct fuse_in_header *in, const struct fuse_init_in *wanted) {
    struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                .minor = FUSE_KERNEL_MINOR_VERSION,
                                .max_readahead = wanted->max_readahead,
                                .flags = FUSE_BIG_WRITES | FUSE_MAX_PAGES,
                                .max_background = 16,
                                .congestion_threshold = 12,
                                .max_write = longest,
                                .time_gran = 1,
                                .max_pages = longest / 4096};
    reply(in, 0, &out, sizeof out);
}

static void read_image(const struct fuse_in_header *in, const struct fuse_read_in *wanted) {
    static char data[longest];
    if (wanted->size > longest) return reply(in, -EINVAL, NULL, 0);
    ssize_t count = pread(image, data, wanted->size, (off_t)wanted->offset);
    if (count < 0) return reply(in, -errno, NULL, 0);
    reply(in, 0, data, (size_t)count);
}

static void write_image(const struct fuse_in_header *in, const struct fuse_write_in *wanted) {
    const void *data = wanted + 1;
    uint64_t begun = now();
    if (pwrite(image, data, wanted->size, (off_t)wanted->offset) != (ssize_t)wanted->size) return reply(in, -EIO, NULL, 0);
    record(kind_write, begun, wanted->offset, data, wanted->size);
    struct fuse_write_out out = {wanted->size, 0};
    reply(in, 0, &out, sizeof out);
}

static void flush_image(const struct fuse_in_header *in) {
    uint64_t begun = now();
    nanosleep(&pause_of_flush, NULL);
    record(kind_flush, begun, 0, NULL, 0);
    reply(in, 0, NULL, 0);
}

static void serve(const struct fuse_in_header *in) {
    const void *body = in + 1;
    switch (in->opcode) {
    case FUSE_INIT: return start(in, body);
    case FUSE_GETATTR:
    case FUSE_SETATTR: return reply_attributes(in);
    case FUSE_OPEN: {
        struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO};
        return reply(in, 0, &out, sizeof out);
    }
    case FUSE_READ: return read_image(in, body);
    case FUSE_WRITE: return write_image(in, body);
    case FUSE_FSYNC: return flush_image(in);
    case FUSE_FLUSH:
    case FUSE_RELEASE:
    case FUSE_DESTROY: return reply(in, 0, NULL, 0);
    case FUSE_STATFS: {
        struct fuse_statfs_out out = {.st = {.bsize = 4096, .frsize = 4096, .namelen = 255}};
        return reply(in, 0, &out, sizeof out);
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return;
    /* Discards would be one: the data of a discarded block stays. */
    case FUSE_FALLOCATE: return reply(in, -EOPNOTSUPP, NULL, 0);
    default: return reply(in, -ENOSYS, NULL, 0);
    }
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: recorder IMAGE MOUNTPOINT RECORDING FLUSH-MILLISECONDS\n");
        return 2;
    }
    long milliseconds = strtol(arguments[4], NULL, 10);
    pause_of_flush = (struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000};
    image = open(arguments[1], O_RDWR | O_CLOEXEC);
    if (image < 0) fail("the image cannot be opened");
    recording = open(arguments[3], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (recording < 0) fail("the recording cannot be created");
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) fail("/dev/fuse cannot be opened");
    char options[100];
    snprintf(options, sizeof options, "fd=%d,rootmode=%o,user_id=0,group_id=0", device, S_IFREG | 0600);
    if (mount("recorder", arguments[2], "fuse", MS_NOSUID | MS_NODEV, options) < 0) fail("the file cannot be mounted");
    puts("serving");
    fflush(stdout);
    char *request = malloc(room);
    if (request == NULL) fail("no memory");
    for (;;) {
        ssize_t length = read(device, request, room);
        if (length < 0 && errno == ENODEV) return 0;
        if (length < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
        if (length < (ssize_t)sizeof(struct fuse_in_header)) fail("a request cannot be read");
        serve((const struct fuse_in_header *)request);
    }
}
