// SPDX-License-Identifier: MIT
#include "tests/encfs/encfs_test.hpp"

const ptcryptfs::Volume &test::volume()
{
    static const Folder folder;
    static const Volume volume = Volume::create(folder.path(), text("of the tests"), fast);
    return volume;
}

ptcryptfs::Engine &test::engine()
{
    static const std::unique_ptr<Engine> engine = make_cpu_engine();
    return *engine;
}

int main()
{
    using namespace test;
    prepare_secrets();
    std::vector<tap::Case> all;
    for (auto *some : {crypt_cases, choosing_cases, volume_cases, store_cases, crash_cases, error_cases})
        for (tap::Case &one : some())
            all.push_back(std::move(one));
    return tap::run(all);
}
