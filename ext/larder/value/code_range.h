/*
 * code_range.h — what Ruby finds out about a String before it joins, compares or searches it: its code range.
 *
 * Ruby looks at each character by a call through its encoding. This looks at 64 bytes and more at once. A String
 * that was read has its code range, so a view that appends it to a page does not scan it.
 */
#ifndef LARDER_CODE_RANGE_H
#define LARDER_CODE_RANGE_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <stdbool.h>
#include <stddef.h>

/* The code range of a text in UTF-8 (RFC 3629, section 4). A broken text is RUBY_ENC_CODERANGE_UNKNOWN. */
int code_range_of_utf8(const char *text, size_t bytes);

/* Is all of the text ASCII? Ends at the first block of bytes that is not. */
bool code_range_is_ascii(const char *text, size_t bytes);

#endif
