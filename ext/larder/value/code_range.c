/*
 * code_range.c — finds the code range of a text in UTF-8.
 */
#include "value/code_range.h"
#include "value/ascii.h"
#include "value/utf8.h"

/* The bytes, at the beginning of a text, of runs and blocks of ASCII; all of them, if the text is. */
static size_t ascii_bytes(const unsigned char *text, size_t bytes) {
    size_t at = 0;

    while (bytes - at >= ASCII_RUN && ascii_is_run(text + at)) {
        at += ASCII_RUN;
    }
    while (bytes - at >= ASCII_BLOCK && ascii_others(text + at) == 0) {
        at += ASCII_BLOCK;
    }
    return bytes - at < ASCII_BLOCK && ascii_others_at_end(text + at, bytes - at) == 0 ? bytes : at;
}

bool code_range_is_ascii(const char *text, size_t bytes) {
    return ascii_bytes((const unsigned char *)text, bytes) == bytes;
}

int code_range_of_utf8(const char *text, size_t bytes) {
    size_t at = ascii_bytes((const unsigned char *)text, bytes);

    if (at == bytes) {
        return RUBY_ENC_CODERANGE_7BIT;
    }
    return utf8_is_well_formed(text + at, bytes - at) ? RUBY_ENC_CODERANGE_VALID : RUBY_ENC_CODERANGE_UNKNOWN;
}
