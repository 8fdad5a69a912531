/*
 * futex.h — sleeps until a word of a map changes, and wakes who sleeps there.
 */
#ifndef LARD_FUTEX_H
#define LARD_FUTEX_H

#include <stdint.h>

/* Sleeps while *word is `value`; may wake early. */
void lard_futex_wait(uint32_t *word, uint32_t value, unsigned timeout_ms);
void lard_futex_wake(uint32_t *word); /* one waiter */
void lard_futex_wake_all(uint32_t *word);

#endif
