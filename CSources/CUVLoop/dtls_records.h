// The records of an established DTLS 1.2 connection whose cipher is AES-128-GCM (RFC 6347 §4.1,
// RFC 5288 §3).
//
// OpenSSL keeps 56 kB for a connection, most of it for the handshake, and spends several
// microseconds on a record. What is left to do after the handshake needs two keys and two counters.
#ifndef CUV_DTLS_RECORDS_H
#define CUV_DTLS_RECORDS_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  CUV_RECORD_HEADER = 13,  // the length of the header of a record, in bytes
  CUV_RECORD_NONCE = 8,    // and of the explicit part of a nonce
  CUV_RECORD_TAG = 16,
  /// The number of bytes by which a record is longer than its content.
  CUV_RECORD_OVERHEAD = CUV_RECORD_HEADER + CUV_RECORD_NONCE + CUV_RECORD_TAG,
};

/// The only cipher suite whose records are known here. Every browser has it (RFC 8827 §6.5).
#define CUV_RECORD_CIPHER "ECDHE-ECDSA-AES128-GCM-SHA256"

typedef struct cuv_records cuv_records;

/// The numbers of the last record of an epoch other than 0 that a side has sent.
typedef struct {
  bool is_known;
  uint64_t sequence;
  uint64_t nonce;  // the explicit part
} cuv_record_number;

/// Notes the numbers of the records in a datagram that OpenSSL has written.
void cuv_record_note(cuv_record_number *number, const uint8_t *datagram, size_t count);

/// Returns the sequence number in the header of a record; 0 if it is not encrypted.
uint64_t cuv_record_sequence(const uint8_t *header);

/// Takes over from OpenSSL after its handshake, on the server's side. `last` is the last record
/// that was sent, after which the numbers continue. The records up to the number `received` have
/// come. Returns NULL if OpenSSL has to go on.
cuv_records *cuv_records_create(SSL *ssl, const cuv_record_number *last, uint64_t received);
void cuv_records_destroy(cuv_records *records);

/// Decrypts the record that begins at `*input` with `*left` bytes after that, and moves both to the
/// next record. Writes up to `capacity` bytes to `buffer`, and their number to `count`. Returns 1
/// for a record with content, 0 for one that is ignored, and -ESHUTDOWN if the peer has ended the
/// connection.
int cuv_records_open(cuv_records *records, const uint8_t **input, size_t *left, uint8_t *buffer,
                     size_t capacity, size_t *count);

/// What a record contains.
enum { CUV_RECORD_ALERT = 21, CUV_RECORD_DATA = 23 };

/// Encrypts a record to `out`, which has room for `count + CUV_RECORD_OVERHEAD` bytes.
int cuv_records_seal(cuv_records *records, uint8_t type, const uint8_t *bytes, size_t count,
                     uint8_t *out);

#endif
