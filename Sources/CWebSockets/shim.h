// The one door to libwebsockets: making a context and its listeners, whose argument structures change their layout with
// the options that the library was built with, and the constants that are macros.
#pragma once
#include <libwebsockets.h>
#include <string.h>

#if LWS_LIBRARY_VERSION_NUMBER < 4001000
#error "libwebsockets 4.1 or newer is needed"
#endif

// Every secure listener has a context for connections that the library makes itself. There are none, so it is an empty
// one: the library's own would hold all of the system's certificates, and 4.1 loses it when another server was started
// meanwhile (it looks for it under a number that each start draws anew; 4.2 does not).
static inline SSL_CTX *pawl_web_make_client(void) { return SSL_CTX_new(TLS_client_method()); }
static inline void pawl_web_free_client(SSL_CTX *client) { SSL_CTX_free(client); }

// What holds for all listeners of one server.
struct pawl_web_settings {
    void *owner;
    const struct lws_protocols *protocols;
    unsigned int connections;
    unsigned short head_bytes;
    unsigned int buffer_bytes;
    unsigned int request_seconds;
    int idle_seconds;
    // For secure listeners.
    SSL_CTX *client;
};

static inline struct lws_context *pawl_web_context(const struct pawl_web_settings *settings) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT |
                   LWS_SERVER_OPTION_VALIDATE_UTF8;
    info.user = settings->owner;
    // Beside the clients: listeners, the wake-up pipe, and the library's own.
    info.fd_limit_per_thread = settings->connections + 32;
    info.max_http_header_data = settings->head_bytes;
    // As many as connections: a few slow senders must not keep the others waiting for a place for their heads.
    info.max_http_header_pool =
        (unsigned short)(settings->connections > 65535 ? 65535 : settings->connections);
    info.pt_serv_buf_size = settings->buffer_bytes;
    return lws_create_context(&info);
}

static inline struct lws_vhost *pawl_web_listen(struct lws_context *context,
                                                const struct pawl_web_settings *settings, const char *name,
                                                const char *address, int port, const char *certificate,
                                                const char *key) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.vhost_name = name;
    info.iface = address;
    info.port = port;
    info.protocols = settings->protocols;
    info.timeout_secs = settings->request_seconds;
    info.keepalive_timeout = settings->idle_seconds;
    info.options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_VALIDATE_UTF8;
    // A listener for both families would take an IPv4 address for none, and listen at every address of the machine.
    if (!strchr(address, ':')) info.options |= LWS_SERVER_OPTION_DISABLE_IPV6;
    if (certificate) {
        info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
        info.ssl_cert_filepath = certificate;
        info.ssl_private_key_filepath = key;
        info.alpn = "http/1.1";
        info.provided_client_ssl_ctx = settings->client;
    }
    return lws_create_vhost(context, &info);
}

static inline struct lws_vhost *pawl_web_listen_local(struct lws_context *context,
                                                      const struct pawl_web_settings *settings, const char *name,
                                                      const char *path) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.vhost_name = name;
    info.iface = path;
    info.protocols = settings->protocols;
    info.timeout_secs = settings->request_seconds;
    info.keepalive_timeout = settings->idle_seconds;
    info.options = LWS_SERVER_OPTION_UNIX_SOCK | LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
                   LWS_SERVER_OPTION_VALIDATE_UTF8;
    return lws_create_vhost(context, &info);
}

// Writes the end of the response head; 0 when it went out.
static inline int pawl_web_finish_head(struct lws *wsi, unsigned char *start, unsigned char **p, unsigned char *end) {
    return lws_finalize_write_http_header(wsi, start, p, end);
}

static const size_t pawl_web_room = LWS_PRE;
