/*
 * tree.h — Arrays, Hashes and what Rails applications put into them, as bytes.
 *
 * What a Rails application caches next to text are lists and hashes of text and
 * numbers: rows, settings, what an API answered. They need none of what makes
 * Marshal slow: no links between objects, no hooks. Times, decimals, sets, records
 * and some more are taken apart by Ruby code (lib/larder/tree.rb) and then alike.
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
 *   B1       any other object: code, then its parts, a value (lib/larder/tree.rb)
 *   B2       first byte of all: objects have numbers  B3  one seen before: number
 *   C0..DF   the same, of the shapes 0 to 31
 *
 * Lengths, counts and numbers are LEB128 (seven bits a byte, the lowest first);
 * integers and doubles are little-endian. A shape is the keys of a Hash, all of
 * them Symbols or Strings: in a list of a thousand rows they are written, and made,
 * once.
 *
 * A value is not of this kind, and Rails' coder is asked instead, where it holds an
 * object of a class that is not known; one with instance variables; a Hash with a
 * default or of compare_by_identity; a Hash or Set with NaN in a key, which equals
 * nothing; or more than TREE_DEPTH of them within each other, or itself. What stands
 * in it more than once is written once (tree_again.h), but for text and numbers.
 */
#ifndef LARDER_TREE_H
#define LARDER_TREE_H

#include "glue.h"

enum { TREE_DEPTH = 100, TREE_SHAPES = 256, TREE_SYMBOLS = 256, TREE_SHAPE_KEYS = 64, TREE_POOL = 1024 };

/* Codes of Larder::Tree that are known here. */
enum { TREE_CODE_TIME = 1, TREE_CODE_SET = 10, TREE_CODE_RECORD = 16, TREE_CODE_RECORDS = 24 };

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

/*
 * The bytes of a value, a new binary String; Qundef where it is not of this kind. May run Ruby, and raise.
 * `natural`: false, true: also records where the application keeps all their state by Marshal, or a
 * Larder::Cacheable::Mixture: also objects whose class says itself how it is cached, which the mixture keeps.
 */
VALUE tree_dump(VALUE value, VALUE natural);

/*
 * The value, or Qundef where the bytes are not whole and of this kind. Runs Ruby where they hold other objects
 * than text, numbers, Arrays and Hashes, whose errors are Qundef. `trusted`: nobody else could write them, so that
 * files may be loaded for the classes that they name. `kept`: the objects that a Mixture kept, in groups; or nil.
 */
VALUE tree_load(const char *bytes, size_t size_bytes, bool trusted, VALUE kept);

/*
 * Larder.__send__(:_tree_dump, value, natural): a String, or nil; (:_tree_load, string, trusted, kept): a list of
 * the value, or nil; (:_singular?, object): did somebody give this one object methods?
 */
void tree_init(VALUE larder_module);
void tree_load_init(void); /* by tree_init */

/* Larder::Tree, and what its `make` answers for parts that make nothing; nil before it is loaded. */
extern VALUE tree_module, tree_unreadable;

#endif
