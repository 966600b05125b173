/*
 * Sabotage: a library for LD_PRELOAD that leaves out the syncs of some files, and says that they succeeded.
 *
 * PAWL_DROP_SYNCS has words with blanks between them: `data` (NAME.part and files without a name), `journal` (NAME.pawl), `queue` (the
 * database and its log), `folder`, `small` (all other files). Two words are other sabotages: with `marks` files get no extended
 * attributes, by which a finished file is recognized; with `line` syncs of data wait for each other, and each takes 2 s.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int ends(const char *text, const char *end) {
    size_t length = strlen(text), rest = strlen(end);
    return length >= rest && strcmp(text + length - rest, end) == 0;
}

static const char *kind_of(int file) {
    char link[64], path[4096];
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) return "folder";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    if (strstr(path, "/queue.db")) return "queue";
    if (ends(path, ".pawl") || strstr(path, ".pawl.")) return "journal";
    if (ends(path, " (deleted)") || ends(path, ".part") || strstr(path, ".part.")) return "data";
    return "small";
}

static int has(const char *word) {
    const char *words = getenv("PAWL_DROP_SYNCS");
    return words != NULL && strstr(words, word) != NULL;
}

static void wait_in_line(int file) {
    static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;
    if (!has("line") || strcmp(kind_of(file), "data") != 0) return;
    pthread_mutex_lock(&line);
    usleep(2000000);
    pthread_mutex_unlock(&line);
}

int fsync(int file) {
    wait_in_line(file);
    return has(kind_of(file)) ? 0 : (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    wait_in_line(file);
    return has(kind_of(file)) ? 0 : (int)syscall(SYS_fdatasync, file);
}

int fsetxattr(int file, const char *name, const void *value, size_t size, int flags) {
    return has("marks") ? 0 : (int)syscall(SYS_fsetxattr, file, name, value, size, flags);
}

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    return has("marks") ? 0 : (int)syscall(SYS_setxattr, path, name, value, size, flags);
}

/* Of several small files the data is synced together, by one sync of the file system. */
int syncfs(int file) { return has("data") ? 0 : (int)syscall(SYS_syncfs, file); }
