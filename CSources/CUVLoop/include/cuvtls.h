#ifndef CUVTLS_H
#define CUVTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// TLS without a loop

// Certificates (certificate.c)

/// A certificate with the chain of its issuers, and its private key. Any thread may create
/// connections with it.
typedef struct cuv_certificate cuv_certificate;

/// What is wrong with a certificate or its key.
enum {
  CUV_CERTIFICATE_MALFORMED = 1,
  CUV_CERTIFICATE_WEAK,
  CUV_CERTIFICATE_KEY_MALFORMED,
  CUV_CERTIFICATE_KEY_ENCRYPTED,
  CUV_CERTIFICATE_KEY_MISMATCH,
};

/// Reads a certificate, followed by its issuers, and its key, both in the PEM format. Returns 0,
/// CUV_CERTIFICATE_… or a negative errno. Connections use TLS 1.2 or later, do not renegotiate and
/// are not resumed; the only protocol above them is HTTP/1.1.
int cuv_certificate_create(const uint8_t *_Nonnull chain, size_t chain_count,
                           const uint8_t *_Nonnull key, size_t key_count,
                           cuv_certificate *_Nullable *_Nonnull out);
/// Frees the certificate. Connections that were created with it can still be used.
void cuv_certificate_destroy(cuv_certificate *_Nonnull certificate);
/// Writes up to `capacity` bytes of the host name with this index in the certificate
/// (subjectAltName) to `out`, and returns its length; 0 if there are fewer names.
size_t cuv_certificate_name(const cuv_certificate *_Nonnull certificate, size_t index,
                            char *_Nonnull out, size_t capacity);
/// Returns whether the certificate is for a host name, as one of its names or by a wildcard
/// (RFC 6125 §6.4).
bool cuv_certificate_covers(const cuv_certificate *_Nonnull certificate,
                            const char *_Nonnull name, size_t length);

/// What a client needs to know a server by, and its own certificate. Any thread may create
/// connections with it.
typedef struct cuv_trust cuv_trust;

/// Trusts the certificates of a file in the PEM format, or those of the system if `authorities` is
/// NULL. Returns 0, CUV_CERTIFICATE_MALFORMED or a negative errno.
int cuv_trust_create(const uint8_t *_Nullable authorities, size_t count,
                     cuv_trust *_Nullable *_Nonnull out);
/// Sets the certificate by which servers know the client, as `cuv_certificate_create` reads it.
int cuv_trust_present(cuv_trust *_Nonnull trust, const uint8_t *_Nonnull chain,
                      size_t chain_count, const uint8_t *_Nonnull key, size_t key_count);
/// Frees the value. Connections that were created with it can still be used.
void cuv_trust_destroy(cuv_trust *_Nonnull trust);

// Connections (tls.c)

/// The state of one connection. It may be used on one thread at a time.
typedef struct cuv_tls cuv_tls;

/// Creates the server's side of a connection.
int cuv_tls_create(cuv_certificate *_Nonnull certificate, cuv_tls *_Nullable *_Nonnull out);
/// Creates the client's side of a connection, whose first output is there at once. The server must
/// have a certificate for `host`, a name or the text of an address.
int cuv_tls_create_client(cuv_trust *_Nonnull trust, const char *_Nonnull host, bool is_address,
                          cuv_tls *_Nullable *_Nonnull out);
void cuv_tls_destroy(cuv_tls *_Nonnull tls);
/// Returns whether the handshake is complete.
bool cuv_tls_is_established(const cuv_tls *_Nonnull tls);
/// Sets the input, the bytes that were received. `bytes` must stay valid until `cuv_tls_read` has
/// returned another value than 1.
void cuv_tls_feed(cuv_tls *_Nonnull tls, const uint8_t *_Nullable bytes, size_t count);
/// Decrypts input, and does the handshake, which may add to the output. Writes up to `capacity`
/// decrypted bytes to `buffer` and their number to `count`. Returns 1 if the buffer is full, 0 if
/// all of the input was read, -ESHUTDOWN if the peer has ended its direction, and -EPROTO if it has
/// violated the protocol; nothing can be read or written after that.
int cuv_tls_read(cuv_tls *_Nonnull tls, uint8_t *_Nonnull buffer, size_t capacity,
                 size_t *_Nonnull count);

/// Why a connection has failed, beside the errors of certificates (X509_V_ERR_…), which are
/// positive.
enum {
  CUV_TLS_VIOLATION = -1,
  /// The peer does not speak TLS.
  CUV_TLS_MISSING = -2,
  /// The two sides have no version or no cipher in common.
  CUV_TLS_INCOMPATIBLE = -3,
  CUV_TLS_CERTIFICATE_REQUIRED = -4,
  CUV_TLS_CERTIFICATE_REFUSED = -5,
};

/// Returns why `cuv_tls_read` has returned -EPROTO.
int cuv_tls_fault(const cuv_tls *_Nonnull tls);
/// Encrypts bytes and adds them to the output. Fails with -ENOTCONN before the handshake is
/// complete; after -EPROTO, nothing can be written.
int cuv_tls_write(cuv_tls *_Nonnull tls, const uint8_t *_Nullable bytes, size_t count);
/// Adds the end of this side's direction (close_notify) to the output, if the handshake is
/// complete.
void cuv_tls_finish(cuv_tls *_Nonnull tls);
/// Returns the output, the bytes to send, which are valid until the next call.
const uint8_t *_Nullable cuv_tls_output(const cuv_tls *_Nonnull tls, size_t *_Nonnull count);
void cuv_tls_clear_output(cuv_tls *_Nonnull tls);

#endif
