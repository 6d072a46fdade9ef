# SPDX-License-Identifier: MIT
# What the folders here have in common: it is read before them.
SAMPLES_COMMON := $(call objects,$(wildcard samples/common/*.cpp))

# For what calls the driver, by the name that every driver has. The toolkit's stub spares a machine with a GPU the
# virtual one.
CUDA_STUB := $(firstword $(wildcard /usr/local/cuda/lib64/stubs/libcuda.so) $(B)/vgpu/libcuda.so)

define compile_for_vgpu
@mkdir -p $(@D)
CXX="$(CXX)" tests/vgpu/vgpu-cc $< -o $@ -iquote . -Ilibptsched/include $(WARNINGS) $(SANFLAGS)
endef

VGPU_CC := tests/vgpu/vgpu-cc $(wildcard tests/vgpu/include/*.h)

define need_nvcc
@mkdir -p $(@D)
@command -v $(NVCC) >/dev/null || { echo "$@ needs nvcc (CUDA toolkit); NVCC names it" >&2; exit 1; }
endef
