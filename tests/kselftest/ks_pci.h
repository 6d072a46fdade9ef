/* SPDX-License-Identifier: MIT */
/* GPUs of the machine that come to the PCI bus and go. */
#ifndef KS_PCI_H
#define KS_PCI_H

#include <glob.h>
#include <libgen.h>
#include <stdio.h>

#include "ks.h"

#define BUS "/sys/bus/pci/"

static inline int say_to(const char *file)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	int ret = fd < 0 ? -errno : write(fd, "1", 1) == 1 ? 0 : -errno;

	if (fd >= 0)
		close(fd);
	return ret;
}

/* Reads one value from a small file. */
static inline bool scan(const char *name, const char *format, void *value)
{
	FILE *file = fopen(name, "re");
	bool found = file && fscanf(file, format, value) == 1;

	if (file)
		fclose(file);
	return found;
}

static inline bool is_display(const char *folder)
{
	char name[128];
	unsigned int class;

	snprintf(name, sizeof(name), "%s/class", folder);
	return scan(name, "%x", &class) && class >> 16 == 3;
}

/* The address of the first display controller, or an empty string. */
static inline void find_gpu(char *address, size_t size)
{
	glob_t found;

	address[0] = '\0';
	if (glob(BUS "devices/*", 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc && !address[0]; i++)
		if (is_display(found.gl_pathv[i]))
			snprintf(address, size, "%s", basename(found.gl_pathv[i]));
	globfree(&found);
}

static inline int unplug(const char *address)
{
	char name[128];

	snprintf(name, sizeof(name), BUS "devices/%s/remove", address);
	return say_to(name);
}

static inline void unplug_all(void)
{
	char address[PTSCHED_NAME_LEN];

	do
		find_gpu(address, sizeof(address));
	while (address[0] && !unplug(address));
}

#endif /* KS_PCI_H */
