/*
 * boot.h — tells one boot of the machine from another.
 */
#ifndef LARD_BOOT_H
#define LARD_BOOT_H

#include <stdint.h>

int lard_boot_id(uint64_t id[2]);  /* another after each boot, zeros if unknown: 0, or errno */
int64_t lard_boot_uptime_ms(void); /* since boot, with the time suspended; 0: unknown */

#endif
