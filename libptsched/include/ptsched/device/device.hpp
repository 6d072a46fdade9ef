/* SPDX-License-Identifier: MIT */
/*
 * What a graph needs of hardware, whatever its kind: memory, code, and queues whose work runs in order. A kind of
 * device is a file that implements this: cuda.cpp, host.cpp. All of it may be called from any thread. Devices are never
 * destroyed: graphs and datablocks know them by their addresses.
 */
#ifndef PTSCHED_DEVICE_DEVICE_HPP
#define PTSCHED_DEVICE_DEVICE_HPP

#include <ptsched/base/error.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/* A stream of CUDA, as its headers have it: CUstream and cudaStream_t point to one. */
struct CUstream_st;

#pragma GCC visibility push(default)

namespace ptsched::device {

using ptsched::Error;

/* There is no more memory for now; what was asked for may fit when others are done. */
class OutOfMemory : public Error {
public:
    using Error::Error;
};

/*
 * What a program ran on a device was at fault: an illegal address, an assertion. The driver does not say which kernel
 * it was, and from then on refuses the process everything, on whichever GPU.
 */
class Fault : public Error {
public:
    using Error::Error;
};

/* Where a device's code finds something; on the host, a pointer. */
using Address = std::uint64_t;

/* Of what devices allocate, and so of all blocks, in bytes. */
constexpr std::size_t allocation_alignment = 256;

inline std::size_t align_up(std::size_t bytes)
{
    return (bytes + allocation_alignment - 1) / allocation_alignment * allocation_alignment;
}

inline void *host_pointer(Address address)
{
    return reinterpret_cast<void *>(static_cast<std::uintptr_t>(address));
}

struct Extent {
    unsigned x = 1, y = 1, z = 1;

    double product() const { return static_cast<double>(x) * y * z; }
};

/* As "4 x 2 x 1". */
std::string describe(const Extent &extent);

/* Threads in a block and blocks in a grid, as for a CUDA launch. */
struct Geometry {
    Extent grid, block;
    unsigned shared_bytes = 0;

    double threads_of_block() const { return block.product(); }
    double threads() const { return grid.product() * block.product(); }
};

/* A point in a queue: all work before it. */
class Marker {
public:
    virtual ~Marker() = default;
    /* Does not block. Throws Error if work before it failed. */
    virtual bool reached() = 0;
    /* Blocks until it is reached; throws like reached(). */
    virtual void wait() = 0;
    /* Whether one of them has said so before: asks nobody. */
    bool seen() const { return seen_.load(std::memory_order_acquire); }
    /*
     * A CUevent recorded there, for calls of CUDA; it stays the marker's, and is not recorded again while that lives.
     * Null where all before it has ended, and where there are no such events. Throws like reached(). Does not block.
     */
    virtual void *native_event() { return nullptr; }
    /* To be called when a later point of the same queue is reached. */
    void see() { seen_.store(true, std::memory_order_release); }

private:
    std::atomic<bool> seen_{false};
};
using MarkerPtr = std::shared_ptr<Marker>;

/* Measures the work that a queue is given between the making of this and stop(). */
class Watch {
public:
    virtual ~Watch() = default;
    virtual void stop() = 0;
    /* What it took, once a marker behind it has been reached; 0 where nobody can tell. */
    virtual double seconds() = 0;
};

/* Something that a queue of one device can run. */
class Code {
public:
    virtual ~Code() = default;
    /* In bytes, of each parameter; nothing where nobody knows. */
    virtual std::optional<std::vector<std::size_t>> parameter_sizes() const { return {}; }
    /* Whether one of them is an address; nothing where nobody knows. */
    virtual std::optional<bool> is_address(std::size_t) const { return {}; }
    /* Whether it finds what is constant in variables of its module, not by parameters. */
    virtual bool has_variables() const { return false; }
    struct Variable {
        Address address;
        std::size_t bytes;
    };
    /* Of its module, in constant or global memory; nothing where there is none of that name. */
    virtual std::optional<Variable> variable(const std::string &) const { return {}; }
    /*
     * Before the first run with that geometry: throws Error that says what would do if there can be none. Makes more
     * shared memory available where a launch must have asked for it. Thread-safe.
     */
    virtual void prepare(const Geometry &) const {}
    /*
     * How many blocks like those its device has at once, if it does nothing else: of the threads and the shared memory
     * of @geometry, whose grid does not matter. Nothing where nobody knows. Thread-safe.
     */
    virtual std::optional<std::size_t> most_blocks(const Geometry &) const { return {}; }
    /* Threads in a block with which most of the device's processors have something to do; likewise. */
    virtual std::optional<unsigned> best_block(unsigned /* shared_bytes */) const { return {}; }
    /* Whether a program of a device that has such can have it. */
    virtual bool fits_programs() const { return true; }
};

class Device;

/* Bytes that go from the host device's memory to the device's, or back. Up to the next multiple of 16 is copied. */
struct Piece {
    Address to, from;
    std::size_t bytes;
};

/* A kernel, a copy, or a wait, of a program. */
struct ProgramStep {
    const Code *code = nullptr;     /* null: a copy */
    bool waits = false;             /* for what Queue::signal() says, and nothing else matters */
    std::vector<Piece> pieces = {}; /* not empty: a copy of all of these at once, and nothing else matters */
    Geometry geometry = {};
    std::vector<void *> arguments = {}; /* a pointer to the value of each */
    Address to = 0, from = 0;
    bool to_host = false; /* a copy to the host device's memory; else in the device's */
    std::size_t bytes = 0;
    std::vector<std::size_t> after = {}; /* steps before it in the list */
};

/* Steps that a queue is given as one. What is changed is so in what is given from then on. One thread at a time. */
class Program {
public:
    virtual ~Program() = default;
    virtual void set_kernel(std::size_t step, const std::vector<void *> &arguments) = 0;
    virtual void set_copy(std::size_t step, Address to, Address from) = 0;
    /* As many as it had. They are read when the step runs. */
    virtual void set_pieces(std::size_t step, const std::vector<Piece> &pieces) = 0;
    /*
     * So that set_pieces(), of all steps that have some, does not change what has been given: its pieces live as long
     * as what this returns, which is null where there are none. Throws Error, and then the program is no longer of use.
     */
    virtual std::shared_ptr<const void> renew_pieces() = 0;
};

/* Bytes of a matrix on the host: so many rows, with @pitch bytes from the begin of one to that of the next. */
struct Rows {
    std::size_t bytes = 0, count = 1, pitch = 0; /* of each; pitch: of several */

    std::size_t all_bytes() const { return count * bytes; }
};

/* Work that runs in the order in which it was given. None of the calls but finish() waits for the work. */
class Queue {
public:
    /* Waits for its work. */
    virtual ~Queue() = default;
    /* Between the device's memory and the host's, which stays valid until the copy is done. */
    virtual void upload(Address to, const void *from, std::size_t bytes) = 0;
    virtual void download(void *to, Address from, std::size_t bytes) = 0;
    /* From the device's own memory, or another's that it reaches(), which stays valid until the copy is done. */
    virtual void copy(Address to, Device &source, Address from, std::size_t bytes);
    /* @arguments: a pointer to the value of each, read before the call returns. */
    virtual void run(const Code &code, const Geometry &geometry, const std::vector<void *> &arguments) = 0;
    /*
     * The same, of blocks that are all there at once and may wait for each other. Throws Error if there are more than
     * Code::most_blocks(), or the device has no such launches.
     */
    virtual void run_cooperative(const Code &code, const Geometry &geometry, const std::vector<void *> &arguments);
    /* Of its device. */
    virtual void run(Program &program);
    /* From its next run on, the step of the program is to wait for what this queue has; it does not run now. */
    virtual void signal(Program &program, std::size_t step);
    /* What is given from now on waits for a point in another queue. */
    virtual void after(const MarkerPtr &marker) = 0;
    virtual MarkerPtr mark() = 0;
    /*
     * The same where nobody is likely to ask for it, which costs less: work that is given until somebody does may come
     * before it, too.
     */
    virtual MarkerPtr mark_for_later() { return mark(); }
    /* Blocks until it has done its work; throws Error if that failed. Where mark() can fail, it must not need that. */
    virtual void finish() { mark()->wait(); }
    /*
     * To be called when something that run() gave has ended, if the queue has a thread that can; before there is work.
     */
    virtual void tell(std::function<void()>) {}
    /*
     * Does what the queue's own thread would do next, on the calling thread; false if there is nothing, or that one is
     * at it. Blocks as long as what was given does.
     */
    virtual bool help() { return false; }
    /*
     * Its CUstream, for calls of CUDA that give it work; it stays the queue's. Null where there is none. Work that a
     * program gives it so is part of the queue's like any other.
     */
    virtual void *native_stream() const { return nullptr; }
    /*
     * What is given from now on waits for what a CUevent of the program's was last recorded for. Throws Error where
     * there are no such events.
     */
    virtual void after_native(void *event);
    /* Null where work cannot be measured. */
    virtual std::unique_ptr<Watch> watch() { return nullptr; }
    /* Seconds that code which run() gave has taken so far, once it had begun; nothing where nobody can tell. */
    virtual std::optional<double> worked() const { return {}; }
};

/* Waits for work to end, however it does: if it has failed, nothing comes any more. */
inline void settle(Marker &marker) noexcept
{
    try {
        marker.wait();
    } catch (const std::exception &) {
    }
}

/* For what the queue has. */
inline void settle(Queue &queue) noexcept
{
    try {
        queue.finish();
    } catch (const std::exception &) {
    }
}

/* A device's memory for other processes: what they have mapped lasts until all of them have let go of it. */
struct ShareHandle {
    std::array<char, 64> opaque{}; /* all of an allocation */
    std::uint64_t offset = 0;
};

/* Another process's memory, as long as somebody has @owner. */
struct Mapping {
    Address address;
    std::shared_ptr<const void> owner;
};

class Residents;

class Device {
public:
    virtual ~Device() = default;
    virtual const std::string &name() const = 0;
    /* On the PCI bus, "0000:17:00.0"; empty where it is on none. */
    virtual std::string bus_address() const { return {}; }
    /* PTask's measure of an accelerator, cores by their clock by the memory's: to compare those of a kind; above 0. */
    virtual double strength() const { return 1; }
    /* That are in its processors at once, where that is known. */
    virtual std::optional<std::size_t> most_threads() const { return {}; }
    /*
     * At a multiple of allocation_alignment. Datablocks that nobody uses make room; throws OutOfMemory if that is not
     * enough.
     */
    virtual Address allocate(std::size_t bytes) = 0;
    /* Of allocate(@bytes), which no work uses any more. */
    virtual void release(Address address, std::size_t bytes) noexcept = 0;
    virtual std::unique_ptr<Queue> make_queue() = 0;
    struct Priorities {
        int lowest = 0, highest = 0;
    };
    /* Of queues: work of one with a larger number goes first, as far as the device can. make_queue()'s have 0. */
    virtual Priorities priorities() const { return {}; }
    /* One whose priority is as near to @priority as there are. */
    virtual std::unique_ptr<Queue> make_queue_at(int /* priority */) { return make_queue(); }
    /*
     * A program's own CUstream of this device as a queue. The stream stays the program's, must outlive the queue and
     * its markers, and its context must be the device's primary one, as that of CUDA's runtime is. Throws Error if it
     * is not, or if the device has no such streams.
     */
    virtual std::unique_ptr<Queue> wrap_stream(void *stream);
    /* For copies to the host that nobody's work is to wait for. */
    virtual Queue &outgoing() = 0;
    /* For copies from the host that programs wait for; of a device that has programs. */
    virtual Queue &incoming();
    /*
     * Whether a queue may be told to wait for work of this device that has not ended: if not, who depends on it comes
     * later.
     */
    virtual bool orders_others() const = 0;
    /* Whether its queues can copy from the memory of @other without a detour. */
    virtual bool reaches(const Device &) { return false; }
    /* Whether it has programs, and one; @steps are read before the call returns. */
    virtual bool has_programs() const { return false; }
    virtual std::unique_ptr<Program> make_program(const std::vector<ProgramStep> &steps);
    /* How many pieces a step may copy; 0: its programs have no such steps. */
    virtual std::size_t most_pieces() { return 0; }
    /* What is in its memory, see have_one_memory(); null where memory does not run out. */
    virtual Residents *residents() { return nullptr; }
    /*
     * For other processes that have this device. Nothing where it or its driver cannot; who has mapped the memory is to
     * let go of it before it is released.
     */
    virtual std::optional<ShareHandle> share(Address, std::size_t) { return {}; }
    /* What share() has given another process. Throws Error with the reason if it cannot be used here. */
    virtual Mapping map_shared(const ShareHandle &handle, std::size_t bytes);
    /* Uses no more memory than that from now on, as far as it has the choice. */
    virtual void limit_memory(std::size_t) {}
    /*
     * Gives memory back to its driver that is kept for blocks to come until no more than so many bytes are; returns how
     * many were given back. Thread-safe; may wait for work that the device has.
     */
    virtual std::size_t trim(std::size_t /* keep */) { return 0; }
};

/* The host's memory, pinned where there is a driver, and its processors: a queue is a thread. */
Device &host();
/* A function of the addresses of its arguments; what it throws fails its queue. */
using HostFunction = std::function<void(const std::vector<void *> &arguments)>;
std::unique_ptr<Code> host_code(HostFunction function);

/* The GPUs that the CUDA driver shows, empty without driver or GPU. */
const std::vector<Device *> &gpus();
/* Of the device's own, used or not; where that is known. Thread-safe. */
std::optional<std::size_t> memory_bytes(const Device &device);
/* For a thread of this library's user that calls nothing else of CUDA: its context need not be looked at each time. */
void adopt_thread();
/*
 * The same for as long as this lives, of one that calls CUDA at other times: then its context is again what it was. One
 * that has been adopted stays so.
 */
class BorrowedThread {
public:
    BorrowedThread();
    ~BorrowedThread();
    BorrowedThread(const BorrowedThread &) = delete;
    BorrowedThread &operator=(const BorrowedThread &) = delete;

private:
    const bool borrowed_;
};
/* Whether a module, with its variables, is that of other kernels of the same file, too. */
enum class Module { shared, own };
/*
 * A kernel of a file of SASS, PTX or fat binary, or of a program or library with kernels that nvcc has compiled. Throws
 * Error, naming what is missing.
 */
std::unique_ptr<Code> cuda_code(Device &gpu, const std::string &module, const std::string &function,
                                Module which = Module::shared);
/*
 * The same of what is in memory, which need not stay: the content of such a file, or the structure by which a program
 * finds a fat binary of its own, whose magic number is 0x466243b1.
 */
std::unique_ptr<Code> cuda_code_from_image(Device &gpu, std::span<const std::byte> image, const std::string &function,
                                           Module which = Module::shared);
/* CUDA C++, and what the compiler is to know. */
struct CudaSource {
    std::string text;
    /* NVRTC's, say "-I/folder", "-DN=4" or "--use_fast_math". C++17 unless they say otherwise. */
    std::vector<std::string> options = {};
    /* Names for #include, and what is there; those that come with CUDA are found where it is installed. */
    std::vector<std::pair<std::string, std::string>> headers = {};
    bool operator==(const CudaSource &) const = default;
};
/* A kernel of it, where NVRTC is installed; Error says what the compiler says. */
std::unique_ptr<Code> cuda_code_from_source(Device &gpu, const CudaSource &source, const std::string &function,
                                            Module which = Module::shared);

/* A function that gives a GPU work, in the order of a stream. */
struct StreamWork {
    CUstream_st *stream;
    int device; /* its number in the driver's order */
    /* To the value of each; addresses are those of the GPU's memory. */
    const std::vector<void *> &arguments;
};
using StreamFunction = std::function<void(const StreamWork &)>;
/* It is called with the GPU's context; what it throws is thrown by Queue::run(). */
std::unique_ptr<Code> cuda_stream_code(Device &gpu, StreamFunction function);

/*
 * Gives memory back to drivers and the system that is kept for blocks to come and that nobody uses, of the host and of
 * all devices; in bytes. What is kept is at most as much as was in use of late, and a little. Thread-safe; may wait for
 * work that devices have, as drivers do when memory is freed.
 */
std::size_t trim();

/* The GPUs and accelerators that OpenCL shows, or processors if there are none; empty without OpenCL. */
const std::vector<Device *> &opencl_devices();
/* A kernel of OpenCL C. Throws Error with what the compiler says. */
std::unique_ptr<Code> opencl_code(Device &device, const std::string &source, const std::string &function);

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_DEVICE_HPP */
