// SPDX-License-Identifier: MIT
/*
 * Programs made of modules that know nothing of each other: each step copies its inputs in and its outputs out. One
 * thread, or several with a stream each.
 */
#include "samples/ptask/paper/by_hand.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace ptsched::paper {

namespace {

constexpr unsigned thread_count = 4;

/* Device memory for any step, in the order of its parameters. */
class Scratch {
public:
    Scratch(const Gpu &gpu, const Workload &workload)
    {
        std::vector<std::size_t> bytes;
        for (const Step &step : workload.steps) {
            std::size_t i = 0;
            for (const auto &values : {step.inputs, step.outputs})
                for (ValueId value : values) {
                    bytes.resize(std::max(bytes.size(), i + 1));
                    bytes[i] = std::max(bytes[i], workload.values[value].bytes());
                    i++;
                }
            auto [function, is_new] = functions_.try_emplace(step.kernel);
            if (is_new)
                function->second = gpu.function(step.kernel);
        }
        for (std::size_t size : bytes) {
            memory_.push_back(make_memory(size));
            addresses_.push_back(memory_.back().get());
        }
    }

    CUdeviceptr at(std::size_t parameter) const { return addresses_[parameter]; }

    void launch(const Step &step, CUstream stream)
    {
        arguments_.clear();
        for (std::size_t i = 0; i < step.inputs.size() + step.outputs.size(); i++)
            arguments_.push_back(&addresses_[i]);
        if (!step.constant.empty())
            arguments_.push_back(const_cast<std::byte *>(step.constant.data()));
        paper::launch(step, functions_.at(step.kernel), arguments_, stream);
    }

private:
    std::map<std::string, CUfunction> functions_;
    std::vector<Memory> memory_;
    std::vector<CUdeviceptr> addresses_;
    std::vector<void *> arguments_;
};

/* The values of one run, in ordinary memory. */
class HostValues {
public:
    explicit HostValues(const Workload &workload) : workload_(workload), own_(workload.values.size())
    {
        for (ValueId id = 0; id < own_.size(); id++)
            if (!workload.values[id].is_input())
                own_[id].resize(workload.values[id].elements);
    }

    const std::uint32_t *input(ValueId id, unsigned set) const
    {
        const Value &value = workload_.values[id];
        return value.is_input() ? value.contents[set].data() : own_[id].data();
    }
    std::uint32_t *output(ValueId id) { return own_[id].data(); }

    std::vector<const std::uint32_t *> results() const
    {
        std::vector<const std::uint32_t *> found;
        for (ValueId id : workload_.results)
            found.push_back(own_[id].data());
        return found;
    }

private:
    const Workload &workload_;
    std::vector<Content> own_;
};

class Modular final : public Executor {
public:
    Modular(const Gpu &gpu, const Workload &workload)
        : workload_(workload), scratch_(gpu, workload), values_(workload), outcome_(workload)
    {
    }

    void prepare(unsigned) override {}

    void run(unsigned count) override
    {
        for (unsigned i = 0; i < count; i++) {
            set_ = next_++ % workload_.sets;
            for (const Step &step : workload_.steps)
                call(step);
            outcome_.take(values_.results());
        }
    }

    std::vector<Content> results() override { return outcome_.contents(); }
    unsigned last_set() const override { return set_; }

private:
    void call(const Step &step)
    {
        std::size_t parameter = 0;
        for (ValueId id : step.inputs)
            check(driver().upload(scratch_.at(parameter++), values_.input(id, set_), workload_.values[id].bytes()),
                  "cuMemcpyHtoD");
        scratch_.launch(step, nullptr);
        for (ValueId id : step.outputs)
            check(driver().download(values_.output(id), scratch_.at(parameter++), workload_.values[id].bytes()),
                  "cuMemcpyDtoH");
    }

    const Workload &workload_;
    Scratch scratch_;
    HostValues values_;
    Outcome outcome_;
    unsigned next_ = 0, set_ = 0;
};

/* Threads take the steps whose inputs are there, of up to as many runs as there are threads. */
class ModularThreads final : public Executor {
public:
    ModularThreads(const Gpu &gpu, const Workload &workload)
        : gpu_(gpu), workload_(workload), outcome_(workload), followers_(workload.steps.size()),
          inputs_(workload.steps.size())
    {
        auto writer = writers(workload);
        auto reader = readers(workload);
        for (ValueId value = 0; value < workload.values.size(); value++)
            for (std::size_t step : reader[value])
                if (writer[value] != none_writes) {
                    followers_[writer[value]].push_back(step);
                    inputs_[step]++;
                }
        for (unsigned i = 0; i < thread_count; i++)
            runs_.emplace_back(new Run(workload));
        for (unsigned i = 0; i < thread_count; i++)
            threads_.emplace_back(&ModularThreads::work, this);
    }

    ~ModularThreads() override
    {
        {
            std::lock_guard lock(mutex_);
            ending_ = true;
        }
        ready_changed_.notify_all();
        for (std::thread &thread : threads_)
            thread.join();
    }

    void prepare(unsigned) override {}

    void run(unsigned count) override
    {
        unsigned begun = 0;
        for (unsigned ended = 0; ended < count; ended++) {
            for (; begun < count && begun < ended + runs_.size(); begun++)
                begin(*runs_[begun % runs_.size()]);
            Run &run = *runs_[ended % runs_.size()];
            std::unique_lock lock(mutex_);
            run_ended_.wait(lock, [&] { return !run.left || !failure_.empty(); });
            if (!failure_.empty())
                throw Error(failure_);
            lock.unlock();
            set_ = run.set;
            outcome_.take(run.values.results());
        }
    }

    std::vector<Content> results() override { return outcome_.contents(); }
    unsigned last_set() const override { return set_; }

private:
    struct Run {
        explicit Run(const Workload &workload) : values(workload) {}
        HostValues values;
        unsigned set = 0;
        std::size_t left = 0;             /* steps */
        std::vector<std::size_t> missing; /* inputs, by step */
    };

    void begin(Run &run)
    {
        std::lock_guard lock(mutex_);
        run.set = next_++ % workload_.sets;
        run.left = workload_.steps.size();
        run.missing = inputs_;
        for (std::size_t step = 0; step < run.missing.size(); step++)
            if (!run.missing[step])
                ready_.emplace_back(&run, step);
        ready_changed_.notify_all();
    }

    void work()
    {
        try {
            gpu_.enter();
            Scratch scratch(gpu_, workload_);
            Stream stream = make_stream();
            serve(scratch, stream.get());
        } catch (const std::exception &error) {
            std::lock_guard lock(mutex_);
            failure_ = error.what();
            run_ended_.notify_all();
        }
    }

    void serve(Scratch &scratch, CUstream stream)
    {
        std::unique_lock lock(mutex_);
        for (;;) {
            ready_changed_.wait(lock, [this] { return ending_ || !ready_.empty(); });
            if (ending_)
                return;
            auto [run, step] = ready_.front();
            ready_.pop_front();
            lock.unlock();
            call(*run, workload_.steps[step], scratch, stream);
            lock.lock();
            for (std::size_t follower : followers_[step])
                if (!--run->missing[follower]) {
                    ready_.emplace_back(run, follower);
                    ready_changed_.notify_one();
                }
            if (!--run->left)
                run_ended_.notify_all();
        }
    }

    void call(Run &run, const Step &step, Scratch &scratch, CUstream stream)
    {
        std::size_t parameter = 0;
        for (ValueId id : step.inputs)
            check(driver().upload_async(scratch.at(parameter++), run.values.input(id, run.set),
                                        workload_.values[id].bytes(), stream),
                  "cuMemcpyHtoDAsync");
        scratch.launch(step, stream);
        for (ValueId id : step.outputs)
            check(driver().download_async(run.values.output(id), scratch.at(parameter++), workload_.values[id].bytes(),
                                          stream),
                  "cuMemcpyDtoHAsync");
        check(driver().stream_synchronize(stream), "cuStreamSynchronize");
    }

    const Gpu &gpu_;
    const Workload &workload_;
    Outcome outcome_;
    std::vector<std::vector<std::size_t>> followers_; /* by step */
    std::vector<std::size_t> inputs_;                 /* by step: those that other steps write */
    unsigned next_ = 0, set_ = 0;

    std::mutex mutex_; /* protects what follows */
    std::condition_variable ready_changed_, run_ended_;
    std::deque<std::pair<Run *, std::size_t>> ready_;
    std::vector<std::unique_ptr<Run>> runs_;
    std::string failure_;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

} // namespace

std::unique_ptr<Executor> make_modular(const Gpu &gpu, const Workload &workload)
{
    return std::make_unique<Modular>(gpu, workload);
}

std::unique_ptr<Executor> make_modular_threads(const Gpu &gpu, const Workload &workload)
{
    return std::make_unique<ModularThreads>(gpu, workload);
}

} // namespace ptsched::paper
