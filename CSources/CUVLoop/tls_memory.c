#include "tls_memory.h"

#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>

enum { LENT = 32768 };  // the capacity of the output that a thread lends, in bytes

// The output that a thread lends to one of its connections at a time.
static pthread_key_t lent_output;
static bool has_key;
static pthread_once_t is_prepared = PTHREAD_ONCE_INIT;

static void prepare(void) { has_key = pthread_key_create(&lent_output, free) == 0; }

/// Gives a connection the output that its thread lends, or a larger one than it has.
static bool grow(cuv_output *output, size_t least) {
  uint8_t *lent = output->capacity == 0 ? pthread_getspecific(lent_output) : NULL;
  if (lent != NULL && least <= LENT && pthread_setspecific(lent_output, NULL) == 0) {
    output->bytes = lent;
    output->capacity = LENT;
    return true;
  }
  size_t next = output->capacity == 0 ? LENT : output->capacity;
  while (next < least) next *= 2;
  uint8_t *larger = realloc(output->bytes, next);
  if (larger == NULL) return false;
  output->bytes = larger;
  output->capacity = next;
  return true;
}

uint8_t *cuv_output_append(cuv_output *output, size_t count, size_t limit) {
  size_t least = output->count + count;
  if (least > limit || (least > output->capacity && !grow(output, least))) return NULL;
  uint8_t *place = output->bytes + output->count;
  output->count = least;
  return place;
}

void cuv_output_clear(cuv_output *output) {
  bool is_lent = output->capacity == LENT && pthread_getspecific(lent_output) == NULL;
  if (!is_lent || pthread_setspecific(lent_output, output->bytes) != 0) free(output->bytes);
  *output = (cuv_output){0};
}

BIO_METHOD *cuv_memory_create(const char *name, int (*read)(BIO *, char *, int),
                              int (*write)(BIO *, const char *, int),
                              long (*control)(BIO *, int, long, void *)) {
  pthread_once(&is_prepared, prepare);
  BIO_METHOD *memory =
      has_key ? BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, name) : NULL;
  if (memory == NULL) return NULL;
  BIO_meth_set_read(memory, read);
  BIO_meth_set_write(memory, write);
  BIO_meth_set_ctrl(memory, control);
  return memory;
}

SSL *cuv_memory_connect(SSL_CTX *context, BIO_METHOD *memory, void *owner) {
  SSL *ssl = SSL_new(context);
  BIO *bio = ssl == NULL ? NULL : BIO_new(memory);
  if (bio == NULL) {
    SSL_free(ssl);
    ERR_clear_error();
    return NULL;
  }
  BIO_set_data(bio, owner);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  return ssl;
}
