#include "tlsclient.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

struct tls_client {
  SSL *ssl;
  BIO *input, *output;
};

static int version_of(tls_client_version version) {
  switch (version) {
    case TLS_CLIENT_1_0: return TLS1_VERSION;
    case TLS_CLIENT_1_1: return TLS1_1_VERSION;
    case TLS_CLIENT_1_2: return TLS1_2_VERSION;
    default: return TLS1_3_VERSION;
  }
}

/// Offers what Chromium does, in its order, as far as OpenSSL has it: on this depends what a server
/// chooses and what it has to store.
static bool offer_as_browser(SSL_CTX *context) {
  const char *suites =
      "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
  const char *older =
      "ECDHE+AES128+AESGCM:ECDHE+AES256+AESGCM:ECDHE+CHACHA20:ECDHE-RSA-AES128-SHA:"
      "ECDHE-RSA-AES256-SHA:AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA:AES256-SHA";
  const char *signatures =
      "ECDSA+SHA256:RSA-PSS+SHA256:RSA+SHA256:ECDSA+SHA384:RSA-PSS+SHA384:RSA+SHA384:"
      "RSA-PSS+SHA512:RSA+SHA512";
  return SSL_CTX_set_ciphersuites(context, suites) == 1 &&
         SSL_CTX_set_cipher_list(context, older) == 1 &&
         SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1 &&
         SSL_CTX_set1_sigalgs_list(context, signatures) == 1;
}

tls_client *tls_client_create(tls_client_version newest, const char *protocol) {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  tls_client *client = calloc(1, sizeof *client);
  if (context == NULL || client == NULL) abort();
  // Versions before 1.2 are offered at this level of security alone.
  SSL_CTX_set_security_level(context, 0);
  if (!offer_as_browser(context)) abort();
  SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context, version_of(newest));
  client->ssl = SSL_new(context);
  SSL_CTX_free(context);
  client->input = BIO_new(BIO_s_mem());
  client->output = BIO_new(BIO_s_mem());
  if (client->ssl == NULL || client->input == NULL || client->output == NULL) abort();
  SSL_set_bio(client->ssl, client->input, client->output);
  size_t length = strlen(protocol);
  if (length > 0 && length < 256) {
    unsigned char offer[256] = {(unsigned char)length};
    memcpy(offer + 1, protocol, length);
    SSL_set_alpn_protos(client->ssl, offer, (unsigned)length + 1);
  }
  SSL_set_connect_state(client->ssl);
  SSL_do_handshake(client->ssl);
  return client;
}

void tls_client_destroy(tls_client *client) {
  SSL_free(client->ssl);
  free(client);
}

bool tls_client_is_established(const tls_client *client) {
  return SSL_is_init_finished(client->ssl) == 1;
}

bool tls_client_has_protocol(const tls_client *client) {
  const unsigned char *name = NULL;
  unsigned length = 0;
  SSL_get0_alpn_selected(client->ssl, &name, &length);
  return length > 0;
}

bool tls_client_receive(tls_client *client, const uint8_t *bytes, size_t count) {
  ERR_clear_error();
  if (count > 0) BIO_write(client->input, bytes, (int)count);
  uint8_t none;
  int result = SSL_peek(client->ssl, &none, 1);
  if (result > 0) return true;
  int error = SSL_get_error(client->ssl, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN;
}

size_t tls_client_read(tls_client *client, uint8_t *buffer, size_t capacity) {
  size_t count = 0;
  ERR_clear_error();
  SSL_read_ex(client->ssl, buffer, capacity, &count);
  return count;
}

bool tls_client_has_ended(const tls_client *client) {
  return (SSL_get_shutdown(client->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

bool tls_client_write(tls_client *client, const uint8_t *bytes, size_t count) {
  size_t written = 0;
  ERR_clear_error();
  if (!tls_client_is_established(client)) return false;
  return SSL_write_ex(client->ssl, bytes, count, &written) == 1 && written == count;
}

void tls_client_finish(tls_client *client) { SSL_shutdown(client->ssl); }

void tls_client_change_keys(tls_client *client) {
  if (SSL_version(client->ssl) == TLS1_3_VERSION) {
    SSL_key_update(client->ssl, SSL_KEY_UPDATE_REQUESTED);
  } else {
    SSL_renegotiate(client->ssl);
  }
  SSL_do_handshake(client->ssl);
}

size_t tls_client_take(tls_client *client, uint8_t *buffer, size_t capacity) {
  int count = BIO_read(client->output, buffer, (int)capacity);
  return count < 0 ? 0 : (size_t)count;
}
