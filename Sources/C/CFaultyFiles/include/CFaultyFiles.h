// Files of SQLite on a medium with faults: power cuts, kills within a call, a full disk, locks that are lost. For tests.
#pragma once
#include <stdint.h>

// What is written is in the real files at once, as in the kernel's cache. The medium has what was synced.
typedef struct pawl_medium pawl_medium;

// Registers a VFS of SQLite with this name, over its default one; NULL without memory. The seed determines what power cuts leave.
pawl_medium *pawl_medium_make(const char *name, uint64_t seed);
void pawl_medium_free(pawl_medium *medium);

// What happens at a write, a sync, a truncation or a removal.
enum pawl_medium_fault {
    PAWL_FAULT_NONE,
    // The process dies before the call, within it (a part is written), or after it: every later call fails.
    PAWL_FAULT_DIES_BEFORE,
    PAWL_FAULT_DIES_WITHIN,
    PAWL_FAULT_DIES_AFTER,
    // The call fails: no space is left, or the disk reports an error.
    PAWL_FAULT_FULL,
    PAWL_FAULT_ERROR,
};

// Asked at each of these calls.
typedef int (*pawl_medium_decide)(void *context);
void pawl_medium_ask(pawl_medium *medium, pawl_medium_decide decide, void *context);

// Another process has the lock of the database, or not.
void pawl_medium_lock(pawl_medium *medium, int isTaken);

// No sync reaches the medium from now on, and each says that it did.
void pawl_medium_drop_syncs(pawl_medium *medium);

// The process dies now, between two calls.
void pawl_medium_die(pawl_medium *medium);

// After all files were closed: the process that died is another one now.
void pawl_medium_revive(pawl_medium *medium);

// The same after a power cut: the real files get what the medium has, and of the later writes any part, in sectors. Returns 0 or an
// errno value.
int pawl_medium_cut(pawl_medium *medium);

typedef struct {
    int64_t writes, syncs, lost, torn, restored;
} pawl_medium_counts;

// What has happened: writes and syncs, and at power cuts writes that were lost, or torn, and removed files that came back.
pawl_medium_counts pawl_medium_count(const pawl_medium *medium);
