// SPDX-License-Identifier: MIT
/* As an expert uses several GPUs for what is easily divided: each has a thread, which does as with one GPU. */
#include "samples/ptask/paper/executor.hpp"

#include <future>

namespace ptsched::paper {

namespace {

class BestOnGpus final : public Executor {
public:
    BestOnGpus(const std::string &module, const std::vector<Workload> &parts, unsigned count) : members_(parts.size())
    {
        /* At the same time, so that each finds the way that is the fastest while others share the host's memory. */
        on_all([&](Member &member, std::size_t number) {
            member.gpu = std::make_unique<Gpu>(module, static_cast<int>(number));
            member.executor = make_best(*member.gpu, parts[number], count);
        });
    }

    ~BestOnGpus() override
    {
        try {
            on_all([](Member &member, std::size_t) { member.executor.reset(); });
        } catch (const device::Error &) {
            /* The driver has given up: it has nothing to free. */
        }
    }

    void prepare(unsigned count) override
    {
        on_all([count](Member &member, std::size_t) { member.executor->prepare(count); });
    }

    void run(unsigned count) override
    {
        on_all([count](Member &member, std::size_t) { member.executor->run(count); });
    }

    /* One part's after the other's. */
    std::vector<Content> results() override
    {
        std::vector<Content> all;
        for (Member &member : members_)
            for (Content &content : member.executor->results())
                all.push_back(std::move(content));
        return all;
    }

    unsigned last_set() const override { return members_.front().executor->last_set(); }

    std::string choice() const override
    {
        std::string all;
        for (const Member &member : members_)
            all += (all.empty() ? "" : "; ") + member.executor->choice();
        return all;
    }

private:
    struct Member {
        std::unique_ptr<Gpu> gpu; /* goes after what uses it */
        std::unique_ptr<Executor> executor;
    };

    /* A thread is made in a small part of the time of the many runs that it does. */
    template <typename Function> void on_all(Function function)
    {
        std::vector<std::future<void>> threads;
        for (std::size_t i = 0; i < members_.size(); i++)
            threads.push_back(std::async(std::launch::async, [this, &function, i] {
                if (members_[i].gpu)
                    members_[i].gpu->enter();
                function(members_[i], i);
            }));
        for (auto &thread : threads)
            thread.get();
    }

    std::vector<Member> members_;
};

} // namespace

std::unique_ptr<Executor> make_best_on_gpus(const std::string &module, const std::vector<Workload> &parts,
                                            unsigned count)
{
    return std::make_unique<BestOnGpus>(module, parts, count);
}

} // namespace ptsched::paper
