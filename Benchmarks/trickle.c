// An HTTP server that keeps many responses running: trickle PORT LENGTH PORTION PERIOD_MS
//
// Each request gets 200 with LENGTH bytes, of which PORTION are sent every PERIOD_MS milliseconds, spread over the
// period. On standard output stands the number of running responses, once a second.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 65536, TICK_MS = 10 };

static struct {
    long left; // 0: waits for a request
    unsigned seen;
} sockets[MOST];
static char zeros[1 << 16];
static int poller, running;

static long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void drop(int socket) {
    if (sockets[socket].left > 0) running -= 1;
    sockets[socket].left = sockets[socket].seen = 0;
    close(socket);
}

// Reads until the empty line; requests have no body, and none is sent before the response to the last has ended.
static void hear(int socket, long length) {
    char text[4096];
    ssize_t count;
    while ((count = recv(socket, text, sizeof text, MSG_DONTWAIT)) > 0)
        for (ssize_t at = 0; at < count; at += 1) {
            sockets[socket].seen = sockets[socket].seen << 8 | (unsigned char)text[at];
            if (sockets[socket].seen != 0x0d0a0d0a || sockets[socket].left > 0) continue;
            char head[256];
            int size = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %ld\r\nETag: \"1\"\r\n\r\n", length);
            if (send(socket, head, size, MSG_NOSIGNAL) != size) return drop(socket);
            sockets[socket].left = length;
            running += 1;
        }
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) drop(socket);
}

static void feed(int socket, long portion) {
    if (sockets[socket].left == 0) return;
    size_t size = sockets[socket].left < portion ? sockets[socket].left : portion;
    ssize_t count = send(socket, zeros, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN) return drop(socket);
    if (count > 0) sockets[socket].left -= count;
    if (count > 0 && sockets[socket].left == 0) running -= 1;
}

int main(int count, char **texts) {
    if (count != 5) return fputs("usage: trickle PORT LENGTH PORTION PERIOD_MS\n", stderr), 2;
    long length = atol(texts[2]), portion = atol(texts[3]), period = atol(texts[4]);
    if (portion <= 0 || portion > (long)sizeof zeros || period < TICK_MS) return 2;
    struct rlimit limit = {MOST, MOST};
    setrlimit(RLIMIT_NOFILE, &limit);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    // All of 127.0.0.0/8, and nothing else.
    if (setsockopt(listener, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3)) return perror("trickle"), 1;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(atoi(texts[1])), };
    if (bind(listener, (void *)&place, sizeof place) || listen(listener, 4096)) return perror("trickle"), 1;
    poller = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[512];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    long ticks = period / TICK_MS, turn = 0, next = now_ms() + TICK_MS, told = next;
    for (int last = 0;;) {
        long wait = next - now_ms();
        int ready = epoll_wait(poller, events, 512, wait > 0 ? wait : 0);
        for (int index = 0; index < ready; index += 1) {
            if (events[index].data.fd != listener) { hear(events[index].data.fd, length); continue; }
            for (int socket; (socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
                if (socket >= MOST) { close(socket); continue; }
                setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                if (socket > last) last = socket;
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = socket};
                epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
            }
        }
        if (now_ms() < next) continue;
        next += TICK_MS;
        for (int socket = turn % ticks; socket <= last; socket += ticks) feed(socket, portion);
        turn += 1;
        if (next - told >= 1000) told = next, printf("%d\n", running), fflush(stdout);
    }
}
