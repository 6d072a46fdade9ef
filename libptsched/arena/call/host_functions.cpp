// SPDX-License-Identifier: MIT
#include "libptsched/arena/call/host_functions.hpp"

#include <algorithm>
#include <list>
#include <mutex>

namespace ptsched::arena::detail {

namespace {

/* Of static objects, whose order is nobody's: what is wrong is said when Calls are made. */
struct Registered {
    Mutex mutex;
    std::list<std::pair<const Registration *, HostFunction>> functions PTSCHED_GUARDED_BY(mutex);
};

Registered &registered()
{
    static auto &all = *new Registered;
    return all;
}

[[noreturn]] void refuse(const std::string &text)
{
    throw Error("calls: " + text);
}

} // namespace

Registration::Registration(const char *name, const SignatureOf &signature, Invoke invoke, Waits waits)
{
    Registered &all = registered();
    Guard lock(all.mutex);
    all.functions.emplace_back(this, HostFunction(name, signature, std::move(invoke), waits));
}

Registration::~Registration()
{
    Registered &all = registered();
    Guard lock(all.mutex);
    std::erase_if(all.functions, [&](const auto &one) { return one.first == this; });
}

std::string describe(const std::string &name, std::string_view signature)
{
    const std::size_t arguments = signature.find('(');
    return "'" + name + "', " + std::string(signature.substr(0, arguments)) + std::string(signature.substr(arguments));
}

HostFunctions::HostFunctions()
{
    Registered &all = registered();
    Guard lock(all.mutex);
    for (const auto &[registration, function] : all.functions)
        add(function);
}

void HostFunctions::add(HostFunction function)
{
    const std::string what = "the host's function " + describe(function.name, function.signature);
    if (function.name.empty() || function.name.size() >= most_name_bytes)
        refuse(what + ", has a name of " + std::to_string(function.name.size()) + " characters, and can have 1 to 63");
    if (function.argument_bytes > most_request_bytes || function.result_bytes > most_answer_bytes)
        refuse(what + ", has " + std::to_string(function.argument_bytes) + " bytes of arguments and returns " +
               std::to_string(function.result_bytes) + ", and can have 256 and return 128: pass pointers");
    if (!function.invoke)
        refuse(what + ", is empty");
    std::unique_lock lock(mutex_);
    if (by_name_.contains(function.name))
        refuse(what + ", is the second of that name: each has a name of its own");
    const std::uint64_t key = key_of(function.name.c_str(), function.signature.c_str());
    if (by_key_.contains(key))
        refuse(what + ", has the same hash as another one: give it another name");
    functions_.push_back(std::move(function));
    by_key_.emplace(key, functions_.size());
    by_name_.emplace(functions_.back().name, functions_.size());
}

const HostFunction *HostFunctions::by_key(std::uint64_t key) const
{
    std::shared_lock lock(mutex_);
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &functions_[found->second - 1];
}

const HostFunction *HostFunctions::by_number(unsigned number) const
{
    std::shared_lock lock(mutex_);
    return number && number <= functions_.size() ? &functions_[number - 1] : nullptr;
}

unsigned HostFunctions::number(const std::string &name) const
{
    std::shared_lock lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? 0 : found->second;
}

std::string HostFunctions::list() const
{
    std::shared_lock lock(mutex_);
    std::string text;
    for (const HostFunction &function : functions_)
        if (!function.name.starts_with(own_prefix))
            text += (text.empty() ? "" : "; ") + describe(function.name, function.signature);
    return text.empty() ? "none" : text;
}

} // namespace ptsched::arena::detail
