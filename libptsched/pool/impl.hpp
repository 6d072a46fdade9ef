/* SPDX-License-Identifier: MIT */
/* What is behind pool.hpp: queues, the thread that fills slots and empties them, and what runs on the host. */
#ifndef PTSCHED_POOL_IMPL_HPP
#define PTSCHED_POOL_IMPL_HPP

#include "libptsched/pool/guest.hpp"
#include <ptsched/device/host_pool.hpp>
#include <ptsched/pool.hpp>

#include <array>
#include <exception>
#include <span>
#include <thread>

namespace ptsched::pool {

/* To which tasks come back. */
struct alignas(64) Output {
    Output(std::size_t capacity, std::size_t bytes) : results(capacity, bytes) {}
    TaskQueue results;
    Sleepers arrivals, rooms;
    alignas(64) std::atomic<std::uint64_t> pushed{0};
    alignas(64) std::atomic<std::uint64_t> arrived{0}; /* in results, now or before */
    alignas(64) std::atomic<std::uint64_t> popped{0};
};

class CoreImpl final : public Core {
public:
    CoreImpl(Options options, std::vector<Kind> kinds);
    ~CoreImpl() override;

    void on_host(unsigned kind, HostFunction function) override;
    std::size_t push(unsigned kind, const void *tasks, std::size_t count, const Push &how, Duration most) override;
    std::size_t pop(unsigned output, std::size_t count, const Take &take, Duration most) override;
    std::size_t unfinished(unsigned output) const override;
    void close() override;
    void stop() override;
    void end() override;
    bool wait(Duration most) override;
    State state() const override;
    bool send(unsigned kind, Receipt &receipt, const Push &how, Duration most) override;
    bool await(const Receipt &receipt, Duration most) override;
    unsigned blocks(unsigned device) const override;

private:
    enum class Life : int { open, closed, stopped, failed };

    /* By priority, the most urgent last. */
    struct Inputs {
        std::vector<std::unique_ptr<TaskQueue>> queues;
        bool empty() const;
    };

    void check_options() const;
    void check_output(unsigned output) const;
    Inputs make_inputs() const;
    std::unique_ptr<Resident> make_resident(device::Device &device);
    TaskQueue &queue_for(unsigned kind, const Push &how);
    Life life() const { return life_.load(std::memory_order_acquire); }
    void end_with(Life life);
    void throw_failure() const;
    void refuse_push() const;
    Sleepers &senders_of(const Receipt &receipt);

    /* The pool's thread. */
    void work();
    bool collect(Guest &guest);
    void count_done(std::size_t tasks);
    bool put_into_output(Resident &resident);
    void give_back(Resident &resident);
    bool hand_out();
    std::size_t give(Inputs &from, Guest &to, std::size_t most);
    Guest *least_loaded();
    bool is_wanted(std::size_t place) const;
    void look_after_guests();
    void ask_host();
    bool has_something_to_do();
    void rest();
    void fail_device(std::exception_ptr cause);
    void fail(std::exception_ptr cause, const std::string &what);
    void take_off();

    /* On the host. */
    void ready_on_host(std::size_t tasks);
    void do_on_host();
    bool take_for_host(std::byte *task, Label &label);
    void run_on_host(std::byte *task, const Label &label);

    const Options options_;
    const std::vector<Kind> kinds_;
    std::size_t task_bytes_ = 0; /* of the largest kind */
    std::vector<HostFunction> host_functions_;
    const std::unique_ptr<device::Code> host_step_; /* does a task of the host */
    std::vector<std::unique_ptr<device::Queue>> host_queues_;
    std::atomic<std::size_t> next_host_queue_{0};

    /* To each device, to any, to the host, to either. */
    std::vector<Inputs> bound_;
    Inputs any_, host_, either_;
    Sleepers room_, work_;
    std::vector<std::unique_ptr<Output>> outputs_;
    /* Those that wait for receipts: who wakes one wakes few others. */
    std::array<Sleepers, 16> senders_;

    std::atomic<Life> life_{Life::open};
    mutable Mutex failure_mutex_;
    std::exception_ptr failure_ PTSCHED_GUARDED_BY(failure_mutex_);
    std::atomic<bool> news_{false};    /* a turn came or is called back */
    std::atomic<unsigned> on_host_{0}; /* steps that the host's queues have */
    std::vector<unsigned> found_;      /* by the thread: blocks with results */
    unsigned rests_ = 0;               /* of the thread, one after another */
    std::atomic<std::uint64_t> done_on_devices_{0}, done_on_host_{0};
    std::atomic<std::size_t> in_slots_{0};
    /* Last, since their turns wake the thread. */
    std::vector<std::unique_ptr<Guest>> guests_;
    std::vector<const Guest *> stay_; /* by the thread when it ends: those whose kernels do not */
    Mutex end_mutex_;
    std::thread thread_ PTSCHED_GUARDED_BY(end_mutex_);
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_IMPL_HPP */
