/* Encodes a text as a QR code, by libqrencode. The text is passed byte by byte, and the code is
   read module by module, so that callers need no pointers. A process has one code at a time. All
   functions must be called on one thread at a time. */
#ifndef CQRCODE_H
#define CQRCODE_H

#include <stdbool.h>
#include <stdint.h>

/* Appends a byte to the text. */
void cqrcode_append(uint8_t byte);

/* Encodes the text with error correction level M, which restores 15 % of the code, and begins a
   new text. Returns the number of modules in each row of the code. Returns 0 if the text is empty
   or too long for a QR code, or if there is no memory. */
int cqrcode_encode(void);

/* Returns whether the module in column `x` of row `y` is dark. Modules outside the code are
   light. */
bool cqrcode_is_dark(int x, int y);

#endif
