#define _GNU_SOURCE
#include "CPawlSystem.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listens(int descriptor, const void *name, socklen_t size) {
    if (descriptor < 0) return -1;
    if (bind(descriptor, name, size) == 0 && listen(descriptor, SOMAXCONN) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int pawl_listen(const uint8_t *address, size_t length, uint16_t port) {
    int is_long = length == 16, one = 1;
    int descriptor = socket(is_long ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!is_long) {
        struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&name.sin_addr, address, 4);
        return listens(descriptor, &name, sizeof name);
    }
    (void)setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&name.sin6_addr, address, 16);
    return listens(descriptor, &name, sizeof name);
}

int pawl_listen_local(const char *path) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof name.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(name.sun_path, path);
    return listens(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), &name, sizeof name);
}

bool pawl_has_near_peer(int socket) {
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    if (getpeername(socket, (struct sockaddr *)&name, &size) != 0) return false;
    if (name.ss_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&name)->sin6_addr);
    return name.ss_family == AF_INET && ntohl(((struct sockaddr_in *)&name)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

int pawl_accept(int listener) {
    int descriptor, one = 1;
    do descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    while (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (descriptor >= 0) (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return descriptor;
}
