// SPDX-License-Identifier: MIT
/* Kernels that are in memory, in the program itself, or in a text. */
#include "tests/ptask/ptask_test.hpp"

#include <dlfcn.h>
#include <fstream>

/* A program that nvcc has compiled has its kernels in such a section, each image with its header. */
asm(".pushsection .nv_fatbin, \"a\"\n"
    ".balign 8\n"
    "fat_binary_of_test:\n"
    ".long 0xba55ed50\n"
    ".short 1, 16\n"
    ".quad 2f - 1f\n"
    "1: .incbin \"" PTASK_KERNELS "\"\n"
    "2: .popsection\n");
extern "C" const std::byte fat_binary_of_test[];

namespace test {

namespace {

constexpr Geometry one_block{{1, 1, 1}, {4, 1, 1}};

std::vector<PortOptions> ports()
{
    return {inout("x", Template::of<int>(4)), constant("n", 4u)};
}

/* What a task of "successor" makes of four numbers. */
void expect_successors(Graph &graph, Task &task)
{
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    graph.run();
    x.push(Datablock::of({1, 2, 3, 4}));
    CHECK(pulled<int>(y) == std::vector({2, 3, 4, 5}));
}

std::string content_of(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/* The structure by which a program finds one of its fat binaries. */
struct Wrapper {
    unsigned magic, version;
    const void *image, *unused;
};

void from_memory()
{
    const std::string module = content_of(ptask_kernels());
    const Wrapper wrapper[] = {{0x466243b1, 1, fat_binary_of_test, nullptr}};
    const std::vector<unsigned char> bytes(module.begin(), module.end());
    const std::span fat(fat_binary_of_test, 16 + module.size());
    for (const Image &image : {image_of(module, "successor", one_block), image_of(bytes, "successor", one_block),
                               image_of(fat, "successor", one_block), image_of(wrapper, "successor", one_block)}) {
        Graph graph;
        expect_successors(graph, graph.cuda_image("next", image, ports()));
    }
}

/* As a file, and in memory. */
void of_the_program_itself()
{
    const std::string program = content_of("/proc/self/exe");
    Graph from_file, in_memory;
    expect_successors(from_file, from_file.cuda("next", {"/proc/self/exe", "successor", one_block}, ports()));
    expect_successors(in_memory, in_memory.cuda_image("next", image_of(program, "successor", one_block), ports()));
}

void what_is_no_image()
{
    const std::string module = content_of(ptask_kernels());
    Graph graph;
    const auto add = [&](const Image &image) { graph.cuda_image("next", image, ports()); };
    const std::string_view cut(module.data(), module.size() - 1), head(module.data(), 20);
    const std::span fat(fat_binary_of_test, 100);
    CHECK(refused([&] { add(image_of(cut, "successor")); }, {"task next", "cut short", "bytes"}));
    CHECK(refused([&] { add(image_of(head, "successor")); }, {"task next", "cut short", "20 bytes"}));
    CHECK(refused([&] { add(image_of(fat, "successor")); }, {"task next", "cut short", "100 bytes"}));
    CHECK(refused([&] { add(image_of(std::string("no kernels"), "successor")); }, {"next", "INVALID_IMAGE"}));
    CHECK(refused([&] { add({{}, "successor"}); }, {"task next", "0 bytes"}));
    CHECK(refused([&] { add(image_of(module, "nobody")); }, {"task next", "no kernel nobody"}));
    CHECK(refused(
        [&] {
            graph.cuda("next", {"/proc/self/exe", "nobody"}, ports());
        },
        {"no kernel nobody", "program /proc/self/exe"}));
}

/* Each adds STEP, or what the header says. */
const char *const four_kernels = R"(
#include "step.h"
__global__ void first(int *x) { x[threadIdx.x] += STEP; }
__global__ void second(int *x) { x[threadIdx.x] += 10 * STEP; }
extern "C" __global__ void third(int *x) { x[threadIdx.x] += 100 * STEP; }
__global__ void fourth(int *x) { x[threadIdx.x] += 1000 * STEP; }
)";

std::vector<int> through_all_four(const std::vector<std::string> &options, const std::string &header)
{
    Graph graph;
    Task *last = nullptr;
    Input *x = nullptr;
    for (const char *name : {"first", "second", "third", "fourth"}) {
        const Source source{four_kernels, name, one_block, options, {{"step.h", header}}};
        Task &task = graph.cuda_source(name, source, {inout("x", Template::of<int>(4))});
        if (last)
            graph.connect((*last)["x"], task["x"]);
        else
            x = &graph.input(task["x"]);
        last = &task;
    }
    Output &y = graph.output((*last)["x"]);
    graph.run();
    x->push(Datablock::of({1, 2, 3, 4}));
    return pulled<int>(y);
}

/* Of the compiler that stands for NVRTC. */
unsigned compilations()
{
    void *library = dlopen((folder() + "/nvrtc.so").c_str(), RTLD_NOW);
    return reinterpret_cast<unsigned (*)()>(dlsym(library, "vgpu_nvrtc_compilations"))();
}

/* The same text for the same kind of GPU, however many tasks, GPUs and graphs; another for other options or headers. */
void one_text_is_compiled_once()
{
    const unsigned before = compilations();
    CHECK(through_all_four({"-DSTEP=1"}, "") == std::vector({1112, 1113, 1114, 1115}));
    CHECK(through_all_four({"-DSTEP=1"}, "") == std::vector({1112, 1113, 1114, 1115}));
    CHECK_EQ(compilations(), before + 1);
    CHECK(through_all_four({}, "#define STEP 2\n") == std::vector({2223, 2224, 2225, 2226}));
    CHECK_EQ(compilations(), before + 2);
}

} // namespace

Cases image_cases()
{
    return {{"a kernel in memory", from_memory},
            {"a kernel of the program itself", of_the_program_itself},
            {"what is no image is refused", what_is_no_image},
            {"a text with four kernels is compiled once", one_text_is_compiled_once}};
}

} // namespace test
