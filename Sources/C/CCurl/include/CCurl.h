// The only access to libcurl, which is loaded when it is first needed: a program that fetches over plain HTTP starts
// without it and the libraries that it needs. Non-variadic functions for the variadic ones, which Swift cannot call, and
// constants that are macros with casts or change their form between versions.
#pragma once
#if !__has_include(<curl/curl.h>)
#error "curl/curl.h is missing: install libcurl4-openssl-dev"
#endif
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or newer is needed"
#endif

// Loads libcurl, on one thread, before any other function is called. Returns NULL, or why it cannot be loaded.
const char *pawl_curl_load(void);

// libcurl's functions, in the order of its manual.
CURLcode pawl_curl_start(long flags);
CURL *pawl_easy_init(void);
void pawl_easy_cleanup(CURL *easy);
void pawl_easy_reset(CURL *easy);
CURLcode pawl_easy_pause(CURL *easy, int what);
const char *pawl_easy_strerror(CURLcode code);
CURLM *pawl_multi_init(void);
CURLMcode pawl_multi_cleanup(CURLM *multi);
CURLMcode pawl_multi_add_handle(CURLM *multi, CURL *easy);
CURLMcode pawl_multi_remove_handle(CURLM *multi, CURL *easy);
CURLMsg *pawl_multi_info_read(CURLM *multi, int *left);
CURLMcode pawl_multi_socket_action(CURLM *multi, curl_socket_t socket, int events, int *running);
CURLMcode pawl_multi_socket_all(CURLM *multi, int *running);
struct curl_slist *pawl_list_append(struct curl_slist *list, const char *line);
void pawl_list_free(struct curl_slist *list);

CURLcode pawl_easy_set_long(CURL *easy, CURLoption option, long value);
CURLcode pawl_easy_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode pawl_easy_set_pointer(CURL *easy, CURLoption option, void *value);
CURLcode pawl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value);
CURLcode pawl_easy_set_receiver(CURL *easy, CURLoption option, curl_write_callback value);
// `progress` is called after each read, `socket` for each new socket.
CURLcode pawl_easy_set_watch(
    CURL *easy, curl_xferinfo_callback progress, curl_sockopt_callback socket, void *context);
CURLcode pawl_easy_set_debug(CURL *easy, curl_debug_callback value, void *context);
CURLcode pawl_easy_set_opener(CURL *easy, curl_opensocket_callback value);
CURLcode pawl_easy_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode pawl_easy_get_string(CURL *easy, CURLINFO info, const char **value);
CURLcode pawl_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode pawl_easy_get_pointer(CURL *easy, CURLINFO info, void **value);
CURLMcode pawl_multi_set_long(CURLM *multi, CURLMoption option, long value);
const curl_version_info_data *pawl_version(void);
// Makes libcurl report the sockets to be watched, and its next timeout.
CURLMcode pawl_multi_set_events(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context);

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
