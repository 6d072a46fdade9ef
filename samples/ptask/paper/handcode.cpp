// SPDX-License-Identifier: MIT
/* As the paper's experts did it: one thread, and no copy that is not needed. */
#include "samples/ptask/paper/by_hand.hpp"

namespace ptsched::paper {

namespace {

class Handcode final : public Executor {
public:
    Handcode(const Gpu &gpu, const Workload &workload)
        : workload_(workload), buffers_(gpu, workload, Layout(workload)), outcome_(workload)
    {
        for (ValueId value : workload.results) {
            downloaded_.emplace_back(workload.values[value].elements);
            addresses_.push_back(downloaded_.back().data());
        }
        if (workload.inputs_stay)
            upload(0);
    }

    void prepare(unsigned) override {}

    void run(unsigned count) override
    {
        for (unsigned i = 0; i < count; i++) {
            set_ = next_++ % workload_.sets;
            if (!workload_.inputs_stay)
                upload(set_);
            for (std::size_t step = 0; step < workload_.steps.size(); step++)
                buffers_.launch(step, nullptr);
            if (workload_.results_stay)
                check(driver().stream_synchronize(nullptr), "cuStreamSynchronize");
            else
                download();
        }
    }

    std::vector<Content> results() override
    {
        if (workload_.results_stay)
            download();
        return outcome_.contents();
    }

    unsigned last_set() const override { return set_; }

private:
    void upload(unsigned set)
    {
        for (ValueId id = 0; id < workload_.values.size(); id++) {
            const Value &value = workload_.values[id];
            if (value.is_input())
                check(driver().upload(buffers_.at(id), value.contents[set].data(), value.bytes()), "cuMemcpyHtoD");
        }
    }

    void download()
    {
        for (std::size_t i = 0; i < workload_.results.size(); i++) {
            ValueId id = workload_.results[i];
            check(driver().download(downloaded_[i].data(), buffers_.at(id), workload_.values[id].bytes()),
                  "cuMemcpyDtoH");
        }
        outcome_.take(addresses_);
    }

    const Workload &workload_;
    Buffers buffers_;
    std::vector<Content> downloaded_;
    std::vector<const std::uint32_t *> addresses_;
    Outcome outcome_;
    unsigned next_ = 0, set_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_handcode(const Gpu &gpu, const Workload &workload)
{
    return std::make_unique<Handcode>(gpu, workload);
}

const std::vector<Variant> &variants()
{
    static const std::vector<Variant> all{
        {"handcode", [](const Gpu &gpu, const Workload &w, unsigned) { return make_handcode(gpu, w); }},
        {"best", [](const Gpu &gpu, const Workload &w, unsigned count) { return make_best(gpu, w, count); }},
        {"modular", [](const Gpu &gpu, const Workload &w, unsigned) { return make_modular(gpu, w); }},
        {"modular-threads", [](const Gpu &gpu, const Workload &w, unsigned) { return make_modular_threads(gpu, w); }},
        {"ptask", [](const Gpu &gpu, const Workload &w, unsigned) { return make_ptask(gpu.module_path(), w); }},
    };
    return all;
}

} // namespace ptsched::paper
