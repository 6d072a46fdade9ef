// SPDX-License-Identifier: MIT
#include "libptsched/base/no_signals.hpp"
#include "libptsched/spmd/link/in_process.hpp"
#include "libptsched/spmd/run/member.hpp"
#include <ptsched/spmd/core.hpp>

#include <thread>

namespace ptsched::spmd {
namespace {

void check_placed(const Work &work)
{
    const Program &program = work.program;
    const auto refuse = [&](const std::string &why) {
        throw Error("job \"" + program.name + "\" has Output::value_bytes, " + why);
    };
    if (program.key_width != sizeof(std::uint64_t) ||
        (program.order != Order::unsigned_numbers && program.order != Order::signed_numbers))
        refuse("for which keys are integers of 8 bytes, and its keys are none");
    if (program.combines() || program.reduce)
        refuse("which is for maps alone, and it combines or reduces");
    if (!work.output.path.empty())
        refuse("and Output::path: results go to one of the two");
    if (work.output.where != Output::Where::root)
        refuse("and Output::where is to be root: values go to the memory of rank 0");
    if (program.value_width != any_width && program.value_width != work.output.value_bytes)
        refuse("which is " + std::to_string(work.output.value_bytes) + ", and its values have " +
               std::to_string(program.value_width) + " bytes");
}

/* Whatever is wrong with it on every rank alike. */
void check(const Work &work)
{
    const Program &program = work.program;
    if (!program.on_cpu() && !program.on_gpu())
        throw Error("job \"" + program.name + "\" has no map: Job::cpu.map, Job::gpu.kernels or Job::gpu.host is one");
    if (!work.input.source())
        throw Error("job \"" + program.name + "\" has no input: Job::input says what it reads");
    if (work.output.value_bytes)
        check_placed(work);
}

} // namespace

class Core::Impl {
public:
    Impl(const Options &options, std::vector<std::unique_ptr<Link>> links) : links_(std::move(links))
    {
        const auto known = std::make_shared<KnownMachine>();
        for (const std::unique_ptr<Link> &link : links_)
            members_.push_back(std::make_unique<Member>(options, *link, known));
    }

    Link &link() { return *links_.front(); }
    std::vector<Devices> devices_for(const Program &program)
    {
        std::vector<Devices> devices;
        for (const std::unique_ptr<Member> &member : members_)
            devices.push_back(member->devices_for(program));
        return devices;
    }
    Outcome run(const Work &work, std::vector<Devices> &devices, std::span<const std::byte> parameters, bool again);

private:
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<std::unique_ptr<Member>> members_;
};

/* Each rank of this process has a thread; the caller's is the first one's. */
Outcome Core::Impl::run(const Work &work, std::vector<Devices> &devices, std::span<const std::byte> parameters,
                        bool again)
{
    std::vector<std::optional<Member::Result>> results(members_.size());
    std::vector<std::exception_ptr> errors(members_.size());
    const auto run_one = [&](std::size_t i) {
        try {
            results[i] = members_[i]->run(work, devices[i], parameters, again);
        } catch (...) {
            errors[i] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        {
            const NoSignals no_signals;
            for (std::size_t i = 1; i < members_.size(); i++)
                threads.emplace_back(run_one, i);
        }
        run_one(0);
    }
    if (errors[0])
        std::rethrow_exception(errors[0]);
    Outcome outcome;
    outcome.report = std::move(results[0]->report);
    for (std::optional<Member::Result> &result : results)
        outcome.parts.push_back(result ? std::move(result->pairs)
                                       : Pairs(work.program.key_width, work.program.value_width));
    return outcome;
}

class Core::Kept {
public:
    explicit Kept(Work work) : work(std::move(work)) {}

    const Work work;
    std::vector<Devices> devices;
};

Core::Core(Options options)
{
    if (options.ranks == 0)
        throw Error("Options::ranks is 0: a job needs at least one");
    const auto hub = std::make_shared<Hub>(options.ranks);
    std::vector<std::unique_ptr<Link>> links;
    for (unsigned rank = 0; rank < options.ranks; rank++)
        links.push_back(hub->link(rank));
    impl_ = std::make_unique<Impl>(options, std::move(links));
}

Core::Core(Options options, std::unique_ptr<Link> link)
{
    std::vector<std::unique_ptr<Link>> links;
    links.push_back(std::move(link));
    impl_ = std::make_unique<Impl>(options, std::move(links));
}

Core::~Core() = default;
Core::Core(Core &&) noexcept = default;
Core &Core::operator=(Core &&) noexcept = default;

unsigned Core::rank() const
{
    return impl_->link().rank();
}

unsigned Core::ranks() const
{
    return impl_->link().ranks();
}

Outcome Core::run(const Work &work, std::span<const std::byte> parameters)
{
    check(work);
    std::vector<Devices> devices = impl_->devices_for(work.program);
    return impl_->run(work, devices, parameters, false);
}

std::shared_ptr<Core::Kept> Core::keep(Work work)
{
    check(work);
    auto kept = std::make_shared<Kept>(std::move(work));
    kept->devices = impl_->devices_for(kept->work.program);
    return kept;
}

Outcome Core::run(Kept &kept, std::span<const std::byte> parameters)
{
    return impl_->run(kept.work, kept.devices, parameters, true);
}

/* Who knows of nobody who has something brings all of it. */
void Core::renew(Kept &kept)
{
    for (Devices &devices : kept.devices) {
        devices.homes.clear();
        devices.ranks.clear();
    }
}

} // namespace ptsched::spmd
