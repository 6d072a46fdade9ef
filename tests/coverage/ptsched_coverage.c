// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps how often the code of ptsched.ko was executed, where clang has built it with --coverage.
 * What it counted is read whenever it goes, its exit included, since the counters go with it;
 * /sys/kernel/debug/ptsched_coverage has all of it as text (scripts/coverage). A kernel without
 * CONFIG_GCOV_KERNEL, as Debian's are, will do.
 */
#include <linux/debugfs.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "gcda.h"

/* What was counted from one insertion to the removal. */
struct dump {
	struct list_head node;
	size_t len;
	size_t size;
	char text[];
};

static DEFINE_MUTEX(lock);
static LIST_HEAD(dumps);
/* Where what clang calls puts its text, or, while that is NULL, how long the text is. */
static struct dump *current_dump;
static size_t needed;
static struct dentry *file;

static __printf(1, 2) void put(const char *format, ...)
{
	struct dump *dump = current_dump;
	va_list args;

	va_start(args, format);
	if (dump)
		dump->len += vscnprintf(dump->text + dump->len, dump->size - dump->len, format,
					args);
	else
		needed += vsnprintf(NULL, 0, format, args);
	va_end(args);
}

/* Only some kernels call constructors of modules; their functions are found by name instead. */
void llvm_gcov_init(void (*write_out)(void), void (*reset)(void))
{
}
EXPORT_SYMBOL_GPL(llvm_gcov_init);

void llvm_gcda_start_file(const char *name, u32 version, u32 checksum)
{
	put("file %u %u %s\n", version, checksum, name);
}
EXPORT_SYMBOL_GPL(llvm_gcda_start_file);

void llvm_gcda_emit_function(u32 ident, u32 checksum, u32 cfg_checksum)
{
	put("function %u %u %u\n", ident, checksum, cfg_checksum);
}
EXPORT_SYMBOL_GPL(llvm_gcda_emit_function);

void llvm_gcda_emit_arcs(u32 count, const u64 *counters)
{
	u32 i;

	put("arcs");
	for (i = 0; i < count; i++)
		put(" %llu", counters[i]);
	put("\n");
}
EXPORT_SYMBOL_GPL(llvm_gcda_emit_arcs);

void llvm_gcda_summary_info(void)
{
}
EXPORT_SYMBOL_GPL(llvm_gcda_summary_info);

void llvm_gcda_end_file(void)
{
}
EXPORT_SYMBOL_GPL(llvm_gcda_end_file);

/* Each object has a function of this name. */
static void write_out(struct module *mod)
{
	const struct mod_kallsyms *symbols = rcu_dereference_raw(mod->kallsyms);
	unsigned int i;

	for (i = 0; i < symbols->num_symtab; i++) {
		const char *name = symbols->strtab + symbols->symtab[i].st_name;
		void (*write)(void) = (void *)symbols->symtab[i].st_value;

		if (!strcmp(name, "__llvm_gcov_writeout"))
			write();
	}
}

static void keep(struct module *mod)
{
	struct dump *dump;

	current_dump = NULL;
	needed = 0;
	write_out(mod);
	dump = vzalloc(struct_size(dump, text, needed + 1));
	if (!dump) {
		pr_err("no memory for %zu bytes of what %s has counted\n", needed, mod->name);
		return;
	}
	dump->size = needed + 1;
	current_dump = dump;
	write_out(mod);
	list_add_tail(&dump->node, &dumps);
}

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	if (event == MODULE_STATE_GOING && !strcmp(mod->name, "ptsched")) {
		mutex_lock(&lock);
		keep(mod);
		mutex_unlock(&lock);
	}
	return NOTIFY_OK;
}

static struct notifier_block notifier = {.notifier_call = module_event};

static int counts_show(struct seq_file *seq, void *unused)
{
	struct dump *dump;

	mutex_lock(&lock);
	list_for_each_entry(dump, &dumps, node)
		seq_write(seq, dump->text, dump->len);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int __init coverage_init(void)
{
	int ret = register_module_notifier(&notifier);

	if (!ret)
		file = debugfs_create_file("ptsched_coverage", 0400, NULL, NULL, &counts_fops);
	return ret;
}
module_init(coverage_init);

static void __exit coverage_exit(void)
{
	struct dump *dump, *next;

	debugfs_remove(file);
	unregister_module_notifier(&notifier);
	list_for_each_entry_safe(dump, next, &dumps, node)
		vfree(dump);
}
module_exit(coverage_exit);

MODULE_DESCRIPTION("Keeps what ptsched.ko has counted of its own execution");
MODULE_LICENSE("GPL");
