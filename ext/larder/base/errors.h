/*
 * errors.h — exceptions for the engine's status codes.
 */
#ifndef LARDER_ERRORS_H
#define LARDER_ERRORS_H

#include <ruby.h>
#include <stdbool.h>

#include "larder.h"

/* Bytes of a key that a message shows. */
#define GLUE_SHOWN_KEY_BYTES 48

void glue_errors_init(VALUE larder_module);

/* Was a store refused, which drops the old value: busy, full or damaged? */
bool glue_is_refusal(larder_status status);

/* Is the key or the value too long for any such file? */
bool glue_is_too_long(larder_status status);

/* Was there no room, for any item or for a pinned one? */
bool glue_is_full(larder_status status);

NORETURN(void glue_raise(larder_status status));

/* The same for a call about one key, which the message shows. */
NORETURN(void glue_raise_for_key(larder_status status, VALUE key));

/* As above, for a value of more bytes than the cache takes: the message has them and the limit, too. */
NORETURN(void glue_raise_too_large(const larder *engine, VALUE key, size_t bytes, bool pin));

/* The exception for a file that could not be opened; the same, raised. */
VALUE glue_open_error(const larder_error *error, const char *path);
NORETURN(void glue_raise_open(const larder_error *error, const char *path));

/*
 * Raises SystemStackError if less than some 16 KB are left of the machine stack, as Ruby does before it calls a
 * method of its own in C. A call of the engine takes less (engine/test/stack_test.c). Beyond the end a signal
 * leaves the call wherever it is: with a lock of malloc, at which all threads then wait, or with one of the file.
 * To be called before the engine, and at each level of a value.
 */
void glue_check_stack(void);

/* The same for 64 KB, which a call takes at most that opens, attaches, resizes or closes a file. */
void glue_check_deep_stack(void);

#endif
