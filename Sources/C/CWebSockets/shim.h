// The only access to libwebsockets: creation of a context and its listeners, whose argument structures change their
// layout with the library's build options, and constants that are macros.
//
// The library accepts connections, polls them and handles TLS; their bytes are passed through (its "raw" role). Its own
// HTTP is not used: 4.1 never returns from two requests that arrive at once, runs the body of a GET as the next
// request, and switches to HTTP/2 for any client.
#pragma once
#if !__has_include(<libwebsockets.h>)
#error "libwebsockets.h is missing: install libwebsockets-dev"
#endif
#include <libwebsockets.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#if LWS_LIBRARY_VERSION_NUMBER < 4001000
#error "libwebsockets 4.1 or newer is needed"
#endif

// Every TLS listener has a context for client connections of the library. There are none, so it is an empty one: the
// library's own would hold all of the system's certificates, and 4.1 loses it when another server was started in
// between (it finds it by a number that each start draws again; 4.2 does not).
static inline SSL_CTX *pawl_web_make_client(void) { return SSL_CTX_new(TLS_client_method()); }
static inline void pawl_web_free_client(SSL_CTX *client) { SSL_CTX_free(client); }

// Settings of all listeners of one server.
struct pawl_web_settings {
    void *owner;
    const struct lws_protocols *protocols;
    unsigned int connections;
    unsigned int buffer_bytes;
    unsigned int request_seconds;
    // For TLS listeners.
    SSL_CTX *client;
};

static inline struct lws_context *pawl_web_context(const struct pawl_web_settings *settings) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info.user = settings->owner;
    // Besides the clients: those being closed at the limit, listeners, the wakeup pipe, and the library's own.
    info.fd_limit_per_thread = settings->connections + 96;
    // For the TLS handshake.
    info.timeout_secs = settings->request_seconds;
    info.pt_serv_buf_size = settings->buffer_bytes;
    return lws_create_context(&info);
}

// Settings of every listener: connections are raw from their first byte, and belong to the first protocol.
static inline void pawl_web_prepare(struct lws_context_creation_info *info, const struct pawl_web_settings *settings,
                                    const char *name, const char *address) {
    memset(info, 0, sizeof *info);
    info->vhost_name = name;
    info->iface = address;
    info->protocols = settings->protocols;
    info->listen_accept_role = "raw-skt";
    info->listen_accept_protocol = settings->protocols[0].name;
    info->options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | LWS_SERVER_OPTION_ADOPT_APPLY_LISTEN_ACCEPT_CONFIG;
}

static inline struct lws_vhost *pawl_web_listen(struct lws_context *context,
                                                const struct pawl_web_settings *settings, const char *name,
                                                const char *address, int port, const char *certificate,
                                                const char *key) {
    struct lws_context_creation_info info;
    pawl_web_prepare(&info, settings, name, address);
    info.port = port;
    // A dual-stack listener would reject an IPv4 address, and listen on every address of the machine.
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
    pawl_web_prepare(&info, settings, name, path);
    info.options |= LWS_SERVER_OPTION_UNIX_SOCK;
    return lws_create_vhost(context, &info);
}

// Shuts down sending; what the client still sends can be read, so that the kernel does not send a reset, which would
// discard the last response.
static inline void pawl_web_end(struct lws *wsi) {
    SSL *secure = lws_get_ssl(wsi);
    if (secure) SSL_shutdown(secure);
    shutdown(lws_get_socket_fd(wsi), SHUT_WR);
}

// The limit of descriptors, at most 65,536.
static inline unsigned int pawl_web_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return 1024;
    return limit.rlim_cur < 65536 ? (unsigned int)limit.rlim_cur : 65536;
}

// Names the calling thread for process monitors.
static inline void pawl_web_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

static const size_t pawl_web_room = LWS_PRE;
