// SPDX-License-Identifier: MIT
/*
 * The programs of the paper, each a program of its own, on the virtual GPU: their results, and what they say of them.
 */
#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"

#include <fstream>
#include <sstream>

namespace {

/* Empty again, and goes with the test. */
class Folder {
public:
    Folder()
    {
        if (!mkdtemp(name_.data()))
            throw std::runtime_error("cannot make a folder");
    }
    ~Folder() { std::filesystem::remove_all(name_); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string operator/(const std::string &file) const { return name_ + "/" + file; }

private:
    std::string name_ = "/tmp/arena-programs-XXXXXX";
};

/* Where an address has two memories. */
std::string command(const std::string &program, const std::string &options)
{
    return "PTSCHED_VGPU_OWN_ADDRESSES=1 LD_LIBRARY_PATH=" + test::folder() + " " + test::folder() +
           "/../samples/arena-" + program + " --module " + test::folder() + "/arena-" + program + ".so " + options;
}

int run(const std::string &program, const std::string &options)
{
    return std::system((command(program, options) + " >&2").c_str());
}

std::string content_of(const std::string &path)
{
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
}

bool has(const std::string &text, const std::string &what)
{
    return text.find(what) != std::string::npos;
}

void write(const std::string &path, const std::string &content)
{
    std::ofstream(path) << content;
}

std::string output_of(const std::string &line)
{
    const Folder folder;
    CHECK_EQ(std::system((line + " >" + (folder / "output")).c_str()), 0);
    return content_of(folder / "output");
}

void check_records()
{
    const Folder folder;
    CHECK_EQ(run("black-scholes", "--quick --options 300 --days 1 --memory owned --json " + (folder / "records")), 0);
    const std::string records = content_of(folder / "records");
    for (const char *name : {"hand_ms", "owned_ms", "owned-over-hand", "ideal_ms", "hand/copies_ms", "hand/lines",
                             "owned/pages-to-gpu", "owned/lines", "common-accesses"})
        CHECK(has(records, std::string("\"arena/black-scholes/") + name + '"'));
}

/* Four workloads, whose ratios are 1, 1, 1 and 16, and one that does not count. */
void check_summary()
{
    const Folder folder;
    std::string records;
    for (const char *name : {"black-scholes", "fft", "quake", "art", "world"}) {
        const std::string begin = std::string(R"({"name": "arena/)") + name + "/";
        const std::string own = name == std::string("art") || name == std::string("world") ? "32" : "2";
        records += (records.empty() ? "[" : ",") + begin + R"(hand_ms", "value": 2},)" + begin +
                   R"(owned_ms", "value": )" + own + "}";
    }
    write(folder / "records", records + "]");
    const std::string printed = output_of(command("summary", "--json " + (folder / "records")));
    /* With owners, by hand = 1; what is not in the records is a dash. */
    CHECK(has(printed, "\nart                         -         16.00\n"));
    CHECK(has(printed, "\nfft                         -          1.00\n"));
    CHECK(!has(printed, "\nworld"));
    std::string summed = content_of(folder / "records");
    std::erase_if(summed, [](char one) { return one == ' ' || one == '\n'; });
    CHECK(has(summed, R"("name":"arena/ownership-over-hand","value":2.0,)"));
    CHECK(has(summed, R"("name":"arena/worst-ownership-over-hand","value":16.0,)"));
    CHECK(!has(summed, R"("name":"arena/over-managed")"));
}

void check_lines()
{
    const Folder folder;
    write(folder / "hand.cpp", "// one\n/*\n * two\n */\n\nint three; /* behind it */\nint four;\n");
    write(folder / "managed.cpp", "/* nothing */\n");
    const std::string counted = output_of(ARENA_SOURCES "/count-lines by-hand=" + (folder / "hand.cpp") +
                                          " managed=" + (folder / "managed.cpp"));
    CHECK(counted == "by-hand:2 managed:0 ");
}

} // namespace

int main()
{
    test::Daemon daemon;
    std::vector<tap::Case> cases;
    std::istringstream names(ARENA_PROGRAMS);
    for (std::string name; names >> name;)
        cases.push_back({"results are right: " + name, [name] { CHECK_EQ(run(name, "--check"), 0); }});
    cases.push_back({"a program's records are in a file", check_records});
    cases.push_back({"what records come to", check_summary});
    cases.push_back({"lines of source are those that are not empty and no comments", check_lines});
    return tap::run(cases);
}
