/*
 * tree_writer.h — the output buffer of tree_dump.c, and values that contain no others.
 *
 * The bytes go into a Ruby String, which is freed if memory runs out. Remembered
 * objects are on this C stack, where garbage collection neither frees nor moves them.
 */
#ifndef LARDER_TREE_WRITER_H
#define LARDER_TREE_WRITER_H

#include "value/tree_again.h"

#include <math.h>
#include <ruby/encoding.h>
#include <string.h>

/* A limit for lists that contain the same lists again and again. */
#define MAX_BYTES ((size_t)64 << 20)
#define FIRST_BYTES 240

typedef struct {
    VALUE out;
    char *at, *end;
    unsigned depth, shapes, symbols, pooled;
    unsigned last; /* the shape that was used last */
    unsigned nans; /* that were written */
    unsigned steps;
    VALUE natural;   /* see tree_dump() */
    bool repeated;   /* an object was seen already */
    tree_seen seen;  /* the objects, if they are not numbered */
    VALUE extents;   /* by object, nil while it has not ended; nil: they are not numbered */
    uint64_t number; /* of the next */
    tree_reach reach;
    VALUE taken;   /* the parts that Larder::Tree has made of objects; nil: none */
    VALUE records; /* what Larder::Tree remembers of records */
    struct {
        uint16_t first, count;
    } shape[TREE_SHAPES];
    VALUE pool[TREE_POOL]; /* the keys of all shapes */
    VALUE symbol[TREE_SYMBOLS];
} writer;

/* ---- bytes ---- */

static inline bool grow(writer *w, size_t bytes) {
    size_t used = (size_t)(w->at - RSTRING_PTR(w->out));

    if (used + bytes > MAX_BYTES) {
        return false;
    }
    rb_str_set_len(w->out, (long)used);
    rb_str_modify_expand(w->out, (long)(bytes > used ? bytes : used) + FIRST_BYTES);
    w->at = RSTRING_PTR(w->out) + used;
    w->end = RSTRING_PTR(w->out) + rb_str_capacity(w->out);
    return true;
}

static inline bool room(writer *w, size_t bytes) { return (size_t)(w->end - w->at) >= bytes || grow(w, bytes); }

static inline size_t written(const writer *w) { return (size_t)(w->at - RSTRING_PTR(w->out)); }

/* Lets signals, timeouts and other threads in. */
static inline void step(writer *w) {
    if (++w->steps % STEPS == 0) {
        rb_thread_check_ints();
    }
}

static inline void put(writer *w, unsigned byte) { *w->at++ = (char)byte; }

static inline void put_count(writer *w, size_t count) {
    for (; count > 127; count >>= 7) {
        put(w, (unsigned)(count & 127) | 128);
    }
    put(w, (unsigned)count);
}

static inline void put_number(writer *w, uint64_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        put(w, (unsigned)(number >> 8 * i) & 255);
    }
}

/* The pointer is taken last: making room may collect garbage, and move the String. */
__attribute__((always_inline)) static inline bool put_tagged(writer *w, unsigned tag, VALUE string) {
    size_t size = (size_t)RSTRING_LEN(string);

    if (!room(w, size + 12)) {
        return false;
    }
    put(w, tag);
    if (tag >= TREE_NIL) {
        put_count(w, size);
    }
    memcpy(w->at, RSTRING_PTR(string), size);
    w->at += size;
    return true;
}

/* ---- values that contain no others ---- */

static inline bool dump_integer(writer *w, int64_t number) {
    if (!room(w, 9)) {
        return false;
    }
    if (number >= -32 && number <= 127) {
        put(w, (unsigned)number & 255);
        return true;
    }
    unsigned wide = number == (int8_t)number    ? 0
                    : number == (int16_t)number ? 1
                    : number == (int32_t)number ? 2
                                                : 3;
    put(w, TREE_INT8 + wide);
    put_number(w, (uint64_t)number, 1u << wide);
    return true;
}

static inline bool dump_double(writer *w, double number) {
    uint64_t bits;

    if (!room(w, 9)) {
        return false;
    }
    memcpy(&bits, &number, sizeof bits);
    w->nans += isnan(number) ? 1 : 0;
    put(w, TREE_DOUBLE);
    put_number(w, bits, 8);
    return true;
}

static inline bool dump_string(writer *w, VALUE string) {
    int encoding = ENCODING_GET(string);
    size_t size = (size_t)RSTRING_LEN(string);

    if (encoding == rb_utf8_encindex()) {
        return put_tagged(w, size > 31 ? TREE_UTF8 : TREE_TEXT | (unsigned)size, string);
    }
    if (encoding == rb_ascii8bit_encindex()) {
        return put_tagged(w, TREE_BINARY, string);
    }
    return encoding == rb_usascii_encindex() && put_tagged(w, TREE_USASCII, string);
}

static inline bool dump_symbol(writer *w, VALUE symbol) {
    for (unsigned i = 0; i < w->symbols; i++) {
        if (w->symbol[i] == symbol) {
            if (!room(w, 3)) {
                return false;
            }
            put(w, TREE_SYMBOL_AGAIN);
            put_count(w, i);
            return true;
        }
    }
    VALUE name = rb_sym2str(symbol);
    int encoding = ENCODING_GET(name);
    if (w->symbols < TREE_SYMBOLS) {
        w->symbol[w->symbols++] = symbol;
    }
    return (encoding == rb_utf8_encindex() || encoding == rb_usascii_encindex()) &&
           put_tagged(w, TREE_SYMBOL, name);
}

static inline bool dump_constant(writer *w, unsigned tag) {
    if (!room(w, 1)) {
        return false;
    }
    put(w, tag);
    return true;
}

#endif
