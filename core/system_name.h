/*
 * system_name.h - what uname(2) and /proc/version say.
 *
 * The name is Linux's, since programs compare it before they use what we provide; the release says
 * which Linux's behaviour is meant and that this is not it.
 */
#pragma once

#include <arch/elf.h>

#define SYSTEM_NAME "Linux"
#define SYSTEM_NODE "chainwalk"
#define SYSTEM_RELEASE "6.1.0-chainwalk"
#define SYSTEM_VERSION "#1 SMP Chainwalk"
#define SYSTEM_MACHINE ARCH_PLATFORM
