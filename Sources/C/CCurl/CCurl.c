#define _GNU_SOURCE
// curl_multi_socket_all: nothing else also calls a transfer that has no socket and no timeout.
#define CURL_DISABLE_DEPRECATION
#include "CCurl.h"
#include <dlfcn.h>

#define FUNCTIONS(X) \
    X(global_init) X(easy_init) X(easy_cleanup) X(easy_reset) X(easy_setopt) X(easy_getinfo) \
    X(easy_pause) X(easy_strerror) X(multi_init) X(multi_cleanup) \
    X(multi_setopt) X(multi_add_handle) X(multi_remove_handle) X(multi_info_read) \
    X(multi_socket_action) X(multi_socket_all) X(slist_append) \
    X(slist_free_all) X(version_info)

// The addresses of libcurl's functions.
static struct {
#define MEMBER(name) __typeof__(&curl_##name) name;
    FUNCTIONS(MEMBER)
} curl;

const char *pawl_curl_load(void) {
    void *library = RTLD_DEFAULT;
    // The wheel's program is linked with the libcurl that the wheel brings.
    if (!dlsym(RTLD_DEFAULT, "curl_global_init")) {
        library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
        if (!library) return dlerror();
    }
#define FIND(name) \
    curl.name = (__typeof__(curl.name))dlsym(library, "curl_" #name); \
    if (!curl.name) return dlerror();
    FUNCTIONS(FIND)
    return NULL;
}

CURLcode pawl_curl_start(long flags) { return curl.global_init(flags); }
CURL *pawl_easy_init(void) { return curl.easy_init(); }
void pawl_easy_cleanup(CURL *easy) { curl.easy_cleanup(easy); }
void pawl_easy_reset(CURL *easy) { curl.easy_reset(easy); }
CURLcode pawl_easy_pause(CURL *easy, int what) { return curl.easy_pause(easy, what); }
const char *pawl_easy_strerror(CURLcode code) { return curl.easy_strerror(code); }
CURLM *pawl_multi_init(void) { return curl.multi_init(); }
CURLMcode pawl_multi_cleanup(CURLM *multi) { return curl.multi_cleanup(multi); }
CURLMcode pawl_multi_add_handle(CURLM *multi, CURL *easy) { return curl.multi_add_handle(multi, easy); }
CURLMcode pawl_multi_remove_handle(CURLM *multi, CURL *easy) { return curl.multi_remove_handle(multi, easy); }
CURLMsg *pawl_multi_info_read(CURLM *multi, int *left) { return curl.multi_info_read(multi, left); }
CURLMcode pawl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running) {
    return curl.multi_socket_action(multi, socket, events, running);
}
CURLMcode pawl_multi_socket_all(CURLM *multi, int *running) { return curl.multi_socket_all(multi, running); }
struct curl_slist *pawl_list_append(struct curl_slist *list, const char *line) {
    return curl.slist_append(list, line);
}
void pawl_list_free(struct curl_slist *list) { curl.slist_free_all(list); }

CURLcode pawl_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl.easy_setopt(easy, option, value);
}

CURLcode pawl_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl.easy_setopt(easy, option, value);
}

CURLcode pawl_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl.easy_setopt(easy, option, value);
}

CURLcode pawl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl.easy_setopt(easy, option, value);
}

CURLcode pawl_easy_set_receiver(CURL *easy, CURLoption option, curl_write_callback value) {
    return curl.easy_setopt(easy, option, value);
}

CURLcode pawl_easy_set_watch(
    CURL *easy, curl_xferinfo_callback progress, curl_sockopt_callback socket, void *context) {
    CURLcode code = curl.easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_XFERINFODATA, context);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, socket);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
    return code ? code : curl.easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

CURLcode pawl_easy_set_debug(CURL *easy, curl_debug_callback value, void *context) {
    CURLcode code = curl.easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
    if (!code) code = curl.easy_setopt(easy, CURLOPT_DEBUGDATA, context);
    return code ? code : curl.easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

CURLcode pawl_easy_set_opener(CURL *easy, curl_opensocket_callback value) {
    return curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

CURLcode pawl_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl.easy_getinfo(easy, info, value);
}

CURLcode pawl_easy_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl.easy_getinfo(easy, info, value);
}

CURLcode pawl_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl.easy_getinfo(easy, info, value);
}

CURLcode pawl_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl.easy_getinfo(easy, info, value);
}

CURLMcode pawl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl.multi_setopt(multi, option, value);
}

const curl_version_info_data *pawl_version(void) { return curl.version_info(CURLVERSION_NOW); }

CURLMcode pawl_multi_set_events(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
    CURLMcode code = curl.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (!code) code = curl.multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (!code) code = curl.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return code ? code : curl.multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
