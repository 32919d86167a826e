/*
 * plugin.h - QEMU's plugin interface, as far as the lab's plugins use it: Debian has no package
 * with its header. The declarations are the same in all versions, but for what is weak here.
 * PLUGIN_VERSION is the interface's version, which QEMU wants to know (plugin.py gives it).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void (*translated_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*executed_t)(unsigned int cpu, void *data);
typedef void (*accessed_t)(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			   void *data);

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, translated_t callback);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, executed_t callback,
						 enum qemu_plugin_cb_flags flags, void *data);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block,
						     enum qemu_plugin_op op, void *number,
						     uint64_t value) __attribute__((weak));
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
						   executed_t callback,
						   enum qemu_plugin_cb_flags flags, void *data);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
					     accessed_t callback, enum qemu_plugin_cb_flags flags,
					     enum qemu_plugin_mem_rw which, void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block,
							size_t index);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
extern void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);
#if PLUGIN_VERSION < 3
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
#else
extern size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction, void *to,
				    size_t room);
#endif
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
extern unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
extern struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info,
							 uint64_t address);
extern bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *physical);
extern uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *physical);

__attribute__((visibility("default"))) int qemu_plugin_version = PLUGIN_VERSION;
