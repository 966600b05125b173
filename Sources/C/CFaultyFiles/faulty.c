#include "CFaultyFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { sector = 512, most_files = 16 };

// A write that was not synced, or a truncation, without data.
typedef struct change {
    struct change *next;
    int64_t offset, length;
    unsigned char *data;
} change;

typedef struct {
    char *path;
    unsigned char *durable;
    int64_t length;
    change *first, **last;
    // Whether the medium has its name, and whether the kernel has.
    int is_named, is_there;
} file_on_medium;

struct pawl_medium {
    sqlite3_vfs vfs;
    sqlite3_vfs *below;
    char name[64];
    file_on_medium files[most_files];
    int count, is_dead, is_locked, drops_syncs;
    pawl_medium_decide decide;
    void *context;
    pawl_medium_counts counts;
    uint64_t luck;
};

typedef struct {
    sqlite3_file base;
    pawl_medium *medium;
    file_on_medium *file;
    sqlite3_file *below;
} open_file;

// MARK: the medium

static void forget(file_on_medium *file) {
    while (file->first) {
        change *next = file->first->next;
        free(file->first->data);
        free(file->first);
        file->first = next;
    }
    file->last = &file->first;
}

static int store(unsigned char **bytes, int64_t *length, int64_t offset, const unsigned char *data, int64_t count) {
    if (offset + count > *length) {
        unsigned char *longer = realloc(*bytes, (size_t)(offset + count));
        if (!longer) return ENOMEM;
        memset(longer + *length, 0, (size_t)(offset + count - *length));
        *bytes = longer;
        *length = offset + count;
    }
    memcpy(*bytes + offset, data, (size_t)count);
    return 0;
}

static int apply(file_on_medium *file, const change *one) {
    if (one->data) return store(&file->durable, &file->length, one->offset, one->data, one->length);
    if (one->length < file->length) file->length = one->length;
    return 0;
}

static int note(file_on_medium *file, int64_t offset, const void *data, int64_t length) {
    change *one = calloc(1, sizeof *one);
    if (!one) return ENOMEM;
    one->offset = offset;
    one->length = length;
    if (data) {
        one->data = malloc((size_t)length + 1);
        if (!one->data) return free(one), ENOMEM;
        memcpy(one->data, data, (size_t)length);
    }
    *file->last = one;
    file->last = &one->next;
    return 0;
}

static void settle(file_on_medium *file) {
    for (change *one = file->first; one; one = one->next) apply(file, one);
    forget(file);
    file->is_named = file->is_there;
}

// What the real file has when it is first opened was durable before.
static file_on_medium *find(pawl_medium *medium, const char *path) {
    for (int index = 0; index < medium->count; index++)
        if (strcmp(medium->files[index].path, path) == 0) return &medium->files[index];
    if (medium->count == most_files) return NULL;
    file_on_medium *file = &medium->files[medium->count];
    *file = (file_on_medium){.path = strdup(path)};
    file->last = &file->first;
    if (!file->path) return NULL;
    int real = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (real >= 0 && fstat(real, &status) == 0) {
        file->durable = malloc((size_t)status.st_size + 1);
        file->length = file->durable ? pread(real, file->durable, (size_t)status.st_size, 0) : 0;
        file->is_named = file->is_there = 1;
    }
    if (real >= 0) close(real);
    medium->count++;
    return file;
}

static enum pawl_medium_fault ask(pawl_medium *medium) {
    if (medium->is_dead) return PAWL_FAULT_DIES_BEFORE;
    enum pawl_medium_fault fault = medium->decide ? medium->decide(medium->context) : PAWL_FAULT_NONE;
    if (fault == PAWL_FAULT_DIES_BEFORE || fault == PAWL_FAULT_DIES_WITHIN || fault == PAWL_FAULT_DIES_AFTER) medium->is_dead = 1;
    return fault;
}

// What a call returns after a fault; SQLITE_OK where it is carried out.
static int code_of(enum pawl_medium_fault fault, int failed) {
    switch (fault) {
    case PAWL_FAULT_NONE: return SQLITE_OK;
    case PAWL_FAULT_FULL: return SQLITE_FULL;
    default: return failed;
    }
}

static uint64_t next_luck(pawl_medium *medium) {
    uint64_t value = medium->luck += 0x9E3779B97F4A7C15u;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

// MARK: an open file

static int faulty_close(sqlite3_file *base) {
    open_file *file = (open_file *)base;
    return file->below->pMethods ? file->below->pMethods->xClose(file->below) : SQLITE_OK;
}

static int faulty_read(sqlite3_file *base, void *data, int length, sqlite3_int64 offset) {
    open_file *file = (open_file *)base;
    if (file->medium->is_dead) return SQLITE_IOERR_READ;
    return file->below->pMethods->xRead(file->below, data, length, offset);
}

static int faulty_write(sqlite3_file *base, const void *data, int length, sqlite3_int64 offset) {
    open_file *file = (open_file *)base;
    int was_dead = file->medium->is_dead;
    enum pawl_medium_fault fault = ask(file->medium);
    if (fault == PAWL_FAULT_DIES_WITHIN && !was_dead) length = (int)(next_luck(file->medium) % (uint64_t)(length + 1));
    else if (fault != PAWL_FAULT_NONE && (fault != PAWL_FAULT_DIES_AFTER || was_dead)) return code_of(fault, SQLITE_IOERR_WRITE);
    file->medium->counts.writes++;
    if (length > 0) {
        int code = file->below->pMethods->xWrite(file->below, data, length, offset);
        if (code != SQLITE_OK) return code;
        if (note(file->file, offset, data, length)) return SQLITE_NOMEM;
    }
    return code_of(fault, SQLITE_IOERR_WRITE);
}

static int faulty_truncate(sqlite3_file *base, sqlite3_int64 length) {
    open_file *file = (open_file *)base;
    enum pawl_medium_fault fault = ask(file->medium);
    if (fault != PAWL_FAULT_NONE) return code_of(fault, SQLITE_IOERR_TRUNCATE);
    int code = file->below->pMethods->xTruncate(file->below, length);
    if (code == SQLITE_OK && note(file->file, 0, NULL, length)) return SQLITE_NOMEM;
    return code;
}

static int faulty_sync(sqlite3_file *base, int flags) {
    (void)flags;
    open_file *file = (open_file *)base;
    int was_dead = file->medium->is_dead;
    enum pawl_medium_fault fault = ask(file->medium);
    if (fault != PAWL_FAULT_NONE && (fault != PAWL_FAULT_DIES_AFTER || was_dead)) return code_of(fault, SQLITE_IOERR_FSYNC);
    file->medium->counts.syncs++;
    if (!file->medium->drops_syncs) settle(file->file);
    return code_of(fault, SQLITE_IOERR_FSYNC);
}

static int faulty_size(sqlite3_file *base, sqlite3_int64 *size) {
    open_file *file = (open_file *)base;
    if (file->medium->is_dead) return SQLITE_IOERR_FSTAT;
    return file->below->pMethods->xFileSize(file->below, size);
}

static int faulty_lock(sqlite3_file *base, int level) {
    open_file *file = (open_file *)base;
    if (file->medium->is_dead) return SQLITE_IOERR_LOCK;
    if (file->medium->is_locked && level > SQLITE_LOCK_NONE) return SQLITE_BUSY;
    return file->below->pMethods->xLock(file->below, level);
}

static int faulty_unlock(sqlite3_file *base, int level) {
    open_file *file = (open_file *)base;
    return file->below->pMethods->xUnlock(file->below, level);
}

static int faulty_reserved(sqlite3_file *base, int *result) {
    open_file *file = (open_file *)base;
    return file->below->pMethods->xCheckReservedLock(file->below, result);
}

static int faulty_control(sqlite3_file *base, int operation, void *argument) {
    open_file *file = (open_file *)base;
    return file->below->pMethods->xFileControl(file->below, operation, argument);
}

static int faulty_sector(sqlite3_file *base) {
    (void)base;
    return sector;
}

static int faulty_traits(sqlite3_file *base) {
    open_file *file = (open_file *)base;
    return file->below->pMethods->xDeviceCharacteristics(file->below);
}

// Version 1: without shared memory, as on file systems that have none.
static const sqlite3_io_methods methods = {.iVersion = 1,
                                           .xClose = faulty_close,
                                           .xRead = faulty_read,
                                           .xWrite = faulty_write,
                                           .xTruncate = faulty_truncate,
                                           .xSync = faulty_sync,
                                           .xFileSize = faulty_size,
                                           .xLock = faulty_lock,
                                           .xUnlock = faulty_unlock,
                                           .xCheckReservedLock = faulty_reserved,
                                           .xFileControl = faulty_control,
                                           .xSectorSize = faulty_sector,
                                           .xDeviceCharacteristics = faulty_traits};

// MARK: the file system

static pawl_medium *medium_of(sqlite3_vfs *vfs) { return vfs->pAppData; }

static int faulty_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *base, int flags, int *result) {
    pawl_medium *medium = medium_of(vfs);
    open_file *file = (open_file *)base;
    file->base.pMethods = NULL;
    file->below = (sqlite3_file *)(file + 1);
    file->medium = medium;
    if (medium->is_dead || !path) return SQLITE_CANTOPEN;
    file->file = find(medium, path);
    if (!file->file) return SQLITE_NOMEM;
    int code = medium->below->xOpen(medium->below, path, file->below, flags, result);
    if (code != SQLITE_OK) return code;
    // A new file of the name has nothing of the removed one.
    if (!file->file->is_there) {
        forget(file->file);
        file->file->length = 0;
        file->file->is_named = 0;
    }
    file->file->is_there = 1;
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
    pawl_medium *medium = medium_of(vfs);
    enum pawl_medium_fault fault = ask(medium);
    if (fault != PAWL_FAULT_NONE) return code_of(fault, SQLITE_IOERR_DELETE);
    file_on_medium *file = find(medium, path);
    int code = medium->below->xDelete(medium->below, path, 0);
    if (file && code == SQLITE_OK) {
        file->is_there = 0;
        if (syncs && !medium->drops_syncs) {
            forget(file);
            file->length = 0;
            file->is_named = 0;
        }
    }
    return code;
}

static int faulty_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
    pawl_medium *medium = medium_of(vfs);
    if (medium->is_dead) return SQLITE_IOERR_ACCESS;
    return medium->below->xAccess(medium->below, path, flags, result);
}

static int faulty_path(sqlite3_vfs *vfs, const char *name, int room, char *path) {
    return medium_of(vfs)->below->xFullPathname(medium_of(vfs)->below, name, room, path);
}

static int faulty_random(sqlite3_vfs *vfs, int count, char *bytes) {
    pawl_medium *medium = medium_of(vfs);
    for (int index = 0; index < count; index++) bytes[index] = (char)next_luck(medium);
    return count;
}

static int faulty_sleep(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    return microseconds;
}

static int faulty_time(sqlite3_vfs *vfs, double *time) { return medium_of(vfs)->below->xCurrentTime(medium_of(vfs)->below, time); }

static int faulty_error(sqlite3_vfs *vfs, int length, char *text) {
    return medium_of(vfs)->below->xGetLastError(medium_of(vfs)->below, length, text);
}

// MARK: the interface

pawl_medium *pawl_medium_make(const char *name, uint64_t seed) {
    pawl_medium *medium = calloc(1, sizeof *medium);
    if (!medium) return NULL;
    medium->below = sqlite3_vfs_find(NULL);
    strncpy(medium->name, name, sizeof medium->name - 1);
    medium->luck = seed;
    medium->vfs = (sqlite3_vfs){.iVersion = 1,
                                .szOsFile = (int)sizeof(open_file) + medium->below->szOsFile,
                                .mxPathname = medium->below->mxPathname,
                                .zName = medium->name,
                                .pAppData = medium,
                                .xOpen = faulty_open,
                                .xDelete = faulty_delete,
                                .xAccess = faulty_access,
                                .xFullPathname = faulty_path,
                                .xRandomness = faulty_random,
                                .xSleep = faulty_sleep,
                                .xCurrentTime = faulty_time,
                                .xGetLastError = faulty_error};
    if (sqlite3_vfs_register(&medium->vfs, 0) == SQLITE_OK) return medium;
    free(medium);
    return NULL;
}

void pawl_medium_free(pawl_medium *medium) {
    if (!medium) return;
    sqlite3_vfs_unregister(&medium->vfs);
    for (int index = 0; index < medium->count; index++) {
        forget(&medium->files[index]);
        free(medium->files[index].durable);
        free(medium->files[index].path);
    }
    free(medium);
}

void pawl_medium_ask(pawl_medium *medium, pawl_medium_decide decide, void *context) {
    medium->decide = decide;
    medium->context = context;
}

void pawl_medium_lock(pawl_medium *medium, int isTaken) { medium->is_locked = isTaken; }
void pawl_medium_drop_syncs(pawl_medium *medium) { medium->drops_syncs = 1; }
void pawl_medium_die(pawl_medium *medium) { medium->is_dead = 1; }
void pawl_medium_revive(pawl_medium *medium) { medium->is_dead = 0; }
pawl_medium_counts pawl_medium_count(const pawl_medium *medium) { return medium->counts; }

// Which of the last writes are there: none, all, the first ones, or each by chance, whole or in sectors.
static void survive(pawl_medium *medium, file_on_medium *file) {
    uint64_t way = next_luck(medium) % 5, number = 0, count = 0;
    for (change *one = file->first; one; one = one->next) count++;
    uint64_t end = count ? next_luck(medium) % (count + 1) : 0;
    for (change *one = file->first; one; one = one->next, number++) {
        int is_there = way == 0 || (way == 1 ? number < end : way > 2 && next_luck(medium) % 2);
        int is_torn = one->data && one->length > sector && (way == 4 || (way == 1 && number == end));
        if (!is_there && !is_torn) {
            medium->counts.lost++;
            continue;
        }
        if (!is_torn) {
            apply(file, one);
            continue;
        }
        medium->counts.torn++;
        for (int64_t place = 0; place < one->length; place += sector) {
            int64_t part = one->length - place < sector ? one->length - place : sector;
            if (next_luck(medium) % 2) store(&file->durable, &file->length, one->offset + place, one->data + place, part);
        }
    }
    forget(file);
}

static int rewrite(const file_on_medium *file) {
    int real = open(file->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (real < 0) return errno;
    int code = pwrite(real, file->durable, (size_t)file->length, 0) == file->length ? 0 : EIO;
    close(real);
    return code;
}

int pawl_medium_cut(pawl_medium *medium) {
    int failed = 0;
    for (int index = 0; index < medium->count; index++) {
        file_on_medium *file = &medium->files[index];
        survive(medium, file);
        // A name that was made or removed, and not synced, may be there or not.
        if (file->is_named != file->is_there && next_luck(medium) % 2) {
            if (file->is_named) medium->counts.restored++;
            file->is_there = file->is_named;
        }
        if (!file->is_there) file->length = 0;
        file->is_named = file->is_there;
        int code = file->is_there ? rewrite(file) : (unlink(file->path) && errno != ENOENT ? errno : 0);
        if (code && !failed) failed = code;
    }
    medium->is_dead = 0;
    return failed;
}
