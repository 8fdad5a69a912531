/*
 * tree_objects.h — objects that Ruby code takes apart and makes again: Larder::Tree (lib/larder/codecs/tree.rb).
 */
#ifndef LARDER_TREE_OBJECTS_H
#define LARDER_TREE_OBJECTS_H

#include <ruby.h>
#include <stdbool.h>

/* The codes of classes, which Larder::Tree has as constants. They are part of the format: a number is never given
 * to another class. 21 is not used. */
#define TREE_CODE_LIST(X)   \
    X(TIME, 1)              \
    X(TIME_WITH_ZONE, 2)    \
    X(DATE, 3)              \
    X(DATE_TIME, 4)         \
    X(DECIMAL, 5)           \
    X(RATIONAL, 6)          \
    X(COMPLEX, 7)           \
    X(INTEGER, 8)           \
    X(RANGE, 9)             \
    X(SET, 10)              \
    X(SAFE_BUFFER, 11)      \
    X(INDIFFERENT_HASH, 12) \
    X(DURATION, 13)         \
    X(STRUCT, 14)           \
    X(DATA, 15)             \
    X(RECORD, 16)           \
    X(BINARY, 17)           \
    X(URI, 18)              \
    X(IP_ADDRESS, 19)       \
    X(PATH, 20)             \
    X(TIME_ZONE, 22)        \
    X(TEXT, 23)             \
    X(RECORDS, 24)          \
    X(STRUCTS, 25)          \
    X(KEPT, 26) /* by a Cacheable::Mixture: the number of its group, and its own there */

enum tree_code {
#define TREE_CODE_ENUM(name, code) TREE_CODE_##name = (code),
    TREE_CODE_LIST(TREE_CODE_ENUM)
#undef TREE_CODE_ENUM
};

/* Defines Larder::Tree and its constants. */
VALUE tree_objects_init(VALUE larder_module);

/* May they be called: has lib/larder/codecs/tree.rb been loaded? */
bool tree_objects_loaded(void);

/* [code, parts] of an object, or of a list of objects like `first` together; nil: Larder::Tree knows no way. */
VALUE tree_objects_take(VALUE object, VALUE natural, VALUE records);
VALUE tree_objects_take_list(VALUE list, VALUE first, VALUE natural, VALUE records);

/* The object, or Qundef where nothing can be made of the parts. */
VALUE tree_objects_make(unsigned code, VALUE parts, bool trusted, VALUE kept, VALUE records);

#endif
