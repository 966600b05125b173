// The only access to libssl, with session.h: settings of libcurl's contexts that libcurl has no option for, and the records
// of its connections.
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// The version of the loaded library, as libcurl reports it.
static inline const char *pawl_tls_version(void) { return OpenSSL_version(OPENSSL_VERSION_STRING); }

// Reads up to `size` bytes from the socket at a time instead of a record's header and then its body.
static inline void pawl_tls_read_ahead(void *context, size_t size) {
    SSL_CTX_set_read_ahead((SSL_CTX *)context, 1);
    SSL_CTX_set_default_read_buffer_len((SSL_CTX *)context, size);
}

// A retried write may use another buffer.
static inline void pawl_tls_let_writes_move(void *context) {
    SSL_CTX_set_mode((SSL_CTX *)context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

// Enables session tickets (RFC 5077); libcurl disables them.
static inline void pawl_tls_take_tickets(void *context) {
    SSL_CTX_clear_options((SSL_CTX *)context, SSL_OP_NO_TICKET);
}

// Makes an end without close_notify an error, which is OpenSSL's default.
static inline void pawl_tls_require_close_notify(void *context) {
    SSL_CTX_clear_options((SSL_CTX *)context, SSL_OP_IGNORE_UNEXPECTED_EOF);
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

static const int pawl_tls_flush = BIO_CTRL_FLUSH;

// Replaces a connection's BIO by one of `method` with the data `context`. 1: done.
static inline int pawl_tls_set_bio(void *connection, void *method, void *context) {
    BIO *bio = BIO_new((BIO_METHOD *)method);
    if (!bio) return 0;
    BIO_set_data(bio, context);
    BIO_set_init(bio, 1);
    SSL_set_bio((SSL *)connection, bio, bio);
    return 1;
}

static inline void *pawl_tls_context(BIO *bio) { return BIO_get_data(bio); }
static inline void pawl_tls_expect_more(BIO *bio, int receives) {
    BIO_clear_retry_flags(bio);
    if (receives > 0) BIO_set_retry_read(bio);
    if (receives == 0) BIO_set_retry_write(bio);
}

// The result of a read or a write.
enum { PAWL_TLS_DONE, PAWL_TLS_LATER, PAWL_TLS_CLOSE_NOTIFY, PAWL_TLS_BROKEN };

static inline long pawl_tls_outcome(void *connection, int result) {
    if (result > 0) return PAWL_TLS_DONE;
    switch (SSL_get_error((SSL *)connection, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return PAWL_TLS_LATER;
    case SSL_ERROR_ZERO_RETURN: return PAWL_TLS_CLOSE_NOTIFY;
    default: return PAWL_TLS_BROKEN;
    }
}

static inline long pawl_tls_receive(void *connection, void *bytes, size_t size, size_t *count) {
    ERR_clear_error();
    return pawl_tls_outcome(connection, SSL_read_ex((SSL *)connection, bytes, size, count));
}

static inline long pawl_tls_send(void *connection, const void *bytes, size_t size, size_t *count) {
    ERR_clear_error();
    return pawl_tls_outcome(connection, SSL_write_ex((SSL *)connection, bytes, size, count));
}

// Whether bytes that were read from the socket are buffered.
static inline int pawl_tls_has_more(void *connection) { return SSL_has_pending((SSL *)connection); }

// The reason of the last failure; NULL when it was not in TLS.
static inline const char *pawl_tls_reason(void) { return ERR_reason_error_string(ERR_peek_error()); }

// The authorities of a check: those of the file, or the library's defaults without one.
static inline void pawl_tls_load_authorities(void *context, const char *file) {
    if (file) SSL_CTX_load_verify_locations((SSL_CTX *)context, file, NULL);
    else SSL_CTX_set_default_verify_paths((SSL_CTX *)context);
}

static inline int pawl_tls_requested(SSL *connection, X509 **certificate, EVP_PKEY **key) {
    (void)certificate;
    (void)key;
    int *flag = (int *)SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection));
    if (flag) *flag = 1;
    return 0;
}

// Notes in `flag` that the server requests a certificate; none is sent.
static inline void pawl_tls_note_request(void *context, int *flag) {
    SSL_CTX_set_app_data((SSL_CTX *)context, flag);
    SSL_CTX_set_client_cert_cb((SSL_CTX *)context, pawl_tls_requested);
}

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

// Why the peer's chain, or its certificate for this host, is not trusted; NULL if it is.
static inline const char *pawl_tls_problem(void *connection, const char *host) {
    long result = SSL_get_verify_result((SSL *)connection);
    if (result != X509_V_OK) return X509_verify_cert_error_string(result);
    X509 *certificate = SSL_get1_peer_certificate((SSL *)connection);
    if (!certificate) return "the server sent no certificate";
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
    int matches = address ? X509_check_ip_asc(certificate, host, 0) : X509_check_host(certificate, host, 0, 0, NULL);
    ASN1_OCTET_STRING_free(address);
    X509_free(certificate);
    return matches == 1 ? NULL : "the certificate is not for this host";
}

// The SHA-256 digest of the peer's public key; its length, or 0.
static inline unsigned pawl_tls_key_digest(void *connection, unsigned char *digest) {
    X509 *certificate = SSL_get1_peer_certificate((SSL *)connection);
    if (!certificate) return 0;
    unsigned char *key = NULL;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key);
    unsigned count = 0;
    if (length > 0 && EVP_Digest(key, (size_t)length, digest, &count, EVP_sha256(), NULL) != 1) count = 0;
    OPENSSL_free(key);
    X509_free(certificate);
    return count;
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
