/*
 * tree_key.h — the Strings and Symbols that are keys of Hashes.
 */
#ifndef LARDER_TREE_KEY_H
#define LARDER_TREE_KEY_H

#include <ruby.h>

void tree_key_init(void);

/* The one frozen String that Ruby has of a text in UTF-8 of at most 31 bytes. */
VALUE tree_key(const char *bytes, size_t size);

/* The Symbol of that name; Qundef: it is no text in UTF-8. */
VALUE tree_key_symbol(const char *bytes, size_t size);

#endif
