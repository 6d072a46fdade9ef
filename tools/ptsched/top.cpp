// SPDX-License-Identifier: MIT
/* ptsched top: who uses the GPUs, and how much of them, from one look to the next. */
#include "tools/ptsched/accounts.hpp"
#include "tools/ptsched/commands.hpp"
#include "tools/ptsched/format.hpp"
#include "tools/ptsched/units.hpp"

#include <algorithm>
#include <chrono>
#include <clocale>
#include <iostream>
#include <map>
#include <memory>
#include <poll.h>
#include <thread>
#include <tuple>
#include <unistd.h>

/* Last: its macros are many. */
#include <ncurses.h>

namespace ptsched {

namespace {

using Clock = std::chrono::steady_clock;

/* What the scheduler said at one instant. */
struct Sample {
    Clock::time_point when;
    std::vector<Device> devices;
    std::vector<Entity> entities;
    std::optional<std::vector<Account>> accounts;
};

struct Row {
    Entity entity;
    double gpu = 0;   /* GPU time over wall time */
    double share = 0; /* of the GPU time that all used */
    double wait = 0;
    double work = 0; /* submissions a second */
};

/* Lines above the table, and what may be in this. */
struct View {
    std::vector<std::string> head;
    std::vector<std::string> processes;
    std::vector<std::string> accounts;
};

/* A counter that began again, with a process that came back, counts from 0. */
double grown(std::uint64_t now, std::uint64_t before)
{
    return static_cast<double>(now >= before ? now - before : now);
}

double wall_ns(const Sample &before, const Sample &now)
{
    return std::chrono::duration<double, std::nano>(now.when - before.when).count();
}

/* The rows between two samples, the largest share first. */
std::vector<Row> compare(const Sample &before, const Sample &now)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, const Entity *> earlier;
    std::map<std::uint32_t, double> used;
    std::vector<Row> rows;
    double wall = wall_ns(before, now);

    for (const Entity &entity : before.entities)
        earlier[{entity.device_id, entity.pid}] = &entity;
    for (const Entity &entity : now.entities) {
        auto found = earlier.find({entity.device_id, entity.pid});
        const Entity none;
        const Entity &was = found == earlier.end() ? none : *found->second;
        double gpu = grown(entity.counters.gpu_ns, was.counters.gpu_ns);
        used[entity.device_id] += gpu;
        rows.push_back({entity, gpu / wall, gpu, grown(entity.wait_ns, was.wait_ns) / wall,
                        grown(entity.submissions, was.submissions) / wall * 1e9});
    }
    for (Row &row : rows) {
        double all = used[row.entity.device_id];
        row.share = all > 0 ? row.share / all : 0;
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) {
        return a.share != b.share ? a.share > b.share : a.entity.weight > b.entity.weight;
    });
    return rows;
}

std::vector<std::string> table_of(const std::vector<Row> &rows, bool several_devices)
{
    /* Spaces keep columns from moving with what is in them. */
    std::vector<std::string> columns = {">PID",   "USER",    ">NI",     ">WEIGHT", "STATE  ",    "> GPU%",  ">SHARE",
                                        ">WAIT%", ">WORK/S", ">BUDGET", ">TURNS",  ">CALLBACKS", ">FORCED", "COMMAND"};
    if (several_devices)
        columns.insert(columns.begin(), ">DEV");
    Table table(columns);

    for (const Row &row : rows) {
        const Entity &entity = row.entity;
        std::vector<std::string> cells = {std::to_string(entity.pid),
                                          user_name(entity.uid),
                                          std::to_string(entity.nice),
                                          std::to_string(entity.weight) + (entity.weight_set ? "*" : ""),
                                          state_name(entity.state),
                                          format_percent(row.gpu),
                                          format_percent(row.share),
                                          format_percent(row.wait),
                                          format_count(row.work),
                                          format_rounded(entity.budget_ns),
                                          std::to_string(entity.counters.turns),
                                          std::to_string(entity.counters.callbacks),
                                          std::to_string(entity.counters.forced),
                                          printable(entity.comm)};
        if (several_devices)
            cells.insert(cells.begin(), std::to_string(entity.device_id));
        table.add(std::move(cells));
    }
    return table.lines();
}

std::vector<std::string> accounts_between(const Sample &before, Sample &now, CgroupPaths &paths)
{
    std::map<std::tuple<std::uint32_t, bool, std::uint64_t>, std::uint64_t> earlier;
    std::vector<double> gpu;
    const auto key_of = [](const Account &account) {
        return std::tuple(account.device_id, account.uid.has_value(), account.uid ? *account.uid : account.cgroup);
    };

    if (!now.accounts)
        return {no_accounts};
    sort_accounts(*now.accounts, paths);
    if (before.accounts)
        for (const Account &account : *before.accounts)
            earlier[key_of(account)] = account.gpu_ns;
    for (const Account &account : *now.accounts)
        gpu.push_back(grown(account.gpu_ns, earlier[key_of(account)]) / wall_ns(before, now));
    return accounts_table(*now.accounts, paths, gpu);
}

class Sampler {
public:
    explicit Sampler(const TopOptions &options) : scheduler_(open_scheduler(options.choice)), device_(options.device)
    {
        before_ = sample();
    }

    /* What happened since the last look. */
    View look()
    {
        Sample now = sample();
        std::vector<Row> rows = compare(before_, now);
        View view;

        view.head.push_back("ptsched top: " + scheduler_->kind() + " at " + scheduler_->path());
        for (const Device &device : now.devices) {
            double gpu = 0;
            for (const Row &row : rows)
                gpu += row.entity.device_id == device.id ? row.gpu : 0;
            view.head.push_back("device " + std::to_string(device.id) + " " + device.pci + ": GPU " +
                                format_percent(gpu) + "%, " + std::to_string(device.entities) + " attached, " +
                                std::to_string(device.waiters) + " waiting, policy " + policy_name(device.policy) +
                                ", slice " + format_rounded(static_cast<std::int64_t>(device.slice_effective_ns)));
        }
        view.processes = table_of(rows, now.devices.size() > 1);
        view.accounts = accounts_between(before_, now, paths_);
        before_ = std::move(now);
        return view;
    }

private:
    std::unique_ptr<Scheduler> scheduler_;
    std::string device_;
    Sample before_;
    CgroupPaths paths_;

    Sample sample()
    {
        Sample sample{.when = {}, .devices = scheduler_->devices(), .entities = {}, .accounts = {}};
        std::optional<std::uint32_t> only;

        if (!device_.empty()) {
            sample.devices = {find_device(sample.devices, device_)};
            only = sample.devices[0].id;
        }
        sample.when = Clock::now();
        sample.entities = scheduler_->entities(only);
        sample.accounts = scheduler_->accounts(only);
        return sample;
    }
};

/* The terminal, given back as it was whatever happens. */
class Screen {
public:
    explicit Screen(bool shows_accounts) : shows_accounts_(shows_accounts)
    {
        setlocale(LC_ALL, "");
        screen_ = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? newterm(nullptr, stdout, stdin) : nullptr;
        if (!screen_)
            throw Error("top needs a terminal that it can draw on (TERM); for plain text there is --once");
        cbreak();
        noecho();
        nonl();
        keypad(stdscr, TRUE);
        nodelay(stdscr, TRUE);
        curs_set(0);
    }
    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;
    ~Screen()
    {
        endwin();
        delscreen(screen_);
    }

    void draw(const View &view)
    {
        const std::vector<std::string> &table = shows_accounts_ ? view.accounts : view.processes;
        int line = 0;

        erase();
        for (const std::string &text : view.head)
            put(line++, text);
        attron(A_REVERSE);
        std::string header = table[0];
        header.resize(std::max(header.size(), static_cast<std::size_t>(COLS)), ' ');
        put(++line, header);
        attroff(A_REVERSE);
        std::size_t room = static_cast<std::size_t>(std::max(0, LINES - line - 2));
        std::size_t rows = table.size() - 1;
        std::size_t shown = rows <= room ? rows : room ? room - 1 : 0;
        for (std::size_t i = 1; i <= shown; i++)
            put(++line, table[i]);
        if (shown < rows)
            put(++line, "... " + std::to_string(rows - shown) + " more");
        mvaddnstr(LINES - 1, 0, shows_accounts_ ? "q: quit  a: processes" : "q: quit  a: users and cgroups", COLS);
        refresh();
    }

    /* False: the user wants to leave. Returns at the latest at @until. */
    bool wait(const View &view, Clock::time_point until)
    {
        for (;;) {
            switch (read_key(until)) {
            case 'q':
            case 'Q':
                return false;
            case 'a':
            case 'A':
                shows_accounts_ = !shows_accounts_;
                draw(view);
                break;
            case '\f': /* as everywhere: what others wrote over it goes */
                clearok(curscr, TRUE);
                [[fallthrough]];
            case KEY_RESIZE:
                draw(view);
                break;
            case ERR:
                /* Also when the terminal is gone. */
                if (!isatty(STDIN_FILENO))
                    return false;
                break;
            }
            if (Clock::now() >= until)
                return true;
        }
    }

private:
    SCREEN *screen_;
    bool shows_accounts_;

    /*
     * ERR: none until then. The wait is not left to ncurses, which reckons by the time of day: when that is set back,
     * it would wait for hours.
     */
    static int read_key(Clock::time_point until)
    {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
        /* Interrupted, it may be by a change of the window's size, which is a key, too. */
        return poll(&input, 1, static_cast<int>(std::max<decltype(left)>(left, 0))) ? getch() : ERR;
    }

    static void put(int line, const std::string &text)
    {
        /* The last one is for the keys. */
        if (line < LINES - 1)
            mvaddnstr(line, 0, text.c_str(), COLS);
    }
};

} // namespace

int top(const TopOptions &options)
{
    std::chrono::nanoseconds interval(parse_duration("interval", options.interval, 10'000'000, 3'600'000'000'000));
    Sampler sampler(options);

    if (options.once) {
        std::this_thread::sleep_for(interval);
        View view = sampler.look();
        for (const auto &lines : {view.head, options.accounts ? view.accounts : view.processes})
            for (const std::string &line : lines)
                std::cout << line << "\n";
        return 0;
    }

    Screen screen(options.accounts);
    View view;
    /* A first picture soon, about a short time. */
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(interval, std::chrono::milliseconds(100)));
    do {
        view = sampler.look();
        screen.draw(view);
    } while (screen.wait(view, Clock::now() + interval));
    return 0;
}

} // namespace ptsched
