/*
 * tree_format.h — the bytes of Arrays, Hashes and of what Rails applications put into them.
 *
 * Besides text, a Rails application mostly caches lists and hashes of text and
 * numbers: rows, settings, answers of an API. They need none of what makes Marshal
 * slow, such as links between objects and hooks. Times, decimals, sets, records
 * and other objects are taken apart by Ruby code (tree_objects.h) into such values.
 *
 *   00..7F   0 to 127                        E0..FF   -32 to -1
 *   80..9F   a String in UTF-8 of 0 to 31 bytes, which follow
 *   A0 nil   A1 false   A2 true
 *   A3..A6   an integer of 1, 2, 4, 8 bytes  A7       a double
 *   A8..AA   a String in UTF-8, binary, US-ASCII: length, bytes
 *   AB       a Symbol: length, bytes         AC       a Symbol seen before: number
 *   AD       an Array: count, values
 *   AE       a Hash: count, keys and values
 *   AF       a Hash of a new shape: count, keys, then values
 *   B0       a Hash of a shape seen before: number, values
 *   B1       any other object: code (tree_objects.h), then its parts, a value
 *   B2       first byte of all: objects have numbers  B3  one seen before: number
 *   C0..DF   the same, of the shapes 0 to 31
 *
 * Lengths, counts and numbers are LEB128 (seven bits a byte, the lowest first);
 * integers and doubles are little-endian. A shape is the keys of a Hash, all of
 * them Symbols or Strings: in a list of a thousand rows they are written, and made,
 * once.
 *
 * A value has no such bytes, and Rails' coder is asked instead, if it holds an object
 * of an unknown class or with instance variables; a Hash with a default or with
 * compare_by_identity; a Hash or Set with NaN in a key, which equals nothing; more
 * than TREE_DEPTH levels; or itself. An object that occurs more than once is written
 * once (tree_again.h), except text and numbers.
 */
#ifndef LARDER_TREE_FORMAT_H
#define LARDER_TREE_FORMAT_H

enum { TREE_DEPTH = 100, TREE_SHAPES = 256, TREE_SYMBOLS = 256, TREE_SHAPE_KEYS = 64, TREE_POOL = 1024 };

enum tree_tag {
    TREE_TEXT = 0x80,
    TREE_NIL = 0xa0,
    TREE_FALSE,
    TREE_TRUE,
    TREE_INT8,
    TREE_INT16,
    TREE_INT32,
    TREE_INT64,
    TREE_DOUBLE,
    TREE_UTF8,
    TREE_BINARY,
    TREE_USASCII,
    TREE_SYMBOL,
    TREE_SYMBOL_AGAIN,
    TREE_ARRAY,
    TREE_HASH,
    TREE_NEW_SHAPE,
    TREE_SHAPE_AGAIN,
    TREE_OTHER,
    TREE_NUMBERED,
    TREE_AGAIN,
    TREE_SHAPE = 0xc0,
    TREE_NEGATIVE = 0xe0
};

#endif
