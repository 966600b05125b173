// TLS connections on sockets of our own. No function of Swift is called from here.
#pragma once
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "shim.h"

#if OPENSSL_VERSION_NUMBER < 0x30000020L
#error "OpenSSL 3.0.2 or later is needed: SSL_set_retry_verify"
#endif

// Authorities, and the file that has all of the system's: it takes 50 ms to read, and is added to the store when a chain has
// no issuer there. NULL: there is no such file.
struct pawl_tls_trust {
    X509_STORE *store;
    char *bundle;
    int is_whole;
};

enum { PAWL_TLS_LONGEST_TICKETS = 4 };

// A connection over a transport, what is wanted of it, and what has happened. Zeroes before `pawl_tls_open`.
struct pawl_tls_session {
    SSL *connection;
    // The transport: a socket, or the session below this one.
    int socket;
    struct pawl_tls_session *below;
    int is_dry;      // the last read had less than requested; later bytes raise a new event (epoll(7))
    int is_closed;   // by the peer
    int read_error;  // errno
    int send_error;
    // The server: its host, what is trusted, and SHA-256 digests of the public keys that it may have.
    char *host;
    int is_numeric;
    struct pawl_tls_trust *trust;
    const unsigned char *pins;
    int pin_count;
    int verifies;
    int holds_server;  // the handshake waits for a decision about the server's certificate,
    int holds_client;  // and, when the server requests one, about the client's
    int decision;
    // What happened.
    int is_judged;
    int problem;  // X509_V_*
    int is_wrong_key;
    int was_requested;
    unsigned char key[32];
    SSL_SESSION *tickets[PAWL_TLS_LONGEST_TICKETS];
    int ticket_count;
};

enum { PAWL_TLS_UNDECIDED, PAWL_TLS_ACCEPTED, PAWL_TLS_AS_VERIFIED, PAWL_TLS_REFUSED };

static inline long pawl_tls_progress(SSL *connection, int result) {
    if (result > 0) return PAWL_TLS_DONE;
    switch (SSL_get_error(connection, result)) {
    case SSL_ERROR_WANT_READ: return PAWL_TLS_LATER;
    case SSL_ERROR_WANT_WRITE: return PAWL_TLS_WRITE_LATER;
    case SSL_ERROR_WANT_RETRY_VERIFY: return PAWL_TLS_HELD_SERVER;
    case SSL_ERROR_WANT_X509_LOOKUP: return PAWL_TLS_HELD_CLIENT;
    case SSL_ERROR_ZERO_RETURN: return PAWL_TLS_CLOSE_NOTIFY;
    default: return PAWL_TLS_BROKEN;
    }
}

// What a BIO function returns after `result` of the session below.
static inline int pawl_tls_passed(BIO *bio, struct pawl_tls_session *line, int result, size_t count) {
    struct pawl_tls_session *below = line->below;
    long progress = pawl_tls_progress(below->connection, result);
    if (progress == PAWL_TLS_LATER) BIO_set_retry_read(bio);
    if (progress == PAWL_TLS_WRITE_LATER) BIO_set_retry_write(bio);
    line->is_closed |= below->is_closed || progress == PAWL_TLS_CLOSE_NOTIFY;
    line->read_error = below->read_error;
    line->send_error = below->send_error;
    return result > 0 ? (int)count : progress == PAWL_TLS_CLOSE_NOTIFY ? 0 : -1;
}

static inline int pawl_tls_read(BIO *bio, char *bytes, int size) {
    struct pawl_tls_session *line = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (line->below) {
        size_t count = 0;
        if (!line->below->connection) return -1;
        int result = SSL_read_ex(line->below->connection, bytes, (size_t)size, &count);
        line->is_dry = line->below->is_dry && !SSL_has_pending(line->below->connection);
        return pawl_tls_passed(bio, line, result, count);
    }
    ssize_t count;
    do count = recv(line->socket, bytes, (size_t)size, MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    line->is_dry = count < size;
    if (count == 0) line->is_closed = 1;
    if (count < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
    else if (count < 0) line->read_error = errno;
    return (int)count;
}

static inline int pawl_tls_write(BIO *bio, const char *bytes, int size) {
    struct pawl_tls_session *line = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (line->below) {
        size_t count = 0;
        if (!line->below->connection) return -1;
        int result = SSL_write_ex(line->below->connection, bytes, (size_t)size, &count);
        return pawl_tls_passed(bio, line, result, count);
    }
    ssize_t count;
    do count = send(line->socket, bytes, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
    else if (count < 0) line->send_error = errno;
    return (int)count;
}

// Without the end, later versions of OpenSSL wait for bytes of a closed transport.
static inline long pawl_tls_control(BIO *bio, int command, long number, void *pointer) {
    (void)number;
    (void)pointer;
    if (command == BIO_CTRL_EOF) return ((struct pawl_tls_session *)BIO_get_data(bio))->is_closed;
    return command == BIO_CTRL_FLUSH;
}

// Notes the digest of the certificate's public key, and whether it is none of the pinned ones.
static inline void pawl_tls_note_key(struct pawl_tls_session *session, X509 *certificate) {
    unsigned char *key = NULL;
    int length = certificate ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key) : 0;
    int is_pinned = !session->pin_count;
    if (length > 0 && EVP_Digest(key, (size_t)length, session->key, NULL, EVP_sha256(), NULL) == 1)
        for (int index = 0; index < session->pin_count; index++)
            is_pinned |= !memcmp(session->pins + index * 32, session->key, 32);
    OPENSSL_free(key);
    session->is_wrong_key = !is_pinned;
}

// X509_V_OK, or why the chain is not trusted for the session's host.
static inline int pawl_tls_chain_problem(struct pawl_tls_session *session, X509_STORE_CTX *check, X509 *certificate) {
    X509_verify_cert(check);
    int problem = X509_STORE_CTX_get_error(check);
    if (problem != X509_V_OK) return problem;
    if (session->is_numeric)
        return X509_check_ip_asc(certificate, session->host, 0) == 1 ? X509_V_OK : X509_V_ERR_IP_ADDRESS_MISMATCH;
    // The subject counts only where there are no alternative names; a wildcard stands for a whole label.
    unsigned flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
    if (X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1) >= 0) flags |= X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
    return X509_check_host(certificate, session->host, 0, flags, NULL) == 1 ? X509_V_OK : X509_V_ERR_HOSTNAME_MISMATCH;
}

// Whether further authorities might help: from X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT to _UNABLE_TO_VERIFY_LEAF_SIGNATURE.
static inline int pawl_tls_lacks_issuer(int problem) {
    return problem == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT || (problem >= 18 && problem <= 21);
}

static inline int pawl_tls_verify(X509_STORE_CTX *check, void *unused) {
    (void)unused;
    SSL *connection = X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct pawl_tls_session *session = SSL_get_app_data(connection);
    if (!session->is_judged) {
        X509 *certificate = X509_STORE_CTX_get0_cert(check);
        struct pawl_tls_trust *trust = session->trust;
        int is_whole = __atomic_load_n(&trust->is_whole, __ATOMIC_ACQUIRE);
        if (session->verifies || session->holds_server)
            session->problem = pawl_tls_chain_problem(session, check, certificate);
        // What stands there would pass for the handshake's failure.
        ERR_clear_error();
        if (pawl_tls_lacks_issuer(session->problem) && !is_whole && trust->bundle) {
            // Two threads may both add it: the store has each certificate once.
            X509_STORE_load_file(trust->store, trust->bundle);
            ERR_clear_error();
            __atomic_store_n(&trust->is_whole, 1, __ATOMIC_RELEASE);
            return SSL_set_retry_verify(connection);
        }
        // Of a certificate that is not trusted, that is what is named.
        if (session->holds_server || session->problem == X509_V_OK) pawl_tls_note_key(session, certificate);
        session->is_judged = 1;
    }
    int is_untrusted = session->problem != X509_V_OK && session->verifies;
    int is_held = session->holds_server && session->decision == PAWL_TLS_UNDECIDED;
    if (is_held && !session->is_wrong_key) return SSL_set_retry_verify(connection);
    int is_accepted = session->decision == PAWL_TLS_ACCEPTED || (session->decision != PAWL_TLS_REFUSED && !is_untrusted);
    if (is_accepted && !session->is_wrong_key) {
        X509_STORE_CTX_set_error(check, X509_V_OK);
        return 1;
    }
    X509_STORE_CTX_set_error(check, is_untrusted ? session->problem : X509_V_ERR_CERT_REJECTED);
    return 0;
}

static inline int pawl_tls_request_certificate(SSL *connection, void *unused) {
    (void)unused;
    struct pawl_tls_session *session = SSL_get_app_data(connection);
    session->was_requested = 1;
    return session->holds_client ? -1 : 1;
}

// Keeps a copy: a connection that gets a further ticket, or breaks, makes those before it unusable.
static inline int pawl_tls_new_ticket(SSL *connection, SSL_SESSION *ticket) {
    struct pawl_tls_session *session = SSL_get_app_data(connection);
    SSL_SESSION *copy =
        session->ticket_count < PAWL_TLS_LONGEST_TICKETS && SSL_SESSION_is_resumable(ticket) ? SSL_SESSION_dup(ticket) : NULL;
    if (copy) session->tickets[session->ticket_count++] = copy;
    return 0;
}

static inline void pawl_tls_resume(SSL *connection, SSL_SESSION *ticket) {
    SSL_SESSION *copy = SSL_SESSION_dup(ticket);
    if (!copy) return;
    SSL_set_session(connection, copy);
    SSL_SESSION_free(copy);
}

// OpenSSL's own function reads the password of a key from the terminal.
static inline int pawl_tls_no_password(char *password, int size, int writes, void *unused) {
    (void)password;
    (void)size;
    (void)writes;
    (void)unused;
    return -1;
}

// `data`: the names that the server supports, as ALPN has them, with a zero at the end.
static inline int pawl_tls_choose(
    SSL *connection, const unsigned char **chosen, unsigned char *length, const unsigned char *offered, unsigned count,
    void *data) {
    (void)connection;
    unsigned own = (unsigned)strlen(data);
    int result = SSL_select_next_proto((unsigned char **)chosen, length, data, own, offered, count);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static inline SSL_CTX *pawl_tls_make_context(int is_server) {
    SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (!context) return NULL;
    // The system may require a later one.
    if (SSL_CTX_get_min_proto_version(context) < TLS1_2_VERSION) SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(
        context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_default_passwd_cb(context, pawl_tls_no_password);
    if (is_server) {
        SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        return context;
    }
    // An intermediate authority may be an anchor.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
    // Also where certificates are not verified: the result of the function counts only with it.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, pawl_tls_verify, NULL);
    SSL_CTX_set_cert_cb(context, pawl_tls_request_certificate, NULL);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, pawl_tls_new_ticket);
    return context;
}

// The certificate, with its chain, and key in PEM files of a context or of one connection; the key's may be NULL for the same
// file. 1: can be used.
static inline int pawl_tls_use_files(SSL_CTX *context, SSL *connection, const char *file, const char *key) {
    ERR_clear_error();
    if (!key) key = file;
    if (context)
        return SSL_CTX_use_certificate_chain_file(context, file) == 1 &&
               SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1;
    SSL_set_default_passwd_cb(connection, pawl_tls_no_password);
    return SSL_use_certificate_chain_file(connection, file) == 1 &&
           SSL_use_PrivateKey_file(connection, key, SSL_FILETYPE_PEM) == 1;
}

// Begins a connection; the fields of the transport, the host (for clients) and what is wanted are set. 0: no memory.
static inline int pawl_tls_open(struct pawl_tls_session *session, SSL_CTX *context, void *line) {
    ERR_clear_error();
    session->connection = SSL_new(context);
    if (!session->connection || !pawl_tls_set_bio(session->connection, line, session)) return 0;
    SSL_set_app_data(session->connection, session);
    if (!session->host) {
        SSL_set_accept_state(session->connection);
        return 1;
    }
    SSL_set_connect_state(session->connection);
    return session->is_numeric || SSL_set_tlsext_host_name(session->connection, session->host) == 1;
}

static inline long pawl_tls_shake(struct pawl_tls_session *session) {
    long progress;
    do {
        ERR_clear_error();
        progress = pawl_tls_progress(session->connection, SSL_do_handshake(session->connection));
        // The bundle was added: the chain is checked again.
    } while (progress == PAWL_TLS_HELD_SERVER && !session->is_judged);
    if (progress != PAWL_TLS_DONE || !session->host || !SSL_session_reused(session->connection)) return progress;
    X509 *certificate = SSL_get1_peer_certificate(session->connection);
    pawl_tls_note_key(session, certificate);
    X509_free(certificate);
    return session->is_wrong_key ? PAWL_TLS_BROKEN : PAWL_TLS_DONE;
}

static inline long pawl_tls_take(struct pawl_tls_session *session, void *bytes, size_t size, size_t *count) {
    ERR_clear_error();
    return pawl_tls_progress(session->connection, SSL_read_ex(session->connection, bytes, size, count));
}

static inline long pawl_tls_give(struct pawl_tls_session *session, const void *bytes, size_t size, size_t *count) {
    ERR_clear_error();
    return pawl_tls_progress(session->connection, SSL_write_ex(session->connection, bytes, size, count));
}

// A ticket, whose reference is the caller's; NULL when none is left.
static inline SSL_SESSION *pawl_tls_take_ticket(struct pawl_tls_session *session) {
    return session->ticket_count ? session->tickets[--session->ticket_count] : NULL;
}

// RFC 9113 §9.2.1.
static inline void pawl_tls_forbid_renegotiation(SSL *connection) {
    SSL_set_options(connection, SSL_OP_NO_RENEGOTIATION);
}

// Ends the connection, with close_notify where it can be used.
static inline void pawl_tls_end(struct pawl_tls_session *session, int is_usable) {
    if (is_usable) SSL_shutdown(session->connection);
    ERR_clear_error();
    SSL_free(session->connection);
    while (session->ticket_count) SSL_SESSION_free(session->tickets[--session->ticket_count]);
    free(session->host);
    memset(session, 0, sizeof *session);
}
