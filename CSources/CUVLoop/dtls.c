#include "cuvdtls.h"
#include "dtls_records.h"
#include "internal.h"
#include "tls_memory.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum {
  DATAGRAM = 1200,          // the maximum length of a datagram of the handshake, in bytes
  RECORD = 2048,            // the maximum number of bytes in a record that this side sends
  OUTPUT_LIMIT = 1 << 20,   // more output than this is dropped, as a network would
  LIFETIME = 3650 * 86400,  // of a certificate, in seconds; peers compare only its hash
};

struct cuv_dtls {
  SSL *ssl;              // NULL once `records` has taken over
  cuv_records *records;  // what the server uses once the client is known to have its last message
  cuv_record_number sent;
  uint64_t read, received;  // the numbers of the record read last, and of the last one with data
  bool is_client, has_data;
  const uint8_t *input;  // one datagram; NULL once OpenSSL has read it
  size_t left;
  cuv_output output;  // datagrams, each behind its length in two bytes
};

// The datagrams that OpenSSL reads and writes

static int read_datagram(BIO *bio, char *buffer, int capacity) {
  cuv_dtls *dtls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (dtls->input == NULL || capacity <= 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  // A datagram is read at once. What does not fit would be no record of a sane peer.
  size_t count = dtls->left < (size_t)capacity ? dtls->left : (size_t)capacity;
  memcpy(buffer, dtls->input, count);
  dtls->input = NULL;
  return (int)count;
}

/// Adds a datagram to the output, and returns where its bytes have to be written. Returns NULL if
/// there is no room for it.
static uint8_t *add_datagram(cuv_dtls *dtls, uint16_t length) {
  uint8_t *start = cuv_output_append(&dtls->output, sizeof length + length, OUTPUT_LIMIT);
  if (start == NULL) return NULL;
  memcpy(start, &length, sizeof length);
  return start + sizeof length;
}

static int write_datagram(BIO *bio, const char *bytes, int count) {
  cuv_dtls *dtls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (count <= 0 || count > UINT16_MAX) return 0;
  cuv_record_note(&dtls->sent, (const uint8_t *)bytes, (size_t)count);
  uint8_t *place = add_datagram(dtls, (uint16_t)count);
  // Like one that the network loses, a datagram without room counts as sent.
  if (place != NULL) memcpy(place, bytes, (size_t)count);
  return count;
}

static long control(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  switch (command) {
    case BIO_CTRL_FLUSH:
    case BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT: return 1;
    case BIO_CTRL_DGRAM_QUERY_MTU:
    case BIO_CTRL_DGRAM_GET_FALLBACK_MTU: return DATAGRAM;
    default: return 0;
  }
}

static BIO_METHOD *memory;

static void prepare(void) {
  memory = cuv_memory_create("carom datagrams", read_datagram, write_datagram, control);
}

static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;

// Identities

static X509 *make_certificate(EVP_PKEY *key) {
  X509 *certificate = X509_new();
  uint64_t serial = 0;
  bool is_ready = certificate != NULL && RAND_bytes((uint8_t *)&serial, sizeof serial) == 1 &&
                  X509_set_version(certificate, X509_VERSION_3) == 1 &&
                  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
                  X509_gmtime_adj(X509_getm_notBefore(certificate), -86400) != NULL &&
                  X509_gmtime_adj(X509_getm_notAfter(certificate), LIFETIME) != NULL &&
                  X509_set_pubkey(certificate, key) == 1;
  X509_NAME *name = is_ready ? X509_get_subject_name(certificate) : NULL;
  is_ready = name != NULL &&
             X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"Carom", -1, -1,
                                        0) == 1 &&
             X509_set_issuer_name(certificate, name) == 1 &&
             X509_sign(certificate, key, EVP_sha256()) > 0;
  if (is_ready) return certificate;
  X509_free(certificate);
  return NULL;
}

static bool write_fingerprint(const X509 *certificate, uint8_t *fingerprint) {
  unsigned length = 0;
  return X509_digest(certificate, EVP_sha256(), fingerprint, &length) == 1 &&
         length == CUV_DTLS_FINGERPRINT;
}

static bool configure(SSL_CTX *context, EVP_PKEY *key, X509 *certificate) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  // Nobody signs these certificates: a client compares the hash of the server's, and a server
  // learns above DTLS who the client is.
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
  // Several records may arrive in one datagram.
  SSL_CTX_set_read_ahead(context, 1);
  return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
         SSL_CTX_set_max_send_fragment(context, RECORD) == 1 &&
         SSL_CTX_set_cipher_list(context, CUV_RECORD_CIPHER) == 1 &&
         SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 &&
         SSL_CTX_use_certificate(context, certificate) == 1 &&
         SSL_CTX_use_PrivateKey(context, key) == 1;
}

int cuv_dtls_identity_create(uint8_t *fingerprint, cuv_dtls_identity **out) {
  if (!cuv_tls_prepare()) return -ENOMEM;
  pthread_once(&is_prepared, prepare);
  if (memory == NULL) return -ENOMEM;
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = key == NULL ? NULL : make_certificate(key);
  SSL_CTX *context = certificate == NULL ? NULL : SSL_CTX_new(DTLS_method());
  bool is_ready = context != NULL && configure(context, key, certificate) &&
                  write_fingerprint(certificate, fingerprint);
  X509_free(certificate);
  EVP_PKEY_free(key);
  ERR_clear_error();
  if (!is_ready) {
    SSL_CTX_free(context);
    return -ENOMEM;
  }
  *out = (cuv_dtls_identity *)context;
  return 0;
}

void cuv_dtls_identity_destroy(cuv_dtls_identity *identity) {
  SSL_CTX_free((SSL_CTX *)identity);
}

// Connections

/// Notes the number of each encrypted record that OpenSSL reads, which may still be a forgery.
static void note_header(int is_sent, int version, int type, const void *bytes, size_t count,
                        SSL *ssl, void *dtls) {
  (void)version;
  (void)ssl;
  if (is_sent || type != SSL3_RT_HEADER || count < CUV_RECORD_HEADER) return;
  ((cuv_dtls *)dtls)->read = cuv_record_sequence(bytes);
}

int cuv_dtls_create(cuv_dtls_identity *identity, bool is_client, cuv_dtls **out) {
  cuv_dtls *dtls = calloc(1, sizeof *dtls);
  if (dtls == NULL) return -ENOMEM;
  dtls->is_client = is_client;
  dtls->ssl = cuv_memory_connect((SSL_CTX *)identity, memory, dtls);
  if (dtls->ssl == NULL) {
    free(dtls);
    return -ENOMEM;
  }
  SSL_set_mtu(dtls->ssl, DATAGRAM);
  SSL_set_msg_callback(dtls->ssl, note_header);
  SSL_set_msg_callback_arg(dtls->ssl, dtls);
  if (is_client) {
    SSL_set_connect_state(dtls->ssl);
    SSL_do_handshake(dtls->ssl);
    ERR_clear_error();
  } else {
    SSL_set_accept_state(dtls->ssl);
  }
  *out = dtls;
  return 0;
}

void cuv_dtls_destroy(cuv_dtls *dtls) {
  SSL_free(dtls->ssl);
  cuv_records_destroy(dtls->records);
  free(dtls->output.bytes);
  free(dtls);
}

bool cuv_dtls_is_established(const cuv_dtls *dtls) {
  return dtls->ssl == NULL || SSL_is_init_finished(dtls->ssl) == 1;
}

bool cuv_dtls_peer_fingerprint(const cuv_dtls *dtls, uint8_t *fingerprint) {
  X509 *certificate = dtls->ssl == NULL ? NULL : SSL_get0_peer_certificate(dtls->ssl);
  return certificate != NULL && write_fingerprint(certificate, fingerprint);
}

void cuv_dtls_feed(cuv_dtls *dtls, const uint8_t *bytes, size_t count) {
  dtls->input = bytes;
  dtls->left = count;
}

/// Takes over from OpenSSL once the client has sent data, which it does only when it has the
/// server's last message of the handshake, so that OpenSSL need not repeat that any more.
static void take_over(cuv_dtls *dtls) {
  if (dtls->is_client || !dtls->has_data || dtls->input != NULL) return;
  dtls->records = cuv_records_create(dtls->ssl, &dtls->sent, dtls->received);
  if (dtls->records == NULL) return;
  SSL_free(dtls->ssl);
  dtls->ssl = NULL;
}

static int read_records(cuv_dtls *dtls, uint8_t *buffer, size_t capacity, size_t *count) {
  while (dtls->left > 0) {
    int result =
        cuv_records_open(dtls->records, &dtls->input, &dtls->left, buffer, capacity, count);
    if (result != 0) return result;
  }
  return 0;
}

int cuv_dtls_read(cuv_dtls *dtls, uint8_t *buffer, size_t capacity, size_t *count) {
  *count = 0;
  if (dtls->records != NULL) return read_records(dtls, buffer, capacity, count);
  ERR_clear_error();
  int result = SSL_read_ex(dtls->ssl, buffer, capacity, count);
  int error = result == 1 ? SSL_ERROR_NONE : SSL_get_error(dtls->ssl, result);
  ERR_clear_error();
  switch (error) {
    case SSL_ERROR_NONE:
      dtls->has_data = true;
      if (dtls->read > dtls->received) dtls->received = dtls->read;
      return 1;
    case SSL_ERROR_WANT_READ: take_over(dtls); return 0;
    case SSL_ERROR_ZERO_RETURN: return -ESHUTDOWN;
    default: return -EPROTO;
  }
}

static int write_record(cuv_dtls *dtls, uint8_t type, const uint8_t *bytes, size_t count) {
  size_t before = dtls->output.count;
  uint8_t *place = add_datagram(dtls, (uint16_t)(count + CUV_RECORD_OVERHEAD));
  if (place == NULL) return 0;  // like a datagram that the network loses
  int status = cuv_records_seal(dtls->records, type, bytes, count, place);
  if (status != 0) dtls->output.count = before;
  return status;
}

int cuv_dtls_write(cuv_dtls *dtls, const uint8_t *bytes, size_t count) {
  if (!cuv_dtls_is_established(dtls)) return -ENOTCONN;
  if (count > RECORD) return -EMSGSIZE;
  if (dtls->records != NULL) return write_record(dtls, CUV_RECORD_DATA, bytes, count);
  ERR_clear_error();
  size_t written = 0;
  int result = SSL_write_ex(dtls->ssl, bytes, count, &written);
  ERR_clear_error();
  return result == 1 ? 0 : -EPROTO;
}

void cuv_dtls_finish(cuv_dtls *dtls) {
  if (dtls->records != NULL) {
    static const uint8_t close_notify[] = {1, 0};
    write_record(dtls, CUV_RECORD_ALERT, close_notify, sizeof close_notify);
    return;
  }
  if (cuv_dtls_is_established(dtls)) SSL_shutdown(dtls->ssl);
  ERR_clear_error();
}

int64_t cuv_dtls_timeout(const cuv_dtls *dtls) {
  struct timeval left = {0};
  if (dtls->ssl == NULL) return -1;
  if (DTLSv1_get_timeout(dtls->ssl, &left) != 1) return -1;
  return (int64_t)left.tv_sec * 1000 + (left.tv_usec + 999) / 1000;
}

int cuv_dtls_handle_timeout(cuv_dtls *dtls) {
  if (dtls->ssl == NULL) return 0;
  ERR_clear_error();
  int result = DTLSv1_handle_timeout(dtls->ssl);
  ERR_clear_error();
  return result < 0 ? -ETIMEDOUT : 0;
}

const uint8_t *cuv_dtls_output(const cuv_dtls *dtls, size_t *offset, size_t *count) {
  uint16_t length = 0;
  if (*offset + sizeof length > dtls->output.count) return NULL;
  memcpy(&length, dtls->output.bytes + *offset, sizeof length);
  const uint8_t *bytes = dtls->output.bytes + *offset + sizeof length;
  *offset += sizeof length + length;
  *count = length;
  return bytes;
}

void cuv_dtls_clear_output(cuv_dtls *dtls) { cuv_output_clear(&dtls->output); }
