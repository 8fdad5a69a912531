/*
 * book.h — reads and notes fields of the ledger `book`, which processes share. Included after its declaration.
 */
#ifndef LARD_BOOK_H
#define LARD_BOOK_H

#include <stdarg.h>
#include <stdio.h>

#define READ(field) __atomic_load_n(&(field), __ATOMIC_SEQ_CST)
#define NOTE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_SEQ_CST)
#define ADD(field, value) __atomic_add_fetch(&(field), (value), __ATOMIC_SEQ_CST)

/* Counts what must not be, and keeps the sentence about the first one. */
__attribute__((format(printf, 1, 2))) static inline void wrong(const char *format, ...) {
    if (ADD(book->wrong, 1) == 1) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(book->first, sizeof book->first, format, arguments);
        va_end(arguments);
    }
}

#endif
