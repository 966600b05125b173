// A link between this network namespace and another one, with delay, rate, loss and a queue before it (root only).
//
//   link NAMESPACE NEAR FAR RTT_MS MBIT LOSS_PERCENT
//
// Makes the interfaces NEAR here and FAR in the namespace of that name (ip-netns(8)), prints `ready`, and passes packets
// until it is ended; the interfaces end with it. Each direction has half of the delay, the whole rate, and a queue of 200 ms.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 16, LARGEST = 2048, QUEUE_MS = 200 };

struct packet {
    int64_t due;  // ns
    int size;
    unsigned char bytes[LARGEST];
};

struct direction {
    int from, to;
    struct packet *ring;
    uint32_t first, end;  // counted without end
    int64_t free_at;      // when what is queued has been sent
};

static int64_t delay, rate;  // ns one way, bits per second
static double loss;          // 0…1

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int tun(const char *name) {
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) fail("/dev/net/tun");
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(device, TUNSETIFF, &request)) fail(name);
    return device;
}

static void take(struct direction *way) {
    for (;;) {
        struct packet *next = &way->ring[way->end % ROOM];
        ssize_t size = read(way->from, next->bytes, LARGEST);
        if (size <= 0) return;
        int64_t time = now(), start = way->free_at > time ? way->free_at : time;
        // Always the same losses for the same packets.
        static uint64_t dice = 1;
        dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
        if (way->end - way->first == ROOM || start - time > QUEUE_MS * 1000000LL) continue;
        way->free_at = start + size * 8 * 1000000000LL / rate;
        if ((double)(dice >> 11) / (double)(1ULL << 53) < loss) continue;
        next->due = way->free_at + delay;
        next->size = (int)size;
        way->end++;
    }
}

// Returns when the next packet is due; negative for none.
static int64_t give(struct direction *way) {
    while (way->first != way->end) {
        struct packet *next = &way->ring[way->first % ROOM];
        if (next->due > now()) return next->due;
        // What the other end cannot take is lost, as on any link.
        if (write(way->to, next->bytes, (size_t)next->size) < 0 && errno != EAGAIN && errno != EIO) fail("write");
        way->first++;
    }
    return -1;
}

int main(int count, char **words) {
    char path[256];
    if (count != 7) return fprintf(stderr, "usage: link NAMESPACE NEAR FAR RTT_MS MBIT LOSS_PERCENT\n"), 2;
    delay = (int64_t)(atof(words[4]) * 1e6 / 2);
    rate = (int64_t)(atof(words[5]) * 1e6);
    loss = atof(words[6]) / 100;
    int near = tun(words[2]);
    snprintf(path, sizeof path, "/run/netns/%s", words[1]);
    int other = open(path, O_RDONLY | O_CLOEXEC);
    if (other < 0 || setns(other, CLONE_NEWNET)) fail(path);
    int far = tun(words[3]);
    struct direction ways[2] = {{.from = near, .to = far}, {.from = far, .to = near}};
    for (int i = 0; i < 2; i++)
        if (!(ways[i].ring = malloc(ROOM * sizeof *ways[i].ring))) fail("malloc");
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t due = -1;
        for (int i = 0; i < 2; i++) {
            take(&ways[i]);
            int64_t next = give(&ways[i]);
            if (next >= 0 && (due < 0 || next < due)) due = next;
        }
        struct pollfd polled[] = {{near, POLLIN, 0}, {far, POLLIN, 0}};
        int64_t rest = due < 0 ? 0 : due - now();
        struct timespec wait = {.tv_sec = rest > 0 ? rest / 1000000000 : 0, .tv_nsec = rest > 0 ? rest % 1000000000 : 0};
        ppoll(polled, 2, due < 0 ? NULL : &wait, NULL);
    }
}
