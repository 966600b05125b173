// The one door to libssl: settings of the contexts that libcurl makes, where libcurl has no option for them.
#pragma once
#include <openssl/crypto.h>
#include <openssl/ssl.h>

// The version of the library that runs, as libcurl tells it of its own.
static inline const char *pawl_tls_version(void) { return OpenSSL_version(OPENSSL_VERSION_STRING); }

// Takes up to `size` bytes from the socket at a time instead of a record's head and then its rest.
static inline void pawl_tls_read_ahead(void *context, size_t size) {
    SSL_CTX_set_read_ahead((SSL_CTX *)context, 1);
    SSL_CTX_set_default_read_buffer_len((SSL_CTX *)context, size);
}

// What a full socket did not take may be sent again from another place in memory.
static inline void pawl_tls_let_writes_move(void *context) {
    SSL_CTX_set_mode((SSL_CTX *)context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

// An end without the goodbye of TLS is an error, as OpenSSL has it when it is not told to look away.
static inline void pawl_tls_expect_goodbye(void *context) {
    SSL_CTX_clear_options((SSL_CTX *)context, SSL_OP_IGNORE_UNEXPECTED_EOF);
}

// Whether the peer has ended the connection, and not somebody on the way.
static inline int pawl_tls_had_goodbye(void *connection) {
    return connection && (SSL_get_shutdown((SSL *)connection) & SSL_RECEIVED_SHUTDOWN) != 0;
}

// The name of the cipher at this place of the order of preference; NULL behind the last.
static inline const char *pawl_tls_cipher(void *context, int place) {
    STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers((SSL_CTX *)context);
    if (place >= sk_SSL_CIPHER_num(ciphers)) return NULL;
    return SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, place));
}

// TLS 1.3 and the versions before it have lists of their own. 1: taken.
static inline int pawl_tls_set_current_ciphers(void *context, const char *names) {
    return SSL_CTX_set_ciphersuites((SSL_CTX *)context, names);
}

static inline int pawl_tls_set_older_ciphers(void *context, const char *names) {
    return SSL_CTX_set_cipher_list((SSL_CTX *)context, names);
}
