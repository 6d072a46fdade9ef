/* SPDX-License-Identifier: GPL-2.0-only */
/* What an object calls that clang has built with --coverage, by names and types of clang. */
#ifndef COVERAGE_GCDA_H
#define COVERAGE_GCDA_H

#include <linux/types.h>

void llvm_gcov_init(void (*write_out)(void), void (*reset)(void));
void llvm_gcda_start_file(const char *name, u32 version, u32 checksum);
void llvm_gcda_emit_function(u32 ident, u32 checksum, u32 cfg_checksum);
void llvm_gcda_emit_arcs(u32 count, const u64 *counters);
void llvm_gcda_summary_info(void);
void llvm_gcda_end_file(void);

#endif /* COVERAGE_GCDA_H */
