# SPDX-License-Identifier: MIT
TESTS += tests/demo/report_test
TESTS_NOSAN += tests/demo/report_test

# What the experiment needs in its VM, as SOURCE:DESTINATION; busybox has no nice.
DEMO_FILES := $(B)/bin/ptsched:/usr/bin/ $(B)/lib/libptsched-preload.so:/usr/lib/ $(B)/vgpu/libcuda.so.1:/usr/lib/ \
	$(addsuffix :/usr/bin/,$(addprefix $(B)/vgpu/,kernels.so inversion-client vgpu-stat) /usr/bin/nice)

.PHONY: demo-files
demo-files: $(foreach pair,$(DEMO_FILES),$(firstword $(subst :, ,$(pair)))) $(B)/tests/vgpu_model

VM_FILES += $(B)/lib/libptsched-preload.so:/usr/lib/
