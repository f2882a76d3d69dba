#ifndef CUVDTLS_H
#define CUVDTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// DTLS 1.2 (RFC 6347) without a socket (dtls.c)

/// A key and a certificate for it, which peers recognize by its hash. Any thread may create
/// connections with it.
typedef struct cuv_dtls_identity cuv_dtls_identity;

/// The length in bytes of the SHA-256 hash of a certificate.
enum { CUV_DTLS_FINGERPRINT = 32 };

/// Makes a P-256 key and a certificate that it signs itself, and writes the certificate's hash to
/// `fingerprint`. Returns 0 or a negative errno.
int cuv_dtls_identity_create(uint8_t fingerprint[_Nonnull CUV_DTLS_FINGERPRINT],
                             cuv_dtls_identity *_Nullable *_Nonnull out);
/// Frees the identity. Connections that were created with it can still be used.
void cuv_dtls_identity_destroy(cuv_dtls_identity *_Nonnull identity);

/// The state of one connection. It may be used on one thread at a time.
typedef struct cuv_dtls cuv_dtls;

/// Creates one side of a connection. The client's side has output at once.
int cuv_dtls_create(cuv_dtls_identity *_Nonnull identity, bool is_client,
                    cuv_dtls *_Nullable *_Nonnull out);
void cuv_dtls_destroy(cuv_dtls *_Nonnull dtls);
/// Returns whether the handshake is complete.
bool cuv_dtls_is_established(const cuv_dtls *_Nonnull dtls);
/// Writes the SHA-256 hash of the peer's certificate to `fingerprint`. Returns false if the peer
/// has shown none.
bool cuv_dtls_peer_fingerprint(const cuv_dtls *_Nonnull dtls,
                               uint8_t fingerprint[_Nonnull CUV_DTLS_FINGERPRINT]);
/// Sets the input, one datagram. `bytes` must stay valid until `cuv_dtls_read` has returned another
/// value than 1.
void cuv_dtls_feed(cuv_dtls *_Nonnull dtls, const uint8_t *_Nullable bytes, size_t count);
/// Decrypts the next record of the input, and does the handshake, which may add to the output.
/// Writes up to `capacity` decrypted bytes to `buffer` and their number to `count`, and returns 1.
/// Returns 0 if the input has no further record, -ESHUTDOWN if the peer has ended the connection,
/// and -EPROTO if the handshake has failed.
int cuv_dtls_read(cuv_dtls *_Nonnull dtls, uint8_t *_Nonnull buffer, size_t capacity,
                  size_t *_Nonnull count);
/// Encrypts a record, and adds it to the output as one datagram. Fails with -ENOTCONN before the
/// handshake is complete, and with -EMSGSIZE if the record is too long.
int cuv_dtls_write(cuv_dtls *_Nonnull dtls, const uint8_t *_Nonnull bytes, size_t count);
/// Adds the end of the connection (close_notify) to the output.
void cuv_dtls_finish(cuv_dtls *_Nonnull dtls);
/// Returns the time in milliseconds after which `cuv_dtls_handle_timeout` has to be called, or -1
/// if none is needed.
int64_t cuv_dtls_timeout(const cuv_dtls *_Nonnull dtls);
/// Adds messages of the handshake that the peer has not answered to the output again, if that is
/// due. Returns -ETIMEDOUT if the peer has not answered for too long.
int cuv_dtls_handle_timeout(cuv_dtls *_Nonnull dtls);
/// Returns the datagram of the output at `offset` and writes its length to `count`, or returns NULL
/// if there is none. Adds to `offset` what leads to the next one. The datagram is valid until the
/// next call of another function.
const uint8_t *_Nullable cuv_dtls_output(const cuv_dtls *_Nonnull dtls, size_t *_Nonnull offset,
                                         size_t *_Nonnull count);
void cuv_dtls_clear_output(cuv_dtls *_Nonnull dtls);

#endif
