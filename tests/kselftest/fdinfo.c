// SPDX-License-Identifier: MIT
/* What /proc/self/fdinfo tells of clients, as readers of GPU drivers' lines expect it. */
#include <stdio.h>

#include "harness.h"
#include "ks.h"
#include "ks_netlink.h"

struct info {
	int lines;
	char driver[32];
	char pdev[PTSCHED_NAME_LEN];
	uint64_t id;
	uint64_t compute_ns;
};

/* "drm-KEY:" and blanks in front of the value. */
static const char *value_of(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) || line[length] != ':')
		return NULL;
	line += length + 1;
	return line + strspn(line, " \t");
}

static bool read_line(const char *line, struct info *info)
{
	const char *value;
	int end = 0;

	value = value_of(line, "drm-driver");
	if (value)
		return sscanf(value, "%31s%n", info->driver, &end) == 1 && value[end] == '\n';
	value = value_of(line, "drm-pdev");
	if (value)
		return sscanf(value, "%47s%n", info->pdev, &end) == 1 && value[end] == '\n';
	value = value_of(line, "drm-client-id");
	if (value)
		return sscanf(value, "%lu%n", &info->id, &end) == 1 && value[end] == '\n';
	value = value_of(line, "drm-engine-compute");
	if (value)
		return sscanf(value, "%lu ns%n", &info->compute_ns, &end) == 1 && value[end] == '\n';
	return false;
}

/* All lines of a driver's, each of which must be one of the above; 0 or a negative errno. */
static int read_info(int fd, struct info *info)
{
	char path[64], line[256];
	FILE *file;
	int ret = 0;

	memset(info, 0, sizeof(*info));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "drm-", 4))
			continue;
		info->lines++;
		if (!read_line(line, info))
			ret = -EBADMSG;
	}
	fclose(file);
	return ret;
}

static int report(int fd, uint64_t gpu_ns)
{
	struct ptsched_report arg = {.size = sizeof(arg), .submissions = 1, .gpu_ns = gpu_ns};

	return ks_result(ioctl(fd, PTSCHED_IOC_REPORT, &arg));
}

TEST(before_it_is_attached_a_client_has_a_driver_only)
{
	int fd = ks_open();
	struct info info;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, read_info(fd, &info));
	EXPECT_EQ(1, info.lines);
	EXPECT_STREQ("ptsched", info.driver);
}

TEST(a_client_tells_its_device_its_number_and_the_gpu_time_that_was_reported)
{
	struct ptsched_release release = {.size = sizeof(release), .gpu_ns = 5, .submissions = 1};
	struct ptsched_attach attached;
	uint64_t last = 0, sum = 0;
	int fd = ks_open();
	struct info info;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ks_attach(fd, KS_DEVICE0, &attached));
	ASSERT_EQ(0, read_info(fd, &info));
	EXPECT_EQ(4, info.lines);
	EXPECT_STREQ("ptsched", info.driver);
	EXPECT_STREQ(KS_DEVICE0, info.pdev);
	EXPECT_EQ(attached.entity, info.id);
	EXPECT_EQ(0, info.compute_ns);
	ASSERT_EQ(0, ks_acquire(fd));
	/* Less than the turn has lasted, each time: it counts in full. */
	for (uint64_t gpu_ns = 1; gpu_ns <= 64; gpu_ns *= 2) {
		ASSERT_EQ(0, report(fd, gpu_ns));
		sum += gpu_ns;
		ASSERT_EQ(0, read_info(fd, &info));
		EXPECT_EQ(sum, info.compute_ns);
	}
	/* More than it has lasted, and it still only grows. */
	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(0, report(fd, UINT64_MAX / 2));
		ASSERT_EQ(0, read_info(fd, &info));
		EXPECT_LE(last, info.compute_ns);
		last = info.compute_ns;
	}
	ASSERT_EQ(0, ks_result(ioctl(fd, PTSCHED_IOC_RELEASE, &release)));
	ASSERT_EQ(0, read_info(fd, &info));
	EXPECT_LE(last, info.compute_ns);
}

TEST(clients_of_a_process_have_one_number_and_one_time_on_a_device)
{
	int first = ks_client(), second = ks_client(), other = ks_open();
	struct info infos[3];

	ASSERT_LE(0, first);
	ASSERT_LE(0, second);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, ks_attach(other, KS_DEVICE1, NULL));
	ASSERT_EQ(0, ks_acquire(first));
	ASSERT_EQ(0, report(first, 1));
	ASSERT_EQ(0, read_info(first, &infos[0]));
	ASSERT_EQ(0, read_info(second, &infos[1]));
	ASSERT_EQ(0, read_info(other, &infos[2]));
	EXPECT_EQ(1, infos[0].compute_ns);
	EXPECT_EQ(infos[0].id, infos[1].id);
	EXPECT_EQ(infos[0].compute_ns, infos[1].compute_ns);
	EXPECT_STREQ(KS_DEVICE1, infos[2].pdev);
	EXPECT_NE(infos[0].id, infos[2].id);
	EXPECT_EQ(0, infos[2].compute_ns);
}

/* The child has the file still, and no part in what it stood for. */
TEST(a_client_that_its_owner_has_closed_tells_no_figures)
{
	struct ks_sign closed = ks_sign_new();
	int fd = ks_client();
	struct info info;
	pid_t child;

	ASSERT_LE(0, fd);
	child = fork();
	if (!child) {
		ks_sign_await(&closed);
		_exit(read_info(fd, &info) || info.lines != 1);
	}
	close(fd);
	ks_sign_give(&closed);
	EXPECT_EQ(0, ks_wait(child));
}

TEST_HARNESS_MAIN
