#!/usr/bin/python3
"""Reads QR codes as a phone does: prints the text of each code in the picture on standard input, which is a
PPM (P6), or lines of ASCII text in which '##' is a dark module."""
import sys
import zbar

SCALE = 8  # pixels of a module of text


def read_pixmap(data):
    magic, width, height, _ = data.split(maxsplit=4)[:4]
    assert magic == b"P6"
    width, height = int(width), int(height)
    pixels = data[-3 * width * height:]
    return width, height, bytes(pixels[1::3])  # the green channel


def read_text(text):
    lines = text.split("\n")
    columns = max(len(line) for line in lines) // 2 + 4  # the margin on the right
    rows = []
    for line in lines:
        dark = [line[2 * x:2 * x + 2] == "##" for x in range(columns)]
        rows += [b"".join((b"\0" if d else b"\xff") * SCALE for d in dark)] * SCALE
    return SCALE * columns, len(rows), b"".join(rows)


data = sys.stdin.buffer.read()
width, height, gray = read_pixmap(data) if data[:2] == b"P6" else read_text(data.decode())
image = zbar.Image(width, height, "Y800", gray)
zbar.ImageScanner().scan(image)
for symbol in image:
    print(symbol.data)
