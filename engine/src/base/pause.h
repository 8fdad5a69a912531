/*
 * pause.h — the processor's hint in a loop that waits for another thread without sleeping.
 */
#ifndef LARD_PAUSE_H
#define LARD_PAUSE_H

static inline void lard_pause(void) {
#if defined(LARDER_INTERLEAVE)
    void lard_turn_pause(void);
    lard_turn_pause();
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
