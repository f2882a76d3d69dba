#include "cuvloop.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
  RECORD = 16384,       // bytes of payload in the longest record
  FIRST_OUTPUT = 2048,  // bytes
  KEPT_OUTPUT = 32768,  // the capacity that an empty output keeps, in bytes
};

struct cuv_tls {
  SSL *ssl;
  const uint8_t *input;  // valid until cuv_tls_read has read all of it
  size_t left;
  uint8_t *output;
  size_t count, capacity;
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
  if (tls->count + (size_t)count > tls->capacity) {
    size_t next = tls->capacity == 0 ? FIRST_OUTPUT : tls->capacity;
    while (next < tls->count + (size_t)count) next *= 2;
    uint8_t *larger = realloc(tls->output, next);
    if (larger == NULL) return -1;
    tls->output = larger;
    tls->capacity = next;
  }
  memcpy(tls->output + tls->count, bytes, (size_t)count);
  tls->count += (size_t)count;
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
  memory = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "carom");
  if (memory == NULL) return;
  BIO_meth_set_read(memory, read_input);
  BIO_meth_set_write(memory, write_output);
  BIO_meth_set_ctrl(memory, control);
}

static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;

// Certificates

/// Instead of asking for a passphrase on the terminal, notes that one is needed.
static int refuse_passphrase(char *buffer, int capacity, int writing, void *is_asked) {
  (void)buffer;
  (void)capacity;
  (void)writing;
  *(bool *)is_asked = true;
  return -1;
}

/// Returns what is wrong with a certificate that OpenSSL has just refused to use.
static int find_certificate_fault(void) {
  switch (ERR_GET_REASON(ERR_peek_last_error())) {
    case SSL_R_EE_KEY_TOO_SMALL:
    case SSL_R_CA_KEY_TOO_SMALL:
    case SSL_R_CA_MD_TOO_WEAK: return CUV_CERTIFICATE_WEAK;
    default: return CUV_CERTIFICATE_MALFORMED;
  }
}

static int use_chain(SSL_CTX *context, BIO *file) {
  bool is_asked = false;
  ERR_clear_error();
  X509 *certificate = PEM_read_bio_X509_AUX(file, NULL, refuse_passphrase, &is_asked);
  if (certificate == NULL) return CUV_CERTIFICATE_MALFORMED;
  int status = SSL_CTX_use_certificate(context, certificate) == 1 ? 0 : find_certificate_fault();
  X509_free(certificate);
  ERR_clear_error();
  while (status == 0) {
    X509 *issuer = PEM_read_bio_X509(file, NULL, refuse_passphrase, &is_asked);
    if (issuer == NULL) {
      bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
      return is_end ? 0 : CUV_CERTIFICATE_MALFORMED;
    }
    if (SSL_CTX_add0_chain_cert(context, issuer) == 1) continue;
    status = find_certificate_fault();
    X509_free(issuer);
  }
  return status;
}

static int use_key(SSL_CTX *context, BIO *file) {
  bool is_asked = false;
  EVP_PKEY *key = PEM_read_bio_PrivateKey(file, NULL, refuse_passphrase, &is_asked);
  if (key == NULL) return is_asked ? CUV_CERTIFICATE_KEY_ENCRYPTED : CUV_CERTIFICATE_KEY_MALFORMED;
  bool is_own = X509_check_private_key(SSL_CTX_get0_certificate(context), key) == 1;
  int status = is_own ? 0 : CUV_CERTIFICATE_KEY_MISMATCH;
  if (is_own && SSL_CTX_use_PrivateKey(context, key) != 1) status = CUV_CERTIFICATE_KEY_MALFORMED;
  EVP_PKEY_free(key);
  return status;
}

/// Chooses HTTP/1.1 (RFC 7301 §3.2). A client that offers other protocols alone gets an alert.
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *length,
                           const unsigned char *offered, unsigned int count, void *context) {
  static const unsigned char own[] = "\x08http/1.1";
  (void)ssl;
  (void)context;
  unsigned char *chosen = NULL;
  int status = SSL_select_next_proto(&chosen, length, own, sizeof own - 1, offered, count);
  *out = chosen;
  return status == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *make_context(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context == NULL) return NULL;
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
  bool is_ready = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
                  SSL_CTX_set_num_tickets(context, 0) == 1 &&
                  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
  if (is_ready) return context;
  SSL_CTX_free(context);
  return NULL;
}

int cuv_certificate_create(const uint8_t *chain, size_t chain_count, const uint8_t *key,
                           size_t key_count, cuv_certificate **out) {
  pthread_once(&is_prepared, prepare);
  if (memory == NULL) return -ENOMEM;
  if (chain_count > INT_MAX || key_count > INT_MAX) return -E2BIG;
  SSL_CTX *context = make_context();
  BIO *chain_file = BIO_new_mem_buf(chain, (int)chain_count);
  BIO *key_file = BIO_new_mem_buf(key, (int)key_count);
  int status = context == NULL || chain_file == NULL || key_file == NULL ? -ENOMEM : 0;
  if (status == 0) status = use_chain(context, chain_file);
  if (status == 0) status = use_key(context, key_file);
  BIO_free(chain_file);
  BIO_free(key_file);
  ERR_clear_error();
  if (status != 0) {
    SSL_CTX_free(context);
    return status;
  }
  *out = (cuv_certificate *)context;
  return 0;
}

void cuv_certificate_destroy(cuv_certificate *certificate) {
  SSL_CTX_free((SSL_CTX *)certificate);
}

size_t cuv_certificate_name(const cuv_certificate *certificate, size_t index, char *out,
                            size_t capacity) {
  X509 *own = SSL_CTX_get0_certificate((const SSL_CTX *)certificate);
  GENERAL_NAMES *names = X509_get_ext_d2i(own, NID_subject_alt_name, NULL, NULL);
  size_t length = 0;
  for (int place = 0; place < sk_GENERAL_NAME_num(names); place++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, place);
    if (name->type != GEN_DNS || index-- > 0) continue;
    length = (size_t)ASN1_STRING_length(name->d.dNSName);
    memcpy(out, ASN1_STRING_get0_data(name->d.dNSName), length < capacity ? length : capacity);
    break;
  }
  GENERAL_NAMES_free(names);
  return length;
}

bool cuv_certificate_covers(const cuv_certificate *certificate, const char *name, size_t length) {
  X509 *own = SSL_CTX_get0_certificate((const SSL_CTX *)certificate);
  unsigned flags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
  return length > 0 && X509_check_host(own, name, length, flags, NULL) == 1;
}

// Connections

int cuv_tls_create(cuv_certificate *certificate, cuv_tls **out) {
  cuv_tls *tls = calloc(1, sizeof *tls);
  if (tls == NULL) return -ENOMEM;
  tls->ssl = SSL_new((SSL_CTX *)certificate);
  BIO *bio = tls->ssl == NULL ? NULL : BIO_new(memory);
  if (bio == NULL) {
    SSL_free(tls->ssl);
    free(tls);
    ERR_clear_error();
    return -ENOMEM;
  }
  BIO_set_data(bio, tls);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls->ssl, bio, bio);
  SSL_set_accept_state(tls->ssl);
  *out = tls;
  return 0;
}

void cuv_tls_destroy(cuv_tls *tls) {
  SSL_free(tls->ssl);
  free(tls->output);
  free(tls);
}

bool cuv_tls_is_established(const cuv_tls *tls) { return SSL_is_init_finished(tls->ssl) == 1; }

void cuv_tls_feed(cuv_tls *tls, const uint8_t *bytes, size_t count) {
  tls->input = bytes;
  tls->left = count;
}

int cuv_tls_read(cuv_tls *tls, uint8_t *buffer, size_t capacity, size_t *count) {
  *count = 0;
  while (*count < capacity) {
    size_t step = 0;
    ERR_clear_error();
    int result = SSL_read_ex(tls->ssl, buffer + *count, capacity - *count, &step);
    *count += step;
    if (result == 1) continue;
    int error = SSL_get_error(tls->ssl, result);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) return 0;
    return error == SSL_ERROR_ZERO_RETURN ? -ESHUTDOWN : -EPROTO;
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
  *count = tls->count;
  return tls->output;
}

void cuv_tls_clear_output(cuv_tls *tls) {
  tls->count = 0;
  if (tls->capacity <= KEPT_OUTPUT) return;
  free(tls->output);
  tls->output = NULL;
  tls->capacity = 0;
}
