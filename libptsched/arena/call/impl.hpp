/* SPDX-License-Identifier: MIT */
/* What is behind call.hpp. */
#ifndef PTSCHED_ARENA_CALL_IMPL_HPP
#define PTSCHED_ARENA_CALL_IMPL_HPP

#include "libptsched/arena/call/functions.hpp"
#include "libptsched/arena/call/host_functions.hpp"
#include "libptsched/arena/call/line_slots.hpp"
#include "libptsched/arena/call/record.hpp"
#include "libptsched/arena/call/server.hpp"
#include <ptsched/device/turns.hpp>

namespace ptsched::arena::detail {

/* One of the devices. */
struct Gpu {
    Gpu(device::Device &its_device, unsigned line_slots) : device(its_device), line(device, line_slots) {}

    device::Device &device;
    LineSlots line;
    unsigned blocks = 0; /* of the kernel that stays */

    /* For calls that are spread; made before a kernel stays, for which the driver might wait. Null: it cannot be. */
    std::unique_ptr<device::Code> spread;
    std::exception_ptr no_spread; /* why */
    std::unique_ptr<device::Queue> queue;
    Mutex launch_mutex;                                             /* for the order of the queue */
    Mutex mutex;                                                    /* held for an instant only */
    std::unique_ptr<device::Turns> turns PTSCHED_GUARDED_BY(mutex); /* made with the first of them, if ever */
    bool has_turns = false;                                         /* or needs none; under the lock of targets */
    std::vector<device::MarkerPtr> begun PTSCHED_GUARDED_BY(mutex); /* that may be on the device */
    std::atomic<unsigned> begun_count{0};

    /* Null: there are none. They stay. */
    device::Turns *get_turns();
};

class CallsImpl;

/* On the stack of a thread that does a function of the host for a kernel. */
struct Serving {
    CallsImpl &of;
    unsigned record; /* whose function has called it */
    const HostFunction &function;
};

class CallsImpl final : public CallCore {
public:
    explicit CallsImpl(CallOptions options);
    ~CallsImpl() override;

    const Target &find(const std::string &name, const SignatureOf &signature, const Run &how) override;
    unsigned number(const std::string &name, const SignatureOf &signature) override;
    const Target &at(unsigned number, const SignatureOf &signature, const Run &how) override;
    void add(const std::string &name, const SignatureOf &signature, Invoke invoke, Waits waits) override;
    void call_here(unsigned number, const SignatureOf &signature, const std::byte *arguments,
                   std::byte *result) override;

    void run(const Target &target, const std::byte *arguments, std::byte *result) override;
    Record &start(const Target &target, const std::byte *arguments) override;
    bool await(Record &record, Duration most) override;
    void finish(Record &record, std::byte *result) override;
    void drop(Record &record) noexcept override;

    Line line(unsigned gpu) override;
    void listen(bool yes) override;
    void check() override;

private:
    /* A function of the host that waits for a call, for which the block that has called it waits. */
    struct Hold {
        unsigned record;
        const Record *awaited;
        bool operator==(const Hold &) const = default;
    };
    /* As long as it lives, others do what kernels call. */
    class Aside;

    void check_options() const;
    void check_how(const Run &how) const;
    std::unique_ptr<pool::Core> make_pool() const;
    void check_signature(const FunctionText &function, const SignatureOf &signature) const;
    void check_pointer(const void *pointer, const std::string &what) const;
    void collect_pointers(std::span<const PointerAt> places, const std::byte *arguments, const std::string &name,
                          std::vector<const void *> &to) const;
    void prepare_spread(const Run &how);
    void make_spread(Gpu &gpu) const;

    Record &make(const Target &target);
    void begin(Record &record, const std::byte *arguments);
    void begin_in_slot(Record &record, const std::byte *arguments);
    void begin_spread(Record &record, const std::byte *arguments);
    bool await_spread(const Record &record, Duration most) const;
    bool has_ended(const Record &record) const;
    void release(Record &record);
    std::exception_ptr take_failure(Record &record);
    void fail(unsigned record, std::exception_ptr failure);
    void hold(const Hold &hold);
    void let_go(const Hold &hold);

    /* The server's. */
    bool look(Server &server);
    bool serve_next(Server &server, Gpu &gpu);
    void serve(Gpu &gpu, unsigned ticket, const Request &request, const HostFunction &function,
               const std::byte *arguments);
    void answer(Gpu &gpu, unsigned ticket, const Request &request, Status status, const std::byte *result,
                unsigned bytes);
    bool refuse_unknown(Gpu &gpu, unsigned ticket, const Request &request, const HostFunction *function);
    bool hear_complaint(Gpu &gpu, unsigned ticket, const Request &request);
    std::string caller(unsigned record) const;
    bool look_after_spread(Gpu &gpu);
    bool look_after_dropped();

    const CallOptions options_;
    std::vector<std::unique_ptr<Gpu>> gpus_;
    const Functions functions_;
    HostFunctions host_functions_;
    Mutex targets_mutex_;
    std::vector<std::unique_ptr<Target>> targets_ PTSCHED_GUARDED_BY(targets_mutex_);
    Records records_;

    Mutex failures_mutex_;                                                         /* of records, too */
    std::vector<std::exception_ptr> failures_ PTSCHED_GUARDED_BY(failures_mutex_); /* of kernels that nobody called */
    Mutex holds_mutex_;
    std::vector<Hold> holds_ PTSCHED_GUARDED_BY(holds_mutex_);
    Mutex dropped_mutex_;
    std::vector<Record *> dropped_ PTSCHED_GUARDED_BY(dropped_mutex_);
    std::atomic<unsigned> dropped_count_{0};
    unsigned looks_ = 0; /* by who looks for calls */
    const std::unique_ptr<pool::Core> pool_;
    /* Last: its threads use the rest. */
    Server server_;
};

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_IMPL_HPP */
