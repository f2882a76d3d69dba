#include "cqrcode.h"

#include <qrencode.h>
#include <stddef.h>

/* The largest text of 8-bit characters that a QR code with level M can contain, in bytes. */
enum { TEXT_LIMIT = 2331 };

static uint8_t text[TEXT_LIMIT];
static size_t length; /* may exceed TEXT_LIMIT */
static QRcode *code;

void cqrcode_append(uint8_t byte) {
  if (length < TEXT_LIMIT) text[length] = byte;
  length++;
}

int cqrcode_encode(void) {
  QRcode_free(code);
  code = NULL;
  if (length > 0 && length <= TEXT_LIMIT)
    code = QRcode_encodeData((int)length, text, 0, QR_ECLEVEL_M);
  length = 0;
  return code == NULL ? 0 : code->width;
}

bool cqrcode_is_dark(int x, int y) {
  if (code == NULL || x < 0 || y < 0 || x >= code->width || y >= code->width) return false;
  return (code->data[(size_t)y * (size_t)code->width + (size_t)x] & 1) != 0;
}
