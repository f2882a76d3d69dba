#include "internal.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

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

static SSL_CTX *make_context(const SSL_METHOD *method) {
  SSL_CTX *context = SSL_CTX_new(method);
  if (context == NULL) return NULL;
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  bool is_ready = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
                  SSL_CTX_set_num_tickets(context, 0) == 1 &&
                  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
  if (is_ready) return context;
  SSL_CTX_free(context);
  return NULL;
}

static int use_certificate(SSL_CTX *context, const uint8_t *chain, size_t chain_count,
                           const uint8_t *key, size_t key_count) {
  if (chain_count > INT_MAX || key_count > INT_MAX) return -E2BIG;
  BIO *chain_file = BIO_new_mem_buf(chain, (int)chain_count);
  BIO *key_file = BIO_new_mem_buf(key, (int)key_count);
  int status = chain_file == NULL || key_file == NULL ? -ENOMEM : 0;
  if (status == 0) status = use_chain(context, chain_file);
  if (status == 0) status = use_key(context, key_file);
  BIO_free(chain_file);
  BIO_free(key_file);
  ERR_clear_error();
  return status;
}

int cuv_certificate_create(const uint8_t *chain, size_t chain_count, const uint8_t *key,
                           size_t key_count, cuv_certificate **out) {
  SSL_CTX *context = cuv_tls_prepare() ? make_context(TLS_server_method()) : NULL;
  if (context == NULL) return -ENOMEM;
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
  int status = use_certificate(context, chain, chain_count, key, key_count);
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

// Whom a client trusts

/// Trusts each certificate of a file in the PEM format, also one that is no authority's own.
static int trust_file(SSL_CTX *context, const uint8_t *bytes, size_t count) {
  if (count > INT_MAX) return -E2BIG;
  BIO *file = BIO_new_mem_buf(bytes, (int)count);
  if (file == NULL) return -ENOMEM;
  X509_STORE *store = SSL_CTX_get_cert_store(context);
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  bool is_asked = false;
  int status = CUV_CERTIFICATE_MALFORMED;
  ERR_clear_error();
  X509 *certificate = NULL;
  while ((certificate = PEM_read_bio_X509(file, NULL, refuse_passphrase, &is_asked)) != NULL) {
    status = X509_STORE_add_cert(store, certificate) == 1 ? 0 : -ENOMEM;
    X509_free(certificate);
    if (status != 0) break;
  }
  bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (status == 0 && !is_end) status = CUV_CERTIFICATE_MALFORMED;
  BIO_free(file);
  ERR_clear_error();
  return status;
}

int cuv_trust_create(const uint8_t *authorities, size_t count, cuv_trust **out) {
  SSL_CTX *context = cuv_tls_prepare() ? make_context(TLS_client_method()) : NULL;
  if (context == NULL) return -ENOMEM;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  int status = 0;
  if (authorities != NULL) {
    status = trust_file(context, authorities, count);
  } else if (SSL_CTX_set_default_verify_paths(context) != 1) {
    status = -ENOMEM;
  }
  ERR_clear_error();
  if (status != 0) {
    SSL_CTX_free(context);
    return status;
  }
  *out = (cuv_trust *)context;
  return 0;
}

int cuv_trust_present(cuv_trust *trust, const uint8_t *chain, size_t chain_count,
                      const uint8_t *key, size_t key_count) {
  return use_certificate((SSL_CTX *)trust, chain, chain_count, key, key_count);
}

void cuv_trust_destroy(cuv_trust *trust) { SSL_CTX_free((SSL_CTX *)trust); }
