/*
 * utf8.h — is a text well-formed UTF-8 (RFC 3629, section 4)?
 */
#ifndef LARDER_UTF8_H
#define LARDER_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Of a text of any length. Takes about as long for each 64 bytes that are not all ASCII, whatever is in them,
 * where the processor has AVX2, and looks at one character after the other elsewhere. */
bool utf8_is_well_formed(const char *text, size_t bytes);

#endif
