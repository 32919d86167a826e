/* mmu.h - for tests of mm/ alone: entries as the machine has them, and nobody who walks tables. */
#pragma once

#include "arch/x86/include/arch/mmu.h"
