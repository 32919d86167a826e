/* irq.h - hosted: no interrupts. */
