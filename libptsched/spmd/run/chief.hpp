/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_CHIEF_HPP
#define PTSCHED_SPMD_RUN_CHIEF_HPP

#include "libptsched/spmd/pairs/run.hpp"
#include "libptsched/spmd/run/member.hpp"
#include "libptsched/spmd/run/protocol.hpp"
#include "libptsched/spmd/run/timeline.hpp"
#include "libptsched/spmd/schedule/master.hpp"

#include <map>
#include <optional>
#include <set>

namespace ptsched::spmd {

/*
 * What rank 0 does besides what each does: it hands out partitions, sees who is still there, and has the stages begin
 * when all are ready for them. It never waits; whatever it decides, it tells the ranks, itself too.
 */
class Chief {
public:
    /*
     * All of it outlives it. @is_kept: a job; @homes: which rank had which partition in its last run; @makes_few:
     * pairs, which are not worth several threads of a rank.
     */
    Chief(Member &member, const Work &work, std::span<const std::byte> parameters, std::uint32_t run,
          const std::shared_ptr<Spill> &spill, const Stopwatch &watch, std::vector<schedule::Home> homes,
          bool is_kept = false, bool makes_few = false);

    /* Of a message up. Throws Error if the job cannot go on. */
    void handle(const Message &message);
    /* Of the partition that this rank is at, so many bytes. */
    void has_mapped(std::uint64_t bytes) { partial_[link_.rank()] = bytes; }
    /* This rank has reduced its part, and that is what it has done. */
    void has_reduced(const Report::Rank &report);
    /* Every now and then: who is lost, who waits. */
    void tick();
    /* Ends the job everywhere. */
    void stop(const std::string &why);

    /* All ranks have reduced their part. */
    bool is_reduced() const;
    /* The results that have come, by buckets, once. */
    std::map<std::uint32_t, Run> take_results();
    /* Pairs that have come with what is done, once. */
    std::vector<Run> take_few();
    /* Tells each: the whole result, if it is to have it, and that all is done. */
    void finish(const Pairs *whole);
    Report report() const;
    /* Which rank has had which partition. */
    std::vector<schedule::Home> homes() const;

private:
    enum class Stage { hello, map, reduce, finished };
    struct Told {
        double rate, guess; /* see Plan */
    };
    /* Of one rank, where rank 0 reduces all and few pairs come with what is done. */
    struct Come {
        std::vector<Run> runs = {};
        bool is_some = false, is_all = true;
    };

    std::vector<unsigned> alive() const;
    void send(unsigned to, const Head &head, std::string_view bytes = {});
    void send_all(const Head &head, std::string_view bytes = {});
    void hello(unsigned from, const Head &head, const std::string &name);
    bool are_rates_known() const;
    std::vector<double> rates() const;
    schedule::MasterOptions options_by(const std::vector<double> &rates) const;
    void begin();
    std::uint64_t buckets() const;
    void want(unsigned from);
    void done(unsigned from, const Head &head, std::span<const std::byte> body);
    void take(unsigned from, const Head &head, std::span<const std::byte> body, bool counts);
    void check_mapped();
    void serve_waiting();
    Report::Rank report_of(unsigned rank) const;
    void lose(unsigned rank, const std::string &why);
    void show_progress();

    Member &member_;
    Link &link_;
    const Work &work_;
    const std::span<const std::byte> parameters_;
    const std::uint32_t run_;
    const std::shared_ptr<Spill> spill_;
    const Stopwatch &watch_;
    const std::vector<schedule::Home> homes_; /* of the last run */
    const bool is_kept_, makes_few_;
    Stage stage_ = Stage::hello;
    std::vector<bool> is_alive_;
    std::vector<double> heard_;          /* when, of each rank */
    std::vector<std::uint64_t> partial_; /* bytes that each has mapped of what it is at */
    std::vector<std::optional<Told>> told_;
    std::optional<std::uint64_t> job_; /* what it is, by rank 0 */
    std::optional<schedule::Master> master_;
    std::set<unsigned> waiting_;                          /* ranks that want a partition */
    std::map<std::uint64_t, std::set<unsigned>> holders_; /* of partitions under way */
    std::map<std::uint32_t, Run> results_;
    std::vector<Come> come_;        /* by ranks */
    bool gathers_ = false;          /* rank 0 reduces all */
    std::vector<bool> has_reduced_; /* by ranks */
    std::vector<std::string> said_; /* parts of the report, by ranks, as they have come */
    Report::Rank own_report_;
    std::vector<unsigned> failed_;
    double beaten_ = 0, shown_ = 0;
    double rate_ = 0;
    std::uint64_t shown_bytes_ = 0;
};

/* What a job is, for ranks that are to have the same one. */
std::uint64_t hash_of_job(const Work &work);
/* A rank's part of a report as text, and back. */
std::string pack_report(const Report::Rank &rank);
Report::Rank unpack_report(const std::string &text);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_CHIEF_HPP */
