#define _GNU_SOURCE
#include "CPawlSystem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(PAWL_READY_TO_READ == (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP), "as the kernel has it");
_Static_assert(PAWL_READY_TO_WRITE == EPOLLOUT, "as the kernel has it");
_Static_assert(PAWL_WATCH_READING == EPOLLIN && PAWL_WATCH_WRITING == EPOLLOUT, "as the kernel has it");
_Static_assert(PAWL_WATCH_CHANGES == (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET), "as the kernel has it");
_Static_assert(PAWL_WATCH_SIGNALS == (EPOLLIN | EPOLLET), "as the kernel has it");
_Static_assert(PAWL_PEER_CLOSED == (EPOLLRDHUP | EPOLLHUP | EPOLLERR), "as the kernel has it");

int pawl_poller_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

int pawl_wakeup_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int pawl_poller_add(int poller, int descriptor, unsigned events, uint64_t key) {
    struct epoll_event event = {.events = events, .data = {.u64 = key}};
    return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

int pawl_poller_change(int poller, int descriptor, unsigned events, uint64_t key) {
    struct epoll_event event = {.events = events, .data = {.u64 = key}};
    int result = epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event);
    // Closed, and opened again under the same number.
    if (result != 0 && errno == ENOENT) return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
    return result;
}

void pawl_poller_remove(int poller, int descriptor) {
    struct epoll_event event = {0};
    (void)epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, &event);
}

int pawl_poller_wait(int poller, struct pawl_ready *ready, int capacity, int milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(poller, events, capacity < 64 ? capacity : 64, milliseconds);
    for (int index = 0; index < count; index++) {
        ready[index].key = events[index].data.u64;
        ready[index].events = events[index].events;
    }
    return count;
}

int pawl_has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
    enum { aes = 1 << 3, carryless = 1 << 4 };  // HWCAP_AES, HWCAP_PMULL
    return (getauxval(AT_HWCAP) & (aes | carryless)) == (aes | carryless);
#else
    return 0;
#endif
}

int pawl_unacknowledged(int socket) {
    int left = 0;
    return ioctl(socket, SIOCOUTQ, &left) == 0 ? left : 0;
}

int pawl_local_port(int socket) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0) return -1;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return -1;
}

union name {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

// Returns the size of the name; 0 for an address of another length.
static socklen_t make_name(union name *name, const uint8_t *address, size_t length, uint16_t port, uint32_t zone) {
    memset(name, 0, sizeof *name);
    if (length == 4) {
        name->v4.sin_family = AF_INET;
        name->v4.sin_port = htons(port);
        memcpy(&name->v4.sin_addr, address, 4);
        return sizeof name->v4;
    }
    if (length != 16) return 0;
    name->v6.sin6_family = AF_INET6;
    name->v6.sin6_port = htons(port);
    name->v6.sin6_scope_id = zone;
    memcpy(&name->v6.sin6_addr, address, 16);
    return sizeof name->v6;
}

// Without the right to bind to an interface, its address is used.
static int use_device(int descriptor, int family, const char *device) {
    if (setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device) + 1) == 0) return 0;
    if (errno != EPERM) return -1;
    struct ifaddrs *first;
    if (getifaddrs(&first) != 0) return -1;
    int result = -1;
    errno = EADDRNOTAVAIL;
    for (struct ifaddrs *next = first; next != NULL && result != 0; next = next->ifa_next) {
        if (next->ifa_addr == NULL || next->ifa_addr->sa_family != family || strcmp(next->ifa_name, device) != 0) continue;
        socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        result = bind(descriptor, next->ifa_addr, size);
    }
    int error = errno;
    freeifaddrs(first);
    errno = error;
    return result;
}

int pawl_connect(const struct pawl_route *route, int *established) {
    union name target, source;
    socklen_t size = make_name(&target, route->address, route->length, route->port, route->zone);
    if (size == 0) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    int descriptor = socket(target.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (descriptor < 0) return -1;
    int one = 1, minute = 60;
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &minute, sizeof minute);
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &minute, sizeof minute);
    int is_bound = route->device == NULL || use_device(descriptor, target.any.sa_family, route->device) == 0;
    if (is_bound && route->source != NULL) {
        make_name(&source, route->source, route->length, 0, 0);
        // The port is chosen when the peer is known: otherwise one is used up for all peers.
        (void)setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        is_bound = bind(descriptor, &source.any, size) == 0;
    }
    if (is_bound) {
        *established = connect(descriptor, &target.any, size) == 0;
        if (*established || errno == EINPROGRESS) return descriptor;
    }
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int pawl_socket_end(int socket, int is_peer, char *text, size_t capacity) {
    union name name;
    socklen_t size = sizeof name;
    if ((is_peer ? getpeername : getsockname)(socket, &name.any, &size) != 0) return -1;
    const void *bytes = name.any.sa_family == AF_INET ? (void *)&name.v4.sin_addr : (void *)&name.v6.sin6_addr;
    if (inet_ntop(name.any.sa_family, bytes, text, (socklen_t)capacity) == NULL) return -1;
    return ntohs(name.any.sa_family == AF_INET ? name.v4.sin_port : name.v6.sin6_port);
}

int pawl_connection_error(int descriptor) {
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

int pawl_pipe_make(int ends[2], int size) {
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    (void)fcntl(ends[1], F_SETPIPE_SZ, size);
    return 0;
}

long pawl_splice_in(int from, int pipe, size_t count) {
    return splice(from, NULL, pipe, NULL, count, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

long pawl_splice_out(int pipe, int file, int64_t offset, size_t count) {
    off64_t place = offset;
    return splice(pipe, NULL, file, &place, count, SPLICE_F_MOVE);
}
