// The only access to libcurl: non-variadic wrappers for the variadic functions that Swift cannot call, and constants
// that are macros with casts or change their form between versions.
#pragma once
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

// `progress` is called after each read, `socket` for each new socket.
static inline CURLcode pawl_easy_set_watch(
    CURL *easy, curl_xferinfo_callback progress, curl_sockopt_callback socket, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_XFERINFODATA, context);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, socket);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
    return code ? code : curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
}

static inline CURLcode pawl_easy_set_debug(CURL *easy, curl_debug_callback value, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, value);
    if (!code) code = curl_easy_setopt(easy, CURLOPT_DEBUGDATA, context);
    return code ? code : curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
}

static inline CURLcode pawl_easy_set_context_function(CURL *easy, curl_ssl_ctx_callback value) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, value);
}

static inline CURLcode pawl_easy_set_opener(CURL *easy, curl_opensocket_callback value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode pawl_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode pawl_easy_get_string(CURL *easy, CURLINFO info, const char **value) {
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

// The TLS library's object of the handle's current connection; NULL when there is none.
static inline void *pawl_easy_get_tls(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
    return info->internals;
}

// The caller frees the list.
static inline struct curl_slist *pawl_easy_get_cookies(CURL *easy) {
    struct curl_slist *list = NULL;
    return curl_easy_getinfo(easy, CURLINFO_COOKIELIST, &list) == CURLE_OK ? list : NULL;
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
static const long pawl_http_1_0_used = CURL_HTTP_VERSION_1_0;
static const long pawl_http_2_used = CURL_HTTP_VERSION_2_0;
static const long pawl_tls_version_1_2 = CURL_SSLVERSION_TLSv1_2;
static const long pawl_auth_basic = (long)CURLAUTH_BASIC;
static const long pawl_auth_digest = (long)CURLAUTH_DIGEST;
static const long pawl_ssh_auth_words = (long)(CURLSSH_AUTH_PASSWORD | CURLSSH_AUTH_KEYBOARD);
static const long pawl_ssh_auth_key = (long)CURLSSH_AUTH_PUBLICKEY;
static const long pawl_global_all = CURL_GLOBAL_ALL;
static const int pawl_pause_nothing = CURLPAUSE_CONT;
static const size_t pawl_receiver_pauses = CURL_WRITEFUNC_PAUSE;
static const size_t pawl_receiver_fails = CURL_WRITEFUNC_ERROR;
static const size_t pawl_error_size = CURL_ERROR_SIZE;

// Makes libcurl report the sockets to be watched, and its next timeout.
static inline CURLMcode pawl_multi_set_events(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    return code ? code : curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}
