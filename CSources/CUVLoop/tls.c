#include "internal.h"
#include "tls_memory.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 16384 };  // bytes of payload in the longest record

struct cuv_tls {
  SSL *ssl;
  const uint8_t *input;  // valid until cuv_tls_read has read all of it
  size_t left;
  cuv_output output;
  int fault;  // CUV_TLS_… or the error of a certificate: why a read has failed
};

// The memory that OpenSSL reads from and writes to. OpenSSL stores the beginning of a record that
// has not arrived completely, so all of the input is consumed at once.

static int read_input(BIO *bio, char *buffer, int capacity) {
  cuv_tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (tls->left == 0 || capacity <= 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  size_t count = tls->left < (size_t)capacity ? tls->left : (size_t)capacity;
  memcpy(buffer, tls->input, count);
  tls->input += count;
  tls->left -= count;
  return (int)count;
}

static int write_output(BIO *bio, const char *bytes, int count) {
  cuv_tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (count <= 0) return 0;
  uint8_t *place = cuv_output_append(&tls->output, (size_t)count, SIZE_MAX);
  if (place == NULL) return -1;
  memcpy(place, bytes, (size_t)count);
  return count;
}

static long control(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *memory;

static void prepare(void) {
  // At the end of the process, threads of loops may still use OpenSSL.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
  memory = cuv_memory_create("carom", read_input, write_output, control);
}

static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;

bool cuv_tls_prepare(void) {
  pthread_once(&is_prepared, prepare);
  return memory != NULL;
}

// Connections

static int create(SSL_CTX *context, cuv_tls **out) {
  cuv_tls *tls = calloc(1, sizeof *tls);
  if (tls == NULL) return -ENOMEM;
  tls->ssl = cuv_memory_connect(context, memory, tls);
  if (tls->ssl == NULL) {
    free(tls);
    return -ENOMEM;
  }
  *out = tls;
  return 0;
}

int cuv_tls_create(cuv_certificate *certificate, cuv_tls **out) {
  int status = create((SSL_CTX *)certificate, out);
  if (status == 0) SSL_set_accept_state((*out)->ssl);
  return status;
}

/// Has the connection demand a certificate for this name or address, and name it to the server
/// (RFC 6066 §3: names alone).
static bool expect_host(SSL *ssl, const char *host, bool is_address) {
  if (is_address) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
  SSL_set_hostflags(
      ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

int cuv_tls_create_client(cuv_trust *trust, const char *host, bool is_address, cuv_tls **out) {
  int status = create((SSL_CTX *)trust, out);
  if (status != 0) return status;
  bool is_ready = expect_host((*out)->ssl, host, is_address);
  if (is_ready) {
    SSL_set_connect_state((*out)->ssl);
    // Adds the first message to the output, and waits for the answer.
    is_ready = SSL_get_error((*out)->ssl, SSL_do_handshake((*out)->ssl)) == SSL_ERROR_WANT_READ;
  }
  ERR_clear_error();
  if (is_ready) return 0;
  cuv_tls_destroy(*out);
  return -EINVAL;
}

void cuv_tls_destroy(cuv_tls *tls) {
  SSL_free(tls->ssl);
  free(tls->output.bytes);
  free(tls);
}

bool cuv_tls_is_established(const cuv_tls *tls) { return SSL_is_init_finished(tls->ssl) == 1; }

void cuv_tls_feed(cuv_tls *tls, const uint8_t *bytes, size_t count) {
  tls->input = bytes;
  tls->left = count;
}

/// Returns why a read has failed, of which the errors of OpenSSL's queue tell.
static int find_fault(SSL *ssl) {
  int reason = ERR_GET_REASON(ERR_peek_last_error());
  switch (reason) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED: return (int)SSL_get_verify_result(ssl);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG: return CUV_TLS_MISSING;
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_UNSUPPORTED_PROTOCOL: return CUV_TLS_INCOMPATIBLE;
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return CUV_TLS_CERTIFICATE_REQUIRED;
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED: return CUV_TLS_CERTIFICATE_REFUSED;
    default: return CUV_TLS_VIOLATION;
  }
}

int cuv_tls_fault(const cuv_tls *tls) { return tls->fault; }

int cuv_tls_read(cuv_tls *tls, uint8_t *buffer, size_t capacity, size_t *count) {
  *count = 0;
  while (*count < capacity) {
    size_t step = 0;
    ERR_clear_error();
    int result = SSL_read_ex(tls->ssl, buffer + *count, capacity - *count, &step);
    *count += step;
    if (result == 1) continue;
    int error = SSL_get_error(tls->ssl, result);
    bool has_failed = error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN;
    if (has_failed) tls->fault = find_fault(tls->ssl);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) return 0;
    return has_failed ? -EPROTO : -ESHUTDOWN;
  }
  return 1;
}

int cuv_tls_write(cuv_tls *tls, const uint8_t *bytes, size_t count) {
  if (!cuv_tls_is_established(tls)) return -ENOTCONN;
  while (count > 0) {
    size_t step = 0;
    ERR_clear_error();
    int result = SSL_write_ex(tls->ssl, bytes, count < RECORD ? count : RECORD, &step);
    ERR_clear_error();
    if (result != 1) return -EPROTO;
    bytes += step;
    count -= step;
  }
  return 0;
}

void cuv_tls_finish(cuv_tls *tls) {
  if (cuv_tls_is_established(tls)) SSL_shutdown(tls->ssl);
  ERR_clear_error();
}

const uint8_t *cuv_tls_output(const cuv_tls *tls, size_t *count) {
  *count = tls->output.count;
  return tls->output.bytes;
}

void cuv_tls_clear_output(cuv_tls *tls) { cuv_output_clear(&tls->output); }
