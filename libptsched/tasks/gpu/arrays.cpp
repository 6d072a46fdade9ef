// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/arrays.hpp"

#include <algorithm>

namespace ptsched::tasks {

const char *to_string(Memory memory)
{
    static constexpr const char *names[] = {"copied", "managed", "prefetched"};
    return names[static_cast<unsigned>(memory)];
}

std::byte *Arrays::make(std::size_t bytes, Memory memory)
{
    device::Allocation made;
    if (memory == Memory::copied) {
        made = device::Allocation::pinned(std::max<std::size_t>(bytes, 1));
    } else {
        try {
            made = device::Allocation::managed(*devices_.front(), std::max<std::size_t>(bytes, 1));
            for (device::Device *device : devices_)
                if (!made.reached_by(*device))
                    throw Error(device->name() + " has no managed memory");
        } catch (const device::OutOfMemory &) {
            throw;
        } catch (const device::Fault &) {
            throw;
        } catch (const Error &error) {
            throw Error(std::string("tasks: there is no memory that is ") + to_string(memory) + ": " + error.what() +
                        "; Memory::copied would do");
        }
    }
    auto *begin = static_cast<std::byte *>(made.host_address());
    Guard lock(mutex_);
    arrays_.emplace(begin, Array{std::move(made), memory, bytes});
    return begin;
}

Range Arrays::range_of(std::byte *begin) const
{
    Guard lock(mutex_);
    return {begin, arrays_.at(begin).bytes, 1, 0};
}

void Arrays::release(std::byte *begin)
{
    device::Allocation allocation;
    Guard lock(mutex_);
    const auto found = arrays_.find(const_cast<std::byte *>(begin));
    allocation = std::move(found->second.allocation);
    arrays_.erase(found);
}

bool Arrays::keep(std::byte *begin)
{
    Guard lock(mutex_);
    const auto found = arrays_.find(begin);
    if (found == arrays_.end())
        return false;
    found->second.is_kept = true;
    return true;
}

Arrays::Array *Arrays::find_array(const std::byte *address)
{
    auto behind = arrays_.upper_bound(const_cast<std::byte *>(address));
    if (behind == arrays_.begin())
        return nullptr;
    --behind;
    return address < behind->first + behind->second.bytes ? &behind->second : nullptr;
}

Arrays::Found Arrays::find(const std::byte *address)
{
    Guard lock(mutex_);
    Array *array = find_array(address);
    return array ? Found{array->memory, &array->allocation, array->is_kept} : Found{};
}

} // namespace ptsched::tasks
