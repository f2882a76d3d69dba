// The memory through which OpenSSL's connections exchange bytes with their owners, in place of
// sockets.
#ifndef CUV_TLS_MEMORY_H
#define CUV_TLS_MEMORY_H

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What a connection has to send. It is sent as soon as it is written, so the connections of a
/// thread share the memory for it, one at a time, and an idle connection needs none.
typedef struct {
  uint8_t *bytes;
  size_t count, capacity;
} cuv_output;

/// Returns where the next `count` bytes of the output have to be written, or NULL if there is no
/// memory or the output would be longer than `limit`.
uint8_t *cuv_output_append(cuv_output *output, size_t count, size_t limit);
/// Removes everything, and gives the memory back.
void cuv_output_clear(cuv_output *output);

/// Makes a kind of BIO that reads and writes with these functions. Returns NULL if there is no
/// memory.
BIO_METHOD *cuv_memory_create(const char *name, int (*read)(BIO *, char *, int),
                              int (*write)(BIO *, const char *, int),
                              long (*control)(BIO *, int, long, void *));
/// Creates a connection that reads and writes through a BIO of this kind, whose functions find
/// `owner` with `BIO_get_data`. Returns NULL if there is no memory.
SSL *cuv_memory_connect(SSL_CTX *context, BIO_METHOD *memory, void *owner);

#endif
