/* SPDX-License-Identifier: MIT */
/*
 * One device and its programs, from event to event. The device runs one kernel at a time. Before the first kernel of
 * another program it stands still for a hand-over, which counts as that one's device time.
 */
#ifndef PTSIM_ENGINE_HPP
#define PTSIM_ENGINE_HPP

#include "tools/ptsim/fluid.hpp"
#include "tools/ptsim/program.hpp"
#include "tools/ptsim/scheduler.hpp"

#include <functional>
#include <queue>
#include <vector>

namespace ptsim {

/* What became of a program. */
struct Outcome {
    Ns arrived = kNever;
    Ns left = kNever;
    Ns first_served = kNever;
    Ns gpu_ns = 0;    /* kernels */
    Ns device_ns = 0; /* hand-overs, too */
    std::uint64_t bursts = 0;
    Ns work_ns = 0;               /* of these bursts */
    std::vector<Ns> latencies_ns; /* from when a burst was due to its end */
    /* Device time less that of the fluid schedule: the most, and the least with its sign turned. */
    double ahead_ns = 0;
    double behind_ns = 0;
};

struct Lag {
    Ns at;
    std::vector<double> ns; /* of those that are watched */
};

class Engine {
public:
    Engine(const Machine &machine, Scheduler &scheduler, const std::vector<Program> &programs);

    /* Look at the lag of the programs @ids each @interval. */
    void watch(std::vector<std::uint32_t> ids, Ns interval);
    /* Called now and then with the time. */
    void on_progress(std::function<void(Ns)> callback) { progress_ = std::move(callback); }

    void run(Ns until);

    const std::vector<Outcome> &outcomes() const { return outcomes_; }
    const std::vector<Task> &tasks() const { return tasks_; }
    const std::vector<Lag> &lags() const { return lags_; }
    Ns now() const { return now_; }
    std::uint64_t handovers() const { return handovers_; }
    std::uint64_t preemptions() const { return preemptions_; }
    Ns gpu_ns() const { return gpu_ns_; }
    /* Somebody had work, and the device did nothing. */
    Ns idle_ns() const { return idle_ns_; }

private:
    static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

    struct State {
        Pattern pattern;
        Burst next{};         /* or the one that is being done */
        Ns burst_left_ns = 0; /* the kernel that was begun among it */
        Ns kernel_ns = 0;     /* that was begun; 0: none */
        Ns kernel_left_ns = 0;
        bool present = false;
        bool has_work = false;
    };

    struct Release {
        Ns at;
        std::uint32_t id;
        bool operator>(const Release &other) const { return at != other.at ? at > other.at : id > other.id; }
    };

    bool mid_kernel() const { return on_ != kNobody && !handover_left_ns_ && states_[on_].kernel_ns; }
    Ns next_event(Ns until) const;
    void advance(Ns to);
    void serve(Ns dt);
    void tell_run(std::uint32_t kernels);
    void end_kernel();
    void end_burst(std::uint32_t id);
    void release(std::uint32_t id);
    void start_burst(std::uint32_t id);
    void stop_work(std::uint32_t id);
    void end_process(std::uint32_t id);
    void decide();
    void turn_to(std::uint32_t id);
    void begin_kernel();
    void note_lag(std::uint32_t id);
    void look();

    const Machine machine_;
    Scheduler &scheduler_;
    const std::vector<Program> &programs_;
    std::vector<Task> tasks_;
    std::vector<State> states_;
    std::vector<Outcome> outcomes_;
    Fluid fluid_;
    std::priority_queue<Release, std::vector<Release>, std::greater<>> releases_;
    std::function<void(Ns)> progress_;

    Ns now_ = 0;
    Ns again_at_ = kNever;
    std::uint32_t on_ = kNobody;
    std::uint32_t context_ = kNobody; /* whose is on the device, work or not */
    Ns handover_left_ns_ = 0;
    Run untold_;
    std::uint32_t have_work_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t handovers_ = 0;
    std::uint64_t preemptions_ = 0;
    Ns gpu_ns_ = 0;
    Ns idle_ns_ = 0;

    std::vector<std::uint32_t> watched_;
    Ns watch_interval_ = 0;
    Ns look_at_ = kNever;
    std::vector<Lag> lags_;
};

} // namespace ptsim

#endif
