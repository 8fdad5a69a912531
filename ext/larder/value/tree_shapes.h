/*
 * tree_shapes.h — the lists of keys of Hashes that tree_dump.c has written.
 */
#ifndef LARDER_TREE_SHAPES_H
#define LARDER_TREE_SHAPES_H

#include "value/tree_writer.h"

static inline bool tree_shapes_is_plain(VALUE string) {
    int encoding = ENCODING_GET(string);

    return encoding == rb_utf8_encindex() || encoding == rb_ascii8bit_encindex() ||
           encoding == rb_usascii_encindex();
}

/* One of a subclass, or with instance variables, is not the same: that would be lost. */
static inline bool tree_shapes_same_key(VALUE a, VALUE b) {
    return a == b || (!RB_SPECIAL_CONST_P(a) && !RB_SPECIAL_CONST_P(b) && RBASIC_CLASS(a) == rb_cString &&
                      RBASIC_CLASS(b) == rb_cString && RSTRING_LEN(a) == RSTRING_LEN(b) &&
                      ENCODING_GET(a) == ENCODING_GET(b) &&
                      memcmp(RSTRING_PTR(a), RSTRING_PTR(b), (size_t)RSTRING_LEN(a)) == 0 && !rb_ivar_count(b));
}

static inline bool tree_shapes_is(const writer *w, unsigned number, const VALUE *pairs, unsigned count) {
    const VALUE *keys = w->pool + w->shape[number].first;

    if (w->shape[number].count != count) {
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!tree_shapes_same_key(keys[i], pairs[2 * i])) {
            return false;
        }
    }
    return true;
}

/* The shape with these keys, or `shapes`: none. Rows of one kind mostly follow each other. */
static inline unsigned tree_shapes_find(const writer *w, const VALUE *pairs, unsigned count) {
    if (w->last < w->shapes && tree_shapes_is(w, w->last, pairs, count)) {
        return w->last;
    }
    unsigned number = 0;
    while (number < w->shapes && !tree_shapes_is(w, number, pairs, count)) {
        number++;
    }
    return number;
}

typedef struct {
    VALUE *pairs;
    unsigned count, room;
    bool named; /* all keys are Symbols or Strings without a class or encoding of their own */
} tree_shapes_pairs;

static inline bool tree_shapes_is_name(VALUE key) {
    return SYMBOL_P(key) ||
           (!RB_SPECIAL_CONST_P(key) && RBASIC_CLASS(key) == rb_cString && tree_shapes_is_plain(key));
}

static inline int tree_shapes_take_pair(VALUE key, VALUE value, VALUE argument) {
    tree_shapes_pairs *taken = (tree_shapes_pairs *)argument;

    if (taken->count == taken->room) { /* the Hash has grown */
        taken->named = false;
        return ST_STOP;
    }
    taken->named = taken->named && tree_shapes_is_name(key);
    taken->pairs[2 * taken->count] = key;
    taken->pairs[2 * taken->count++ + 1] = value;
    return ST_CONTINUE;
}

static inline bool tree_shapes_allow(const writer *w, size_t count) {
    return count && count <= TREE_SHAPE_KEYS && w->shapes < TREE_SHAPES && w->pooled + count <= TREE_POOL;
}

#endif
