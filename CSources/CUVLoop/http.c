#include "cuvloop.h"

#include <errno.h>
#include <http_parser.h>
#include <string.h>

// http_parser reports each header field and value as a pointer into its input, which is the whole
// head. The positions are stored as ranges of that input.
typedef struct {
  const char *start;
  cuv_head *head;
  cuv_field *fields;
  size_t capacity;
  bool complete, too_many;
} reader;

static cuv_range range_of(const reader *reader, const char *at, size_t length) {
  return (cuv_range){(uint32_t)(at - reader->start), (uint32_t)length};
}

static int on_target(http_parser *parser, const char *at, size_t length) {
  reader *reader = parser->data;
  reader->head->target = range_of(reader, at, length);
  return 0;
}

static int on_name(http_parser *parser, const char *at, size_t length) {
  reader *reader = parser->data;
  if (reader->head->field_count == reader->capacity) {
    reader->too_many = true;
    return 1;
  }
  reader->fields[reader->head->field_count++] =
      (cuv_field){.name = range_of(reader, at, length)};
  return 0;
}

static int on_value(http_parser *parser, const char *at, size_t length) {
  reader *reader = parser->data;
  reader->fields[reader->head->field_count - 1].value = range_of(reader, at, length);
  return 0;
}

static int on_complete(http_parser *parser) {
  reader *reader = parser->data;
  reader->complete = true;
  reader->head->major = parser->http_major;
  reader->head->minor = parser->http_minor;
  reader->head->status = parser->type == HTTP_RESPONSE ? parser->status_code : 0;
  reader->head->method = parser->method == HTTP_GET    ? CUV_METHOD_GET
                         : parser->method == HTTP_HEAD ? CUV_METHOD_HEAD
                                                       : CUV_METHOD_OTHER;
  return 1;  // the body, if any, is not parsed
}

static int parse(enum http_parser_type type, const uint8_t *bytes, size_t count, cuv_field *fields,
                 size_t capacity, cuv_head *out) {
  memset(out, 0, sizeof *out);
  if (count > UINT32_MAX) return -E2BIG;
  reader reader = {.start = (const char *)bytes, .head = out, .fields = fields,
                   .capacity = capacity};
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_url = on_target;
  settings.on_header_field = on_name;
  settings.on_header_value = on_value;
  settings.on_headers_complete = on_complete;
  http_parser parser;
  http_parser_init(&parser, type);
  parser.data = &reader;
  http_parser_execute(&parser, &settings, reader.start, count);
  if (reader.too_many) return -E2BIG;
  return reader.complete ? 0 : -EPROTO;
}

int cuv_head_parse(const uint8_t *bytes, size_t count, cuv_field *fields, size_t capacity,
                   cuv_head *out) {
  return parse(HTTP_REQUEST, bytes, count, fields, capacity, out);
}

int cuv_response_parse(const uint8_t *bytes, size_t count, cuv_field *fields, size_t capacity,
                       cuv_head *out) {
  return parse(HTTP_RESPONSE, bytes, count, fields, capacity, out);
}
