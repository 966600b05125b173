#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CPawlSystem.h"

// In the child, which shares the memory of the suspended parent.
static int become(const char *path, char *const arguments[], char *const environment[],
    const struct pawl_program *how) {
    if (how->output) {
        int input = open("/dev/null", O_RDONLY), output = open(how->output, O_WRONLY | O_CREAT, 0600);
        int errors = open("/dev/null", O_WRONLY);
        if (input < 0 || output < 0 || errors < 0) return errno;
        if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) return errno;
    }
    if (how->questions >= 0) {
        int errors = open("/dev/null", O_WRONLY);
        if (errors < 0 || dup2(how->questions, 0) < 0 || dup2(how->answers, 1) < 0 || dup2(errors, 2) < 0) return errno;
    }
    int first = 3;
    if (how->passed == first) {
        if (fcntl(first, F_SETFD, 0) != 0) return errno;
        first++;
    } else if (how->passed >= 0) {
        if (dup2(how->passed, first) < 0) return errno;
        first++;
    }
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) != 0) {
        // Linux before 5.9.
        struct rlimit limit;
        int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
        for (int descriptor = first; descriptor < end; descriptor++) close(descriptor);
    }
    pawl_restore_descriptors();
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &usual, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvpe(path, arguments, environment);
    return errno;
}

int pawl_spawn(int *child, const char *path, char *const arguments[], char *const environment[],
    const struct pawl_program *how) {
    // No handler may run in the child: it would change the parent's memory.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    volatile int failure = 0;
    pid_t started = vfork();
    if (started == 0) {
        failure = become(path, arguments, environment, how);
        _exit(127);
    }
    int refused = started < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (refused) return refused;
    if (failure) {
        while (waitpid(started, NULL, 0) < 0 && errno == EINTR) {}
        return failure;
    }
    *child = started;
    return 0;
}

int pawl_ended_child(void) {
    siginfo_t found;
    memset(&found, 0, sizeof found);
    return waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) == 0 ? found.si_pid : 0;
}
