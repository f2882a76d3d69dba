#include "dtls_records.h"

#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

enum {
  KEY = 16,           // the length of a key, in bytes
  SALT = 4,           // the length of the part of a nonce that is kept secret
  IV = 12,            // the length of a nonce
  WINDOW = 64,        // the number of sequence numbers that the replay window covers
  VERSION_MAJOR = 0xFE,  // DTLS 1.2
  VERSION_MINOR = 0xFD,
};

/// The highest sequence number of an epoch. The channel ends long before it is reached.
static const uint64_t last_sequence = (1ull << 48) - 1;

struct cuv_records {
  EVP_CIPHER_CTX *opener, *sealer;
  uint8_t opening_salt[SALT], sealing_salt[SALT];
  cuv_record_number sent;
  // The highest sequence number that has come, and a bit for each of the WINDOW numbers up to it
  // (RFC 6347 §4.1.2.6).
  uint64_t highest, window;
};

static uint64_t read_number(const uint8_t *bytes, size_t count) {
  uint64_t number = 0;
  for (size_t at = 0; at < count; at++) number = number << 8 | bytes[at];
  return number;
}

static void write_number(uint8_t *bytes, size_t count, uint64_t number) {
  for (size_t at = count; at > 0; at--, number >>= 8) bytes[at - 1] = (uint8_t)number;
}

uint64_t cuv_record_sequence(const uint8_t *header) {
  return read_number(header + 3, 2) == 0 ? 0 : read_number(header + 5, 6);
}

void cuv_record_note(cuv_record_number *number, const uint8_t *datagram, size_t count) {
  while (count >= CUV_RECORD_HEADER + CUV_RECORD_NONCE) {
    size_t length = (size_t)read_number(datagram + 11, 2);
    if (length > count - CUV_RECORD_HEADER) return;
    if (read_number(datagram + 3, 2) > 0) {
      number->is_known = true;
      number->sequence = cuv_record_sequence(datagram);
      number->nonce = read_number(datagram + CUV_RECORD_HEADER, CUV_RECORD_NONCE);
    }
    datagram += CUV_RECORD_HEADER + length;
    count -= CUV_RECORD_HEADER + length;
  }
}

/// Derives the keys of both sides (RFC 5246 §6.3).
static bool derive(SSL *ssl, uint8_t *out, size_t count) {
  uint8_t secret[SSL_MAX_MASTER_KEY_LENGTH];
  static const char label[] = "key expansion";
  enum { LABEL = sizeof label - 1 };
  uint8_t seed[LABEL + 2 * SSL3_RANDOM_SIZE];
  memcpy(seed, label, LABEL);
  size_t length = SSL_SESSION_get_master_key(SSL_get0_session(ssl), secret, sizeof secret);
  bool is_ready =
      SSL_get_server_random(ssl, seed + LABEL, SSL3_RANDOM_SIZE) == SSL3_RANDOM_SIZE &&
      SSL_get_client_random(ssl, seed + LABEL + SSL3_RANDOM_SIZE, SSL3_RANDOM_SIZE) ==
          SSL3_RANDOM_SIZE;
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, OSSL_KDF_NAME_TLS1_PRF, NULL);
  EVP_KDF_CTX *context = kdf == NULL ? NULL : EVP_KDF_CTX_new(kdf);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA2-256", 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, secret, length),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed, sizeof seed),
      OSSL_PARAM_construct_end(),
  };
  is_ready = is_ready && context != NULL && EVP_KDF_derive(context, out, count, parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  OPENSSL_cleanse(secret, sizeof secret);
  return is_ready;
}

cuv_records *cuv_records_create(SSL *ssl, const cuv_record_number *last, uint64_t received) {
  const char *cipher = SSL_get_cipher_name(ssl);
  if (!last->is_known || strcmp(cipher, CUV_RECORD_CIPHER) != 0) return NULL;
  cuv_records *records = calloc(1, sizeof *records);
  if (records == NULL) return NULL;
  uint8_t keys[2 * KEY + 2 * SALT];  // each first the client's, then the server's
  records->opener = EVP_CIPHER_CTX_new();
  records->sealer = EVP_CIPHER_CTX_new();
  const EVP_CIPHER *aes = EVP_aes_128_gcm();
  bool is_ready = records->opener != NULL && records->sealer != NULL &&
                  derive(ssl, keys, sizeof keys) &&
                  EVP_DecryptInit_ex(records->opener, aes, NULL, keys, NULL) == 1 &&
                  EVP_EncryptInit_ex(records->sealer, aes, NULL, keys + KEY, NULL) == 1;
  memcpy(records->opening_salt, keys + 2 * KEY, SALT);
  memcpy(records->sealing_salt, keys + 2 * KEY + SALT, SALT);
  OPENSSL_cleanse(keys, sizeof keys);
  records->sent = *last;
  records->highest = received;
  records->window = UINT64_MAX;
  ERR_clear_error();
  if (is_ready) return records;
  cuv_records_destroy(records);
  return NULL;
}

void cuv_records_destroy(cuv_records *records) {
  if (records == NULL) return;
  EVP_CIPHER_CTX_free(records->opener);
  EVP_CIPHER_CTX_free(records->sealer);
  free(records);
}

static bool has_come(const cuv_records *records, uint64_t sequence) {
  if (sequence > records->highest) return false;
  uint64_t age = records->highest - sequence;
  return age >= WINDOW || (records->window >> age & 1) != 0;
}

static void mark(cuv_records *records, uint64_t sequence) {
  if (sequence > records->highest) {
    uint64_t step = sequence - records->highest;
    records->window = step >= WINDOW ? 0 : records->window << step;
    records->highest = sequence;
  }
  records->window |= 1ull << (records->highest - sequence);
}

/// Sets the nonce and what is authenticated beside the content (RFC 5246 §6.2.3.3): the number, the
/// type and the version of the record, and the length of its content.
static bool begin(EVP_CIPHER_CTX *context, const uint8_t *salt, const uint8_t *header,
                  const uint8_t *nonce, size_t content) {
  uint8_t iv[IV], known[CUV_RECORD_HEADER];
  memcpy(iv, salt, SALT);
  memcpy(iv + SALT, nonce, CUV_RECORD_NONCE);
  memcpy(known, header + 3, 8);
  memcpy(known + 8, header, 3);
  write_number(known + 11, 2, content);
  int length;
  return EVP_CipherInit_ex(context, NULL, NULL, NULL, iv, -1) == 1 &&
         EVP_CipherUpdate(context, NULL, &length, known, sizeof known) == 1;
}

int cuv_records_open(cuv_records *records, const uint8_t **input, size_t *left, uint8_t *buffer,
                     size_t capacity, size_t *count) {
  const uint8_t *header = *input;
  *count = 0;
  size_t length = *left < CUV_RECORD_HEADER ? SIZE_MAX : (size_t)read_number(header + 11, 2);
  if (*left < CUV_RECORD_HEADER || length > *left - CUV_RECORD_HEADER) {
    *left = 0;  // what follows cannot be told apart
    return 0;
  }
  *input += CUV_RECORD_HEADER + length;
  *left -= CUV_RECORD_HEADER + length;
  uint64_t sequence = read_number(header + 5, 6);
  bool is_expected = header[1] == VERSION_MAJOR && header[2] == VERSION_MINOR &&
                     read_number(header + 3, 2) == 1 &&
                     length > CUV_RECORD_NONCE + CUV_RECORD_TAG && !has_come(records, sequence);
  size_t content = length - CUV_RECORD_NONCE - CUV_RECORD_TAG;
  if (!is_expected || content > capacity) return 0;
  const uint8_t *nonce = header + CUV_RECORD_HEADER;
  const uint8_t *body = nonce + CUV_RECORD_NONCE;
  int part, rest;
  EVP_CIPHER_CTX *opener = records->opener;
  bool is_authentic = begin(opener, records->opening_salt, header, nonce, content) &&
                      EVP_DecryptUpdate(opener, buffer, &part, body, (int)content) == 1 &&
                      EVP_CIPHER_CTX_ctrl(opener, EVP_CTRL_AEAD_SET_TAG, CUV_RECORD_TAG,
                                          (void *)(body + content)) == 1 &&
                      EVP_DecryptFinal_ex(opener, buffer + part, &rest) == 1;
  if (!is_authentic) {
    ERR_clear_error();
    return 0;
  }
  mark(records, sequence);
  if (header[0] == CUV_RECORD_ALERT && content == 2) {
    enum { FATAL = 2, CLOSE_NOTIFY = 0 };
    return buffer[0] == FATAL || buffer[1] == CLOSE_NOTIFY ? -ESHUTDOWN : 0;
  }
  if (header[0] != CUV_RECORD_DATA) return 0;  // a repetition of the handshake
  *count = content;
  return 1;
}

int cuv_records_seal(cuv_records *records, uint8_t type, const uint8_t *bytes, size_t count,
                     uint8_t *out) {
  if (records->sent.sequence >= last_sequence) return -EPROTO;
  records->sent.sequence++;
  records->sent.nonce++;
  uint8_t *nonce = out + CUV_RECORD_HEADER, *body = nonce + CUV_RECORD_NONCE;
  out[0] = type;
  out[1] = VERSION_MAJOR;
  out[2] = VERSION_MINOR;
  write_number(out + 3, 2, 1);
  write_number(out + 5, 6, records->sent.sequence);
  write_number(out + 11, 2, CUV_RECORD_NONCE + count + CUV_RECORD_TAG);
  write_number(nonce, CUV_RECORD_NONCE, records->sent.nonce);
  EVP_CIPHER_CTX *sealer = records->sealer;
  int part, rest;
  bool is_ready = begin(sealer, records->sealing_salt, out, nonce, count) &&
                  EVP_EncryptUpdate(sealer, body, &part, bytes, (int)count) == 1 &&
                  EVP_EncryptFinal_ex(sealer, body + part, &rest) == 1 &&
                  EVP_CIPHER_CTX_ctrl(sealer, EVP_CTRL_AEAD_GET_TAG, CUV_RECORD_TAG,
                                      body + count) == 1;
  if (is_ready) return 0;
  ERR_clear_error();
  return -EPROTO;
}
