/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_RANK_RUN_HPP
#define PTSCHED_SPMD_RUN_RANK_RUN_HPP

#include "libptsched/spmd/output/whole_file.hpp"
#include "libptsched/spmd/run/chief.hpp"
#include "libptsched/spmd/run/partition_map.hpp"
#include "libptsched/spmd/run/plan.hpp"
#include "libptsched/spmd/run/task_group.hpp"

#include <map>
#include <optional>

namespace ptsched::spmd {

/*
 * One run of a job on one rank. Its thread passes messages on, and nothing that takes long: workers do that, and post
 * what is to be done then.
 */
class RankRun {
public:
    RankRun(Member &member, const Work &work, Devices &devices, const Known &known,
            std::span<const std::byte> parameters, std::uint32_t run);
    ~RankRun();

    /* Throws Error, with the same text on all ranks that are reached. */
    Member::Result run();

private:
    /* The job ends, and all ranks know it. */
    struct Stopped {
        std::string why;
    };
    /* What goes to another rank, a chunk at a time. */
    struct Outgoing {
        Tag tag;
        std::uint32_t bucket;
        Run run;
        std::size_t chunk = 0;
    };

    void loop();
    bool is_short_of_time() const;
    void say_hello();
    void handle(Message &&message);
    void begin(const Head &head, const Buffer &message);
    void add_chunk(unsigned from, const Head &head, const Buffer &message);
    void ask();
    struct Part {
        std::uint64_t id;
        schedule::Range range;
    };
    void start_next();
    void take_probe(Part &part);
    void partition_ended();
    void tell_done();
    Buffer take_few(Head &done);
    void tell_report();
    void send_rest();
    void give_up(std::uint64_t id);
    std::vector<schedule::Home> homes_in(const schedule::Range &range) const;
    void count(const PartitionMap &map);
    void keep_homes();
    void verdict(std::uint64_t id, bool counts);
    void mapped(const Head &head, const Buffer &message);
    void pump();
    bool send_chunk(Outgoing &outgoing);
    unsigned owner(std::uint32_t bucket) const;
    void check_sent();
    void start_reduce();
    void reduce_bucket(std::uint32_t bucket, std::vector<Run> runs);
    void bucket_reduced(std::uint32_t bucket, Run run);
    void reduced();
    void make_output(std::vector<Run> runs);
    void tell_reduced();
    void make_whole();
    void finish();
    void beat();
    [[noreturn]] void end_without_first(const std::string &why);
    void post(std::function<void()> event);
    void run_events();
    void give(std::function<void()> function);
    void do_now(const std::function<void()> &function);
    void learn();
    void learn_way();
    void fail(const std::string &why);
    void send(unsigned to, const Head &head, std::string_view bytes = {});
    std::string path() const;
    Head head(Tag tag, std::uint64_t a = 0) const { return {.tag = tag, .run = run_, .a = a}; }

    Member &member_;
    Link &link_;
    const Work &work_;
    Devices &devices_;
    const Known &known_;
    const std::uint32_t run_;
    const std::shared_ptr<Spill> spill_;
    Stopwatch watch_;
    Timeline timeline_;
    std::vector<std::byte> parameters_;
    std::optional<Placed> placed_; /* of rank 0 */
    Setting setting_;
    Plan plan_;
    bool measures_ = false;             /* rates of this run are those of runs to come */
    std::vector<schedule::Home> homes_; /* of this run */
    std::optional<Chief> chief_;        /* of rank 0 */

    /* Of the map: the partition that is done now, and the one after it. */
    std::unique_ptr<PartitionMap> map_;
    std::uint64_t map_id_ = 0;
    double map_begin_ = 0;
    double mapped_seconds_ = 0; /* from each one's begin to its end */
    std::deque<Part> parts_;
    bool wants_ = false, has_begun_ = false, is_mapped_ = false, is_given_up_ = false;
    using Runs = std::map<std::uint32_t, std::vector<Run>>; /* by buckets */
    /* What has come of a partition. */
    struct Mapped {
        Runs runs;
        std::uint64_t placed = 0; /* pairs that are where they belong */
    };
    Mapped mapped_;                                 /* of the one that is done now */
    std::map<std::uint64_t, Mapped> verdict_waits_; /* by partitions */

    /* Of the shuffle. */
    std::vector<unsigned> reducers_; /* ranks; empty: none is known yet */
    bool gathers_ = false;           /* rank 0 is the one that reduces, and few pairs come to it with what is done */
    bool are_here_ = false;          /* all have come so */
    std::deque<Outgoing> outgoing_;
    std::map<unsigned, Run> arriving_; /* by ranks */
    Runs incoming_;
    std::size_t sent_ = 0, senders_ = 0; /* ranks that have sent all, and that send something */
    bool has_sent_ = false;

    /* Of the reduction. */
    std::size_t reducing_ = 0;
    bool tells_reduced_ = false; /* when all of outgoing_ is on its way */
    std::map<std::uint32_t, Run> results_;
    std::optional<WholeFile> file_;
    Pairs pairs_;
    bool is_finished_ = false;
    double heard_ = 0, beaten_ = 0; /* of rank 0, and by it */
    Report::Rank report_;

    Mutex events_mutex_;
    std::deque<std::function<void()>> events_ PTSCHED_GUARDED_BY(events_mutex_);
    TaskGroup tasks_; /* the first one to go */
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_RANK_RUN_HPP */
