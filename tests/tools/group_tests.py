# SPDX-License-Identifier: MIT
"""Groups of processes that have their turns together: who is in which."""
from harness import EMPTY, Broker, Client, check, check_equal, environment, ptsched, test

TORCH = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
LONG = "x" * 60


def group_with(broker, **program_environment):
    """The group in which a process with this environment is."""
    client = Client(broker.socket, **program_environment)
    group = broker.entity(client.pid)["group"]
    client.close()
    return group


@test
def launchers_groups():
    """a process is in the group that its environment says"""
    with Broker() as broker:
        for group, program_environment in (
                (None, {}),
                ("ranks", {"PTSCHED_GROUP": "ranks"}),
                ("torch 127.0.0.1:29500", TORCH),
                ("mpi prterun-host-7@1", {"PMIX_NAMESPACE": "prterun-host-7@1", "OMPI_COMM_WORLD_SIZE": "4"}),
                ("slurm 17:0", {"SLURM_JOB_ID": "17", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}),
                ("nccl 10.0.0.1:5000", {"NCCL_COMM_ID": "10.0.0.1:5000"}),
                # What the user says counts, and one process waits for nobody.
                ("ranks", {**TORCH, "PTSCHED_GROUP": "ranks"}),
                (None, {**TORCH, "PTSCHED_GROUP": "none"}),
                (None, {**TORCH, "WORLD_SIZE": "1"}),
                (None, {**TORCH, "MASTER_PORT": None})):
            check_equal(group_with(broker, **program_environment), group, f"group with {program_environment}")


@test
def shown_to_people():
    """stat shows the group of a process, and nothing that a terminal would obey"""
    with Broker() as broker:
        client = Client(broker.socket, PTSCHED_GROUP="ranks\033")
        text = broker.ptsched("stat").out
        check(" ranks? " in text, text)
        client.close()


@test
def long_names():
    """names of groups that have no room are shortened, to different ones"""
    with Broker() as broker:
        names = [group_with(broker, PTSCHED_GROUP=LONG + end) for end in "aba"]
        check_equal(len(names[0].encode()), 47, "length of " + names[0])
        check(names[0] != names[1], f"one name for two: {names[0]}")
        check_equal(names[0], names[2], "the same once more")


@test
def run_names_a_group():
    """run --group puts the program and what it starts into a group"""
    script = ["--", "sh", "-c", "sh -c 'echo $PTSCHED_GROUP'; echo run $$"]
    env = environment(PTSCHED_PRELOAD=EMPTY)
    first, process = ptsched("run", "--group", *script, env=env).out.splitlines()
    check_equal(first, process, "group without a name")
    for name in ("ranks", "none"):
        result = ptsched("run", "--group=" + name, *script, env=env)
        check_equal(result.out.splitlines()[0], name, f"group ({result.err})")
    result = ptsched("run", "--group=" + LONG, *script, env=env)
    check_equal((result.status, result.out), (125, ""), "outcome of a long name")
    check(LONG in result.err and "47" in result.err, f"{result}")
