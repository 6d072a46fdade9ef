/* SPDX-License-Identifier: MIT */
/*
 * A part of a graph as a program of one device, with the memory for one set of blocks at a time. It can be given a set
 * while it still has another one: then that goes to the same queue, which keeps the order.
 */
#ifndef PTSCHED_PTASK_REPLAY_REPLAY_HPP
#define PTSCHED_PTASK_REPLAY_REPLAY_HPP

#include "libptsched/ptask/replay/subgraph.hpp"
#include <ptsched/device/access.hpp>

#include <array>
#include <optional>

namespace ptsched::ptask {

using Blocks = std::vector<DatablockPtr>;

/* Groups of inputs that a GPU fetches at the same time: while one ends, another goes on. */
constexpr std::size_t gathers_at_once = 2;

/* One of a device for the sets of all subgraphs. */
struct SetQueue {
    std::unique_ptr<device::Queue> queue;
    std::size_t sets = 0;  /* that it was given and have not ended */
    unsigned unmarked = 0; /* the last ones, which share the marker of one to come */
};

/* What a subgraph's next run is about. */
struct ReplaySet {
    Blocks inputs = {};
    Blocks fixed = {};
    std::uint64_t changes = 1;      /* of what is fixed, so far */
    std::vector<bool> on_host = {}; /* outputs that somebody reads there */
    bool may_share_marker = false;  /* with the next ones of its queue */
};

class Replay {
public:
    struct Moved {
        std::uint64_t uploaded_blocks = 0, uploaded_bytes = 0;
        std::uint64_t migrated_blocks = 0, migrated_bytes = 0;
        std::uint64_t downloaded_bytes = 0;
    };

    /* Results that are read on the host: copied there, or, where that is possible, written there alone. */
    enum class Results { copied, there_alone };
    /* @which: of the devices of the subgraph's tasks. @other, if there is one, has learned where inputs come from. */
    Replay(const Subgraph &subgraph, device::Device &device, std::size_t which, Results results, const Replay *other);
    /* Blocks until it has nothing to do. */
    ~Replay();
    /* Of its device, without what is fixed and what its last set had. */
    static std::size_t bytes(const Subgraph &subgraph);
    /* Whether sets of the subgraph may have inputs that go ahead. */
    static bool may_go_ahead(const Subgraph &subgraph);
    Replay(const Replay &) = delete;
    Replay &operator=(const Replay &) = delete;

    /* Its queue has nothing to do. */
    bool has_ended() const { return !marker_ || marker_->reached(); }
    /* Nor has anybody a block that it would write. */
    bool is_idle() const;
    /* Of an idle one: the input that it could be given before the rest of the set has come, if there is one. */
    std::optional<std::size_t> next_ahead() const
    {
        if (ahead_.over || !program_ || ahead_.inputs == own_copies_.size())
            return {};
        return own_copies_[ahead_.inputs];
    }
    /* Begins to copy it from the host, if it is there. What throws has no effect but that. */
    void go_ahead(const DatablockPtr &block);
    /* Whether it has been given some, or has tried to: then the set must be its own. */
    bool has_begun() const { return ahead_.inputs || ahead_.over; }
    /* What it was given is not of the next set. Blocks until it is copied. */
    void forget_ahead() noexcept;
    /*
     * Gives @queue a set, or the one that still has its last; who has the blocks keeps them until marker() is reached.
     * With @for_results, that one copies them to the host, and @queue need not wait for it. Throws Error, and then the
     * queues have done nothing that anybody could see.
     */
    void launch(const ReplaySet &set, SetQueue &queue, device::Queue *for_results, bool is_watched);
    /* That has the last set. */
    SetQueue &queue() const { return *queue_; }
    /* Of the last set, if it was to be watched, and could be. */
    std::unique_ptr<device::Watch> take_watch() { return std::move(watch_); }
    /* Which outputs since the last set somebody has read on the host; true if that is new. */
    bool note_readers(std::vector<bool> &on_host);
    /* Of the last set, in the order of the subgraph's outputs. */
    const Blocks &outputs() const { return outputs_; }
    /* To be called when these have been passed on: what nobody is to write again is forgotten. */
    void passed_on();
    const device::MarkerPtr &marker() const { return marker_; }
    /* What the last set needed from elsewhere. */
    const Moved &moved() const { return moved_; }
    /* Whether the program had to be made for it. */
    bool was_made() const { return was_made_; }

private:
    struct Fill {
        std::size_t buffer;
        const void *from_host;
        std::size_t item; /* else */
        std::size_t bytes;
    };

    /* Inputs that one step of the program fetches, or outputs that it writes to the host. */
    struct Group {
        std::size_t step = 0;
        std::vector<std::size_t> members = {};
        std::size_t bytes = 0;
        std::vector<device::Piece> pieces = {};
    };
    /* Outputs that are copied to the host when a step of the subgraph has run. */
    struct Download {
        std::vector<std::size_t> outputs; /* several, or one that is short: as pieces */
        std::size_t bytes, after;
    };

    void use_queues(SetQueue &queue, device::Queue *for_results);
    bool is_copied(std::size_t output) const;
    device::MarkerPtr copy_results();
    device::MarkerPtr mark(bool may_share);
    void plan(const ReplaySet &set);
    bool is_there_alone(std::size_t output) const;
    void let_go(DatablockPtr &block);
    void plan_input(const Blocks &inputs, std::size_t i);
    void retire_program();
    void keep_uploads(std::size_t i, bool from_host);
    void use(Datablock &block, std::size_t missing, std::size_t buffer);
    void learn(const Blocks &inputs);
    void lay_out(const Blocks &inputs);
    void touch(std::size_t step);
    void start(const ReplaySet &set, bool is_watched);
    device::Queue &its_queue() const { return *queue_->queue; }
    std::vector<void *> &arguments_of(const SubgraphStep &step, const Blocks &fixed);
    void update(const Blocks &fixed);
    device::Queue &incoming();
    void give_upload(std::size_t input, device::Address to, device::Queue &queue);
    void give_uploads();
    void forget() noexcept;

    /* replay_program.cpp: how the program is made */
    void make(const Blocks &fixed);
    void order_uploads();
    /* Of a step: positions in the order of uploads, by way. */
    using LastUploads = std::array<std::optional<std::size_t>, 1 + gathers_at_once>;
    std::vector<LastUploads> last_uploads() const;
    std::vector<std::vector<std::size_t>> awaited_uploads(std::vector<LastUploads> &needed);
    static bool is_short(const Subgraph &subgraph, const SubgraphInput &input);
    bool may_gather(std::size_t input) const;
    bool is_scattered(std::size_t output) const;
    bool are_many(const std::vector<std::size_t> &downloads) const;
    void make_gathers(std::vector<device::ProgramStep> &steps);
    void gather(std::vector<device::ProgramStep> &steps, std::size_t input);
    bool is_full(std::size_t members, std::size_t bytes, std::size_t more) const;
    const std::vector<device::Piece> &inputs_of(Group &group) const;
    const std::vector<device::Piece> &outputs_of(Group &group) const;
    void make_step(std::vector<device::ProgramStep> &steps, std::size_t which, const std::vector<std::size_t> &awaited,
                   const Blocks &fixed);
    void make_download(std::vector<device::ProgramStep> &steps, const Download &download);
    void scatter(std::vector<device::ProgramStep> &steps, const Download &download);
    std::vector<std::size_t> download_order(const std::vector<LastUploads> &needed) const;
    std::vector<Download> plan_downloads(const std::vector<std::size_t> &in_order) const;

    const Subgraph &subgraph_;
    device::Device &device_;
    const std::size_t which_;
    const Results results_;
    const std::size_t most_pieces_;
    Blocks outputs_;
    DatablockPtr inside_;
    std::vector<bool> on_host_;                   /* by output */
    std::vector<device::Address> bound_, wanted_; /* by buffer: as the program has it, and for this set */
    std::vector<std::size_t> first_;              /* by input: the first one that had the same block */
    std::uint64_t changes_ = 0;                   /* of what is fixed, that the program has */
    Blocks fixed_;                                /* which that is */
    std::vector<unsigned> unread_; /* by output: sets in a row in which nobody has read the host's copy */
    std::vector<bool> dirty_;      /* by step */
    std::vector<std::size_t> dirty_steps_;
    std::unique_ptr<device::Program> program_;
    /* Programs, and their pieces, of earlier sets. */
    std::vector<std::pair<device::MarkerPtr, std::shared_ptr<const void>>> retired_;
    std::vector<std::size_t> step_index_;            /* by step of the subgraph: in the program */
    std::vector<std::optional<std::size_t>> copies_; /* by output: the step of the program that copies it alone */
    std::optional<std::size_t> last_copy_;           /* of these */
    /* An input that is copied from the host for a program. */
    struct Upload {
        bool in_program = false;
        unsigned from_host = 0; /* sets in a row that had it there */
        unsigned needed = 1;    /* until it is in the program */
        const void *from = nullptr;
        DatablockPtr ahead = nullptr;         /* that was given before the set */
        std::size_t position = 0;             /* in the order of uploads */
        std::optional<std::size_t> step = {}; /* of the program, which has the copy, or waits for it */
        std::size_t way = 0; /* its turn: those that are not gathered have one, each other group has another */
    };
    std::vector<Upload> uploads_;           /* by input */
    std::vector<std::size_t> upload_order_; /* those in the program, by when they are needed */
    std::vector<std::size_t> own_copies_;   /* of these, those that are not gathered */
    device::Queue *incoming_ = nullptr;     /* the device's, once it was used */
    struct {
        std::size_t inputs = 0; /* the first so many of own_copies_ */
        std::uint64_t evictions = 0;
        bool over = false; /* no more of this set */
    } ahead_;
    std::vector<Group> gathered_, scattered_;
    bool scatters_ = false; /* results are so many that it is worth it */
    /* For the set at hand. */
    bool is_free_ = true; /* the last one has ended */
    std::vector<device::Access::Item> items_;
    std::vector<std::size_t> item_buffers_;
    std::vector<device::Address> addresses_;
    std::vector<Fill> fills_;
    std::vector<void *> arguments_;
    Moved moved_;
    bool was_made_ = false;
    std::unique_ptr<device::Watch> watch_;
    device::MarkerPtr marker_;
    std::vector<std::pair<device::MarkerPtr, DatablockPtr>> written_; /* by earlier sets, for others */
    SetQueue *queue_ = nullptr;                                       /* null before the first set */
    device::Queue *for_results_ = nullptr;                            /* null: the program copies them */
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_REPLAY_HPP */
