/// A TLS client over memory, for tests and measurements of Carom's server: it accepts every
/// certificate.
#ifndef TLSCLIENT_H
#define TLSCLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tls_client tls_client;

/// The newest version of TLS that a client offers.
typedef enum { TLS_CLIENT_1_0, TLS_CLIENT_1_1, TLS_CLIENT_1_2, TLS_CLIENT_1_3 } tls_client_version;

/// Creates a client that offers one application protocol (RFC 7301), or none if `protocol` is
/// empty.
tls_client *_Nullable tls_client_create(tls_client_version newest, const char *_Nonnull protocol);
void tls_client_destroy(tls_client *_Nonnull client);
/// Returns whether the handshake is complete.
bool tls_client_is_established(const tls_client *_Nonnull client);
/// Returns whether the server has agreed on the protocol that the client has offered.
bool tls_client_has_protocol(const tls_client *_Nonnull client);
/// Receives bytes from the server, and continues the handshake. Returns false if they violate the
/// protocol or contain a fatal alert.
bool tls_client_receive(tls_client *_Nonnull client, const uint8_t *_Nullable bytes, size_t count);
/// Reads decrypted bytes. Returns their number; 0 if there are none.
size_t tls_client_read(tls_client *_Nonnull client, uint8_t *_Nonnull buffer, size_t capacity);
/// Returns whether the server has ended its direction (close_notify).
bool tls_client_has_ended(const tls_client *_Nonnull client);
/// Encrypts bytes for the server. Returns false before the handshake is complete.
bool tls_client_write(tls_client *_Nonnull client, const uint8_t *_Nonnull bytes, size_t count);
/// Ends the client's direction.
void tls_client_finish(tls_client *_Nonnull client);
/// Asks for new keys: with TLS 1.2 by a renegotiation, with TLS 1.3 by a key update.
void tls_client_change_keys(tls_client *_Nonnull client);
/// Takes bytes for the server. Returns their number; 0 if there are none.
size_t tls_client_take(tls_client *_Nonnull client, uint8_t *_Nonnull buffer, size_t capacity);

#endif
