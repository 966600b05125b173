// The one door to libcurl: non-variadic wrappers for the variadic calls that Swift cannot make, and the constants
// that are macros with casts or change their form between versions. At the end, doors to calls of Linux that the C
// library's overlay hides.
#pragma once
#ifdef __linux__
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#endif
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed"
#endif

static inline CURLcode pawl_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pawl_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pawl_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pawl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pawl_easy_set_receiver(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode pawl_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode pawl_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode pawl_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode pawl_easy_get_socket(CURL *easy, curl_socket_t *value) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}

static inline CURLMcode pawl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode pawl_share_set_data(CURLSH *share, curl_lock_data kind) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, kind);
}

static inline const curl_version_info_data *pawl_version(void) { return curl_version_info(CURLVERSION_NOW); }

static const curl_socket_t pawl_no_socket = CURL_SOCKET_BAD;
static const long pawl_http_version_1_1 = CURL_HTTP_VERSION_1_1;
static const long pawl_http_version_2_over_tls = CURL_HTTP_VERSION_2TLS;
static const long pawl_tls_version_1_2 = CURL_SSLVERSION_TLSv1_2;
static const long pawl_auth_basic = (long)CURLAUTH_BASIC;
static const long pawl_auth_digest = (long)CURLAUTH_DIGEST;
static const long pawl_netrc_optional = CURL_NETRC_OPTIONAL;
static const long pawl_global_all = CURL_GLOBAL_ALL;
static const int pawl_pause_nothing = CURLPAUSE_CONT;
static const size_t pawl_receiver_pauses = CURL_WRITEFUNC_PAUSE;
static const size_t pawl_receiver_fails = CURL_WRITEFUNC_ERROR;
static const size_t pawl_error_size = CURL_ERROR_SIZE;

static inline CURLMcode pawl_multi_poll(CURLM *multi, int also, int milliseconds) {
    struct curl_waitfd extra = {also, CURL_WAIT_POLLIN, 0};
    return curl_multi_poll(multi, &extra, also < 0 ? 0 : 1, milliseconds, NULL);
}

#ifdef __linux__

// What pawl_poller_wait tells of a descriptor.
struct pawl_ready {
    uint64_t key;
    unsigned events;
};

enum {
    PAWL_READY_TO_READ = EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP,
    PAWL_READY_TO_WRITE = EPOLLOUT,
    PAWL_PEER_CLOSED = EPOLLRDHUP | EPOLLHUP | EPOLLERR,
};

static inline int pawl_poller_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

// A descriptor that wakes a poller when something is written to it.
static inline int pawl_bell_make(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// Tells of input for as long as it is there.
static inline int pawl_poller_add_bell(int poller, int bell, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = key}};
    return epoll_ctl(poller, EPOLL_CTL_ADD, bell, &event);
}

// Tells of each change once.
static inline int pawl_poller_add_socket(int poller, int socket, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.u64 = key}};
    return epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event);
}

// Fills at most 64 of `ready` and answers how many, -1 when a signal came.
static inline int pawl_poller_wait(int poller, struct pawl_ready *ready, int milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(poller, events, 64, milliseconds);
    for (int index = 0; index < count; index++) {
        ready[index].key = events[index].data.u64;
        ready[index].events = events[index].events;
    }
    return count;
}

// A copy of the descriptor that closes on exec.
static inline int pawl_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

// Both ends of a pipe that does not block, of `size` bytes where the system allows it.
static inline int pawl_pipe_make(int ends[2], int size) {
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    (void)fcntl(ends[1], F_SETPIPE_SZ, size);
    return 0;
}

// splice(2) from a stream into a pipe.
static inline ssize_t pawl_splice_in(int from, int pipe, size_t count) {
    return splice(from, NULL, pipe, NULL, count, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

// splice(2) from a pipe to a place in a file.
static inline ssize_t pawl_splice_out(int pipe, int file, int64_t offset, size_t count) {
    off64_t place = offset;
    return splice(pipe, NULL, file, &place, count, SPLICE_F_MOVE);
}

#endif
