// The only access to libssl, with session.h: settings of contexts, what is known of a connection, and digests.
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// Reads up to `size` bytes from the socket at a time instead of a record's header and then its body.
static inline void pawl_tls_read_ahead(void *context, size_t size) {
    SSL_CTX_set_read_ahead((SSL_CTX *)context, 1);
    SSL_CTX_set_default_read_buffer_len((SSL_CTX *)context, size);
}

// Creates a BIO method. The functions return what BIO_read(3) and BIO_write(3) do.
static inline void *pawl_tls_make_bio_method(
    int (*receive)(BIO *, char *, int), int (*send)(BIO *, const char *, int), long (*control)(BIO *, int, long, void *)) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "pawl");
    if (!method) return NULL;
    BIO_meth_set_read(method, receive);
    BIO_meth_set_write(method, send);
    BIO_meth_set_ctrl(method, control);
    return method;
}

// Replaces a connection's BIO by one of `method` with the data `context`. 1: done.
static inline int pawl_tls_set_bio(void *connection, void *method, void *context) {
    BIO *bio = BIO_new((BIO_METHOD *)method);
    if (!bio) return 0;
    BIO_set_data(bio, context);
    BIO_set_init(bio, 1);
    SSL_set_bio((SSL *)connection, bio, bio);
    return 1;
}

// The result of a handshake, a read or a write.
enum {
    PAWL_TLS_DONE, PAWL_TLS_LATER, PAWL_TLS_CLOSE_NOTIFY, PAWL_TLS_BROKEN, PAWL_TLS_WRITE_LATER, PAWL_TLS_HELD_SERVER,
    PAWL_TLS_HELD_CLIENT
};

// Whether bytes that were read from the socket are buffered.
static inline int pawl_tls_has_more(void *connection) { return SSL_has_pending((SSL *)connection); }

// The reason of the last failure; NULL when it was not in TLS.
static inline const char *pawl_tls_reason(void) { return ERR_reason_error_string(ERR_peek_error()); }

// The length of a certificate of the peer's chain in DER form, written to `bytes` if they are enough; 0 when there is none.
static inline int pawl_tls_certificate(void *connection, int index, unsigned char *bytes, int size) {
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain((SSL *)connection);
    if (!chain || index >= sk_X509_num(chain)) return 0;
    X509 *certificate = sk_X509_value(chain, index);
    int length = i2d_X509(certificate, NULL);
    if (bytes && length > 0 && length <= size) {
        unsigned char *end = bytes;
        i2d_X509(certificate, &end);
    }
    return length;
}

// The version and the cipher of an established connection.
static inline const char *pawl_tls_used_version(void *connection) { return SSL_get_version((SSL *)connection); }
static inline const char *pawl_tls_used_cipher(void *connection) { return SSL_get_cipher_name((SSL *)connection); }

// The name of the cipher at this position in the order of preference; NULL after the last.
static inline const char *pawl_tls_cipher(void *context, int place) {
    STACK_OF(SSL_CIPHER) *ciphers = SSL_CTX_get_ciphers((SSL_CTX *)context);
    if (place >= sk_SSL_CIPHER_num(ciphers)) return NULL;
    return SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, place));
}

// TLS 1.3 and the versions before it have separate lists. 1: accepted.
static inline int pawl_tls_set_current_ciphers(void *context, const char *names) {
    return SSL_CTX_set_ciphersuites((SSL_CTX *)context, names);
}

static inline int pawl_tls_set_older_ciphers(void *context, const char *names) {
    return SSL_CTX_set_cipher_list((SSL_CTX *)context, names);
}

// Digests of a few bytes, for logins (RFC 7616) and WebSockets. Returns the digest's length, 0 for an unsupported algorithm.
enum { PAWL_TLS_MD5, PAWL_TLS_SHA256, PAWL_TLS_SHA512_256, PAWL_TLS_SHA1 };
enum { PAWL_TLS_LONGEST_DIGEST = EVP_MAX_MD_SIZE };

static inline unsigned pawl_tls_digest(int kind, const void *bytes, size_t count, unsigned char *digest) {
    unsigned length = 0;
    const EVP_MD *algorithm =
        kind == PAWL_TLS_MD5 ? EVP_md5() : kind == PAWL_TLS_SHA256 ? EVP_sha256()
        : kind == PAWL_TLS_SHA1 ? EVP_sha1() : EVP_sha512_256();
    return EVP_Digest(bytes, count, digest, &length, algorithm, NULL) == 1 ? length : 0;
}
