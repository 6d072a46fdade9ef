// SPDX-License-Identifier: MIT
/* A launch as a child of the process. */
#include "tests/vgpu/libcuda/own_addresses.h"

#include "tests/sanitizers.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

namespace vgpu {

namespace {

constexpr std::size_t most_pieces = 1 << 16, most_devices = 8;

/* In memory that children share. The process writes it under the driver's lock; children read. */
struct SharedPiece {
    std::atomic<std::uint64_t> generation; /* odd: it is there */
    std::uintptr_t address;
    std::size_t bytes, offset;
    int fd; /* the process's */
    std::uint8_t rights[most_devices];
};

struct Pieces {
    std::atomic<std::size_t> used; /* none is at or behind that */
    SharedPiece all[most_pieces];
};

Pieces *make_pieces()
{
    void *memory =
        mmap(nullptr, sizeof(Pieces), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Pieces *>(memory);
}

Pieces *pieces()
{
    static Pieces *const made = make_pieces();
    return made;
}

bool there(const SharedPiece &piece)
{
    return piece.generation.load(std::memory_order_acquire) & 1;
}

SharedPiece *find_piece(std::uintptr_t address)
{
    Pieces *const known = pieces();
    const std::size_t used = known ? known->used.load() : 0;
    for (std::size_t i = 0; i < used; i++)
        if (there(known->all[i]) && address - known->all[i].address < known->all[i].bytes)
            return &known->all[i];
    return nullptr;
}

/* What a child tells its parent. */
struct Report {
    vgpu_sum sum;
    std::uintptr_t fault; /* where it was stopped, if it was */
    bool stopped, done, stuck;
};

/* Of a child. */
struct Child {
    Report *report;
    CUdevice device;
    pid_t parent;
    std::atomic_flag mapping;
    std::uint64_t mapped[most_pieces]; /* the generation that is mapped here */
};
Child child;

[[noreturn]] void end_child()
{
    /* Nothing that the program does at its end, nor a sanitizer. */
    syscall(SYS_exit_group, 0);
    __builtin_unreachable();
}

/* Without what a sanitizer would do besides, in a handler. */
bool map_piece(const SharedPiece &piece, unsigned int rights)
{
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", child.parent, piece.fd);
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    const int protection = PROT_READ | (rights & write_right ? PROT_WRITE : 0);
    const long mapped =
        syscall(SYS_mmap, piece.address, piece.bytes, protection, MAP_SHARED | MAP_FIXED, fd, piece.offset);
    syscall(SYS_close, fd);
    return mapped == static_cast<long>(piece.address);
}

/* Whether the access can be tried again: what the device has there is mapped now. */
bool bring(std::uintptr_t address, bool writes)
{
    const SharedPiece *piece = find_piece(address);
    const unsigned int rights = piece ? piece->rights[child.device] : 0u;
    if (!(rights & (writes ? write_right : read_right)))
        return false;
    const std::uint64_t generation = piece->generation;
    std::uint64_t &mapped = child.mapped[piece - pieces()->all];
    while (child.mapping.test_and_set(std::memory_order_acquire))
        ;
    const bool good = mapped == generation || map_piece(*piece, rights);
    if (good)
        mapped = generation;
    child.mapping.clear(std::memory_order_release);
    return good;
}

void on_fault(int, siginfo_t *info, void *context)
{
    constexpr greg_t by_write = 2;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (bring(address, static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & by_write))
        return;
    child.report->fault = address;
    child.report->stopped = true;
    end_child();
}

#ifdef PTSCHED_TEST_ASAN
constexpr int most_forks = 100;

/*
 * The address sanitizer takes none of its locks for a fork: what another thread held is held in the child for good.
 * The child finds out before it has done anything, by what kernels do, and leaves it to another one.
 */
void try_sanitizer()
{
    constexpr unsigned seconds = 2;
    struct sigaction too_late {};
    sigset_t alarm_only;
    too_late.sa_handler = [](int) {
        child.report->stuck = true;
        end_child();
    };
    sigaction(SIGALRM, &too_late, nullptr);
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, nullptr);
    alarm(seconds);
    std::thread([] {}).join();
    for (std::size_t bytes = 16; bytes <= 1 << 17; bytes *= 2)
        delete[] new volatile char[bytes];
    alarm(0);
    pthread_sigmask(SIG_BLOCK, &alarm_only, nullptr);
}
#else
constexpr int most_forks = 1;

void try_sanitizer() {}
#endif

[[noreturn]] void be_device(CUdevice device, pid_t parent, const GridCall &call, Report &report)
{
    struct sigaction fault {};
    sigset_t others;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        end_child();
    /* Who waits for the end of a pipe of the program's does not wait for a kernel. */
    syscall(SYS_close_range, 3, ~0u, 0);
    child.report = &report;
    child.device = device;
    child.parent = parent;
    for (const auto &[begin, bytes] : reserved_ranges())
        syscall(SYS_mmap, begin, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    fault.sa_sigaction = on_fault;
    fault.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &fault, nullptr);
    sigaction(SIGBUS, &fault, nullptr);
    sigfillset(&others);
    sigdelset(&others, SIGSEGV);
    sigdelset(&others, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &others, nullptr);
    try_sanitizer();
    report.sum = run_grid(call);
    report.done = true;
    end_child();
}

vgpu_sum trap(const char *kernel, const char *what, unsigned long long number)
{
    std::fprintf(stderr, "vgpu: %s: %s 0x%llx\n", kernel, what, number);
    return {0, VGPU_TRAPPED};
}

vgpu_sum wait_for(pid_t process, const Report &report, const char *kernel)
{
    int status = 0;
    /* If the program lets nobody be waited for, this fails when the child has ended. */
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    if (report.done || report.stuck)
        return report.sum;
    if (report.stopped)
        return trap(kernel, "its device has no memory, or not that right, at", report.fault);
    return trap(kernel, "ended by itself, with status", static_cast<unsigned int>(status));
}

vgpu_sum run_forked(CUdevice device, const GridCall &call, Report &report)
{
    const pid_t parent = getpid();
    pid_t process;
    int error;
    {
        /* What the child reads is whole then. */
        const Guard lock(state().lock);
        process = fork();
        error = errno;
        if (process == 0)
            be_device(device, parent, call, report);
    }
    if (process < 0)
        return trap(call.kernel.name, "no process for it: error", static_cast<unsigned int>(error));
    return wait_for(process, report, call.kernel.name);
}

} // namespace

vgpu_sum run_apart(CUdevice device, const GridCall &call)
{
    void *memory = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return trap(call.kernel.name, "no memory: error", static_cast<unsigned int>(errno));
    Report &report = *static_cast<Report *>(memory);
    vgpu_sum sum;
    int forks = 0;
    do {
        report = {};
        sum = run_forked(device, call, report);
    } while (report.stuck && ++forks < most_forks);
    if (report.stuck)
        sum = trap(call.kernel.name, "no process that can run it, of so many:", static_cast<unsigned int>(forks));
    munmap(memory, sizeof(Report));
    return sum;
}

bool show_piece(const DevicePiece &piece, CUdevice device, unsigned int rights)
{
    Pieces *const known = pieces();
    if (!known || static_cast<std::size_t>(device) >= most_devices)
        return false;
    SharedPiece *place = find_piece(piece.address);
    if (place) {
        /* Who has mapped it does so again, with the rights of now. */
        place->rights[device] = static_cast<std::uint8_t>(rights);
        place->generation += 2;
        return true;
    }
    std::size_t i = 0;
    while (i < most_pieces && there(known->all[i]))
        i++;
    if (i == most_pieces)
        return false;
    place = &known->all[i];
    place->address = piece.address;
    place->bytes = piece.bytes;
    place->offset = piece.offset;
    place->fd = piece.fd;
    std::fill_n(place->rights, most_devices, static_cast<std::uint8_t>(no_rights));
    place->rights[device] = static_cast<std::uint8_t>(rights);
    if (i >= known->used)
        known->used = i + 1;
    place->generation++;
    return true;
}

void hide_piece(std::uintptr_t address)
{
    if (SharedPiece *piece = find_piece(address))
        piece->generation++;
}

} // namespace vgpu
