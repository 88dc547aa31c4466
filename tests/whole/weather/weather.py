# SPDX-License-Identifier: MIT
"""Runs programs that use Headroom under bad conditions, and prints the outcome of each.

  weather.py SUBJECT [--examples FOLDER --expected FOLDER] [--page FILE [--write]] [--only WORD]

SUBJECT is the program made from subject.cpp; FOLDER holds the example programs, whose output must not change. In each
condition a program must work, fall back to another way, or throw: it must not crash, lose an element or leave anything
behind. The tables in FILE must equal the outcome; --write stores them there. --only: conditions whose name has the word.

Two conditions apply to the whole machine (overcommit, huge pages). They need root, last a second or two each, and are undone
by a guardian process even if this program is killed. With overcommit off, the system still promises 96 GiB or all of its
memory, so that other programs go on.
"""
import argparse
import contextlib
import errno
import fcntl
import glob
import itertools
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

FILLS = ["settled_vector", "settled_vector of strings", "held open", "huge_pages", "prefault_ahead", "vector",
         "vector of strings", "concurrent_vector", "concurrent_vector of strings", "file_vector", "handed over",
         "arena", "multipool"]
MODE = pathlib.Path("/proc/sys/vm/overcommit_memory")
RATIO = pathlib.Path("/proc/sys/vm/overcommit_ratio")
FEW = ["settled_vector", "held open", "vector", "vector of strings", "concurrent_vector", "file_vector",
       "handed over", "arena", "multipool"]
PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
KILLED = "the kernel's OOM killer ends the process"
FILTERS = pathlib.Path(__file__).parent / "filters"

# System calls of the library, and what makes them. Others, such as brk, are the C library's own.
MEMORY_CALLS = {
    "mmap": "reserving", "munmap": "releasing", "mprotect": "committing", "madvise": "populating, huge pages, guards, giving memory back",
    "mremap": "moving the pages of a growing `vector`", "prctl": "once: are huge pages switched off? Names of ranges",
    "membarrier": "`concurrent_vector`, where `/proc` can be read", "sysinfo": "once: how much memory there is",
    "openat": "settings and limits in `/proc` and `/sys`", "futex": "waiting for another thread",
    "clone3": "`prefault_ahead`: its thread (the C library then calls `clone`)",
    "rt_sigprocmask": "`prefault_ahead`: its thread receives no signals"}
FILE_CALLS = {
    "openat": "opening", "statx": "size and identity", "fcntl": "locking", "fallocate": "growing", "pwrite64": "writing what was changed",
    "pread64": "the header", "fdatasync": "`commit`", "fsync": "a new file's folder", "linkat": "giving a new file its name",
    "prlimit64": "`RLIMIT_FSIZE`"}
CALLERS = ["settled_vector", "held open", "prefault_ahead", "vector", "concurrent_vector", "arena", "multipool"]


class Skipped(Exception):
    pass


# --- Conditions of the whole machine

def restored_by_guardian(values):
    """Starts a process that restores the values when this one ends or calls the returned function."""
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.close(theirs)
        with contextlib.suppress(OSError):
            devnull = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(devnull, number)
        os.read(ours, 1)    # until the other end is closed
        for path, value in values:
            with contextlib.suppress(OSError):
                path.write_text(value)
        os._exit(0)
    os.close(ours)

    def done():
        os.close(theirs)
        os.wait()
    return done


@contextlib.contextmanager
def machine(*settings):
    """Context with the (path, value) pairs written; restores the values at its end."""
    before = []
    for path, _ in settings:
        try:
            text = path.read_text()
        except OSError:
            raise Skipped(f"this system has no {path}")
        chosen = text[text.index("[") + 1:text.index("]")] if "[" in text else text.strip()
        before.append((path, chosen))
    if all(value == old for (_, value), (_, old) in zip(settings, before)):
        yield
        return
    if os.geteuid() != 0:
        raise Skipped("only root may switch it")
    lock = open(pathlib.Path(tempfile.gettempdir()) / "headroom-weather.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    done = restored_by_guardian(list(reversed(before)))
    try:
        for path, value in settings:
            try:
                path.write_text(value)
            except OSError as why:
                raise Skipped(f"{path} cannot be written: {why.strerror}")
        yield
    finally:
        done()
        lock.close()


def no_overcommit():
    """Context with overcommit off: enough for other programs, and too little for the workload `promise`."""
    gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 30
    return machine((RATIO, str(max(100, 9600 // max(gib, 1)))), (MODE, "2"))


@contextlib.contextmanager
def memory_group(mib):
    """Context with a control group limited to `mib` MiB; yields the path of its cgroup.procs."""
    if os.geteuid() != 0:
        raise Skipped("only root may make a control group")
    first = pathlib.Path("/sys/fs/cgroup/memory")
    unified = pathlib.Path("/sys/fs/cgroup")
    if (first / "memory.limit_in_bytes").exists():
        above, file = first, "memory.limit_in_bytes"
    elif "memory" in (unified / "cgroup.subtree_control").read_text().split() if (
            unified / "cgroup.subtree_control").exists() else False:
        above, file = unified, "memory.max"
    else:
        raise Skipped("no control groups of memory here")
    group = above / f"headroom-weather-{os.getpid()}"
    try:
        group.mkdir()
        try:
            (group / file).write_text(str(mib << 20))
            swap = group / "memory.swap.max"
            if swap.exists():
                swap.write_text("0")
            yield group / "cgroup.procs"
        finally:
            for _ in range(200):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                signal.sigtimedwait([], 0.01)
    except OSError as why:
        raise Skipped(f"no control group can be made: {why.strerror}")


# --- Running

# The shell sets up the child: in a forked child of a process with several threads Python code must not run.
def run(command, members=None, **more):
    command = [str(part) for part in command]
    if members is not None:
        command = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(members), *command]
    return subprocess.run(command, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **more)


class Weather:
    def __init__(self, subject, examples, expected, too_much, only=""):
        self.subject = subject
        self.only = only
        self.too_much = too_much
        self.examples = sorted(pathlib.Path(expected).glob("*.out")) if examples else []
        self.folder = examples
        self.rows = []
        self.failures = []
        self.runs = itertools.count()    # a counter that several threads may increment

    def one(self, work, mib, *limits, members=None):
        next(self.runs)
        ended = run([self.subject, work, mib, *limits], members)
        if members is not None and ended.returncode == -signal.SIGKILL:
            return KILLED
        words = ended.stdout.strip()
        if ended.returncode != 0:
            return f"FAILS ({ended.returncode}: {words})"
        if words.startswith("skipped: "):
            raise Skipped(words[9:])
        return words

    def shown(self):
        """Returns "works" if all examples print the expected output."""
        wrong = []
        for expected in self.examples:
            program = pathlib.Path(self.folder) / f"example_{expected.stem}"
            if not program.exists():
                continue
            next(self.runs)
            ended = run([program])
            if ended.returncode != 0 or ended.stdout != expected.read_text():
                wrong.append(expected.stem)
        return f"FAILS ({', '.join(wrong)})" if wrong else "works"

    def condition(self, name, allowed, works, around=None, told=None):
        """Runs `works`, pairs of a name and a function. Each outcome must be in `allowed`. `told`, if given, goes into the table."""
        if self.only not in name:
            self.rows.append((name, None))
            return
        began = time.monotonic()
        try:
            with around if around is not None else contextlib.nullcontext() as members:
                # In parallel, unless the condition applies to all of them together.
                with ThreadPoolExecutor(1 if around is not None else os.cpu_count()) as pool:
                    found = list(zip([work for work, _ in works], pool.map(lambda one: one[1](members), works)))
        except Skipped as why:
            print(f"{name}: skipped: {why}", flush=True)
            self.rows.append((name, None))
            return
        by_outcome = {}
        for work, outcome in found:
            if work not in by_outcome.setdefault(outcome, []):
                by_outcome[outcome].append(work)
            if outcome not in allowed:
                self.failures.append(f"{name}: {work}: {outcome}, not {' or '.join(allowed)}")
        if told is not None:
            text = told
        elif len(by_outcome) == 1:
            text = next(iter(by_outcome))
        else:
            *rarer, commonest = sorted(by_outcome, key=lambda outcome: len(by_outcome[outcome]))
            text = "; ".join([f"{outcome}: {', '.join(by_outcome[outcome])}" for outcome in rarer] + [f"all others: {commonest}"])
        print(f"{time.monotonic() - began:5.1f} s  {name}: {text}", flush=True)
        self.rows.append((name, text))

    def fills(self, mib, *limits, works=FILLS):
        return [(work, lambda members, work=work: self.one(work, mib, *limits, members=members)) for work in works]

    def asked_for_too_much(self):
        def all_operations(_):
            next(self.runs)
            ended = run([self.too_much])
            return "throws" if ended.returncode == 0 else f"FAILS ({ended.returncode}: {ended.stdout[-2000:]})"
        return [("all operations", all_operations)] if self.too_much else []

    def all(self):
        good = ["works"]
        examples = [("the examples", lambda _: self.shown())] if self.examples else []
        other = ["falls back", "throws"]
        self.condition("no restrictions", good, self.fills(8, works=[*FILLS, "many", "turns"]) + examples)
        self.condition("overcommit mode 0 (the usual)", good, self.fills(8), machine((MODE, "0")))
        self.condition("overcommit mode 1 (everything is promised)", good, self.fills(8) + examples, machine((MODE, "1")))
        self.condition("overcommit mode 2 (off)", [*good, *other], self.fills(8) + examples,
                       no_overcommit())
        for mode, around in (("0", machine((MODE, "0"))), ("1", machine((MODE, "1"))), ("2", no_overcommit())):
            self.condition(f"overcommit mode {mode}; more than the machine has, from every operation", ["throws"],
                           self.fills(8, works=["promise"]) + self.asked_for_too_much(), around)
        self.condition("`RLIMIT_AS` 1 GiB above what the program has mapped", [*good, "falls back"], self.fills(8, "addresses", 1024))
        self.condition("`RLIMIT_AS` 24 MiB above; a container of 16 MiB and a copy of it", [*good, *other], self.fills(16, "addresses", 24))
        self.condition("`RLIMIT_AS` 1 GiB above; 400 vectors", ["throws"],
                       self.fills(0, "addresses", 1024, works=["many"]))
        self.condition("`RLIMIT_DATA` 60 MiB above; a container of 16 MiB and a copy of it", [*good, "falls back"], self.fills(16, "data", 60))
        self.condition("`RLIMIT_DATA` 8 MiB above; a container of 16 MiB", ["throws"],
                       self.fills(16, "data", 8, works=[work for work in FILLS if work != "file_vector"]))
        self.condition("`RLIMIT_DATA` 8 MiB above; a file of 16 MiB", good, self.fills(16, "data", 8, works=["file_vector"]))
        self.condition("no mapping left", ["works", "throws"], self.fills(2, "mappings", 0, works=FEW),
                       told="throws; or works, where the system joins the new mapping with its neighbour")
        self.condition("40 mappings left", good, self.fills(2, "mappings", 40, works=FEW))
        self.condition("40 mappings left; 400 vectors", ["throws"], self.fills(0, "mappings", 40, works=["many"]))
        self.condition("39 bits of addresses", good, self.fills(8, "bits", 39))
        self.condition("39 bits of addresses; 400 vectors of 4 GiB each", ["throws"], self.fills(0, "bits", 39, works=["many"]))
        self.condition("a control group of 40 MiB; a container of 16 MiB and a copy of it, repeatedly", good,
                       self.fills(16, works=["settled_vector", "held open", "vector", "arena", "multipool", "turns"]),
                       memory_group(40))
        self.condition("a control group of 40 MiB; a container of 64 MiB", [KILLED],
                       self.fills(64, works=["settled_vector", "vector", "arena"]), memory_group(40))
        self.condition("the same with `set_min_available_memory(8 MiB)`", ["throws"],
                       self.fills(64, "left", 8, works=["settled_vector", "vector", "arena", "multipool"]), memory_group(40))
        for mode in ("never", "madvise", "always"):
            self.condition(f"huge pages: {mode}", good, self.fills(8) + (examples if mode != "madvise" else []),
                           machine((PAGES, mode)))
        for kib in (16, 64):
            self.condition(f"pages of {kib} KiB (pretended)", good,
                           self.fills(8, "pages", kib << 10, works=[*FILLS, "many", "turns"]))
        for error in ("EPERM", "ENOSYS"):
            self.condition(f"a sandbox that answers `{error}` to `madvise`, `mremap`, `membarrier` and `prctl`",
                           good, self.fills(8, "wishes", getattr(errno, error)))
        self.condition("a sandbox that refuses `mprotect`", [*good, *other],
                       self.fills(8, "rights", errno.ENOMEM, works=[work for work in FEW if work != "held open"]))
        for name, file in (("a service's filter, `@system-service` without `@privileged` and `@resources` (systemd), which ends the process "
                            "at any other call", "systemd"), ("Docker's filter", "docker"),
                           ("the filter of Chromium's renderers, which opens no file and ends the process at most other calls", "chromium"),
                           ("answers as of Linux 4.18", "linux-4.18"), ("answers as of Linux 5.4", "linux-5.4"),
                           ("answers as of Linux 5.10", "linux-5.10")):
            self.condition(name, good, self.fills(4, "filter", FILTERS / f"{file}.txt",
                                                  works=[work for work in FILLS if work != "file_vector" or file != "chromium"]))
        self.condition("neither `/proc` nor `/sys`", good, self.fills(8, "proc", 0, works=[*FILLS, "many", "turns"]))
        self.condition("no file can be opened", good,
                       self.fills(8, "files", 3, works=[work for work in FILLS if work != "file_vector"]))
        # MCL_CURRENT and MCL_FUTURE, then with MCL_ONFAULT.
        self.condition("memory locked (`mlockall`)", [*good, "falls back"], self.fills(8, "locked", 3))
        self.condition("memory locked as it is touched", [*good, "falls back"], self.fills(8, "locked", 7))
        self.condition("a disk of 4 MiB; a file of 16 MiB", ["throws"], self.fills(16, "disk", 4, works=["file_vector"]))
        self.condition("a disk of 64 MiB; a file of 16 MiB", good, self.fills(16, "disk", 64, works=["file_vector"]))
        self.condition("fork; parent and child both go on writing", good, self.fills(8, works=["fork"]))
        self.condition("fork with pages of 64 KiB (pretended)", good, self.fills(8, "pages", 65536, works=["fork"]))
        self.condition("core dump: 1.3 TiB reserved, 10 MiB used", good, [("core", lambda _: self.core())])

    def system_calls(self):
        """Refuses each system call of the library by itself, for the second table."""
        with tempfile.TemporaryDirectory() as folder:
            for calls, works in ((MEMORY_CALLS, CALLERS), (FILE_CALLS, ["file_vector"])):
                for call, whence in calls.items():
                    refused = []
                    for error in ("EPERM", "ENOSYS"):
                        file = pathlib.Path(folder) / f"{call}-{error}"
                        file.write_text(f"{error} {call}\ndefault allow\n")
                        refused += [(work, lambda members, work=work, file=file: self.one(work, 2, "filter", file))
                                    for work in works]
                    name = f"`{call}` | {whence}" if calls is MEMORY_CALLS else f"`{call}` of a `file_vector` | {whence}"
                    if call == "munmap":
                        left = [f"FAILS (1: fails: {what} left)" for what in ("mappings are", "address space is", "a reservation is")]
                        self.condition(name, ["works", *left], refused, told="works; released memory stays mapped")
                    else:
                        self.condition(name, ["works", "falls back", "throws"], refused)

    def core(self):
        """Returns "works" if memory that is only reserved is not in a core file."""
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if pattern.startswith("|") or "/" in pattern:
            raise Skipped("core files go elsewhere on this machine")
        with tempfile.TemporaryDirectory() as folder:
            next(self.runs)
            ended = subprocess.run(["sh", "-c", 'ulimit -c unlimited && exec "$0" core 10', str(self.subject)], cwd=folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
            found = glob.glob(os.path.join(folder, "*"))
            if not found:
                raise Skipped("no core file was written")
            size = os.path.getsize(found[0])
            if ended.returncode != -signal.SIGABRT:
                return f"FAILS (ended with {ended.returncode})"
            if size > 32 << 20:
                return f"FAILS (a core file of {size >> 20} MiB)"
            if size < 10 << 20:
                return f"FAILS (a core file of {size >> 20} MiB lacks what was in use)"
            return "works"


# --- The page

HEADS = {"weather": ["| condition | what happens |", "|---|---|"],
         "calls": ["| system call | who makes it | if it is refused |", "|---|---|---|"]}


def compare(page, table, rows, write):
    """Returns the differences of that table on the page."""
    begin, end = f"<!-- {table}: begin -->", f"<!-- {table}: end -->"
    text = page.read_text()
    head, rest = text.split(begin)
    old, tail = rest.split(end)
    known = dict(line.strip("| ").rsplit(" | ", 1) for line in old.strip().splitlines()[2:])
    # Conditions that could not be tried here keep their row.
    new = HEADS[table] + [f"| {name} | {known.get(name, 'not tried') if found is None else found} |" for name, found in rows]
    if write:
        page.write_text("\n".join([head.rstrip("\n") + "\n", begin, *new, end]) + tail)
        return []
    return [f"{page.name} says otherwise: {line}" for line in new if line not in old.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", type=pathlib.Path)
    parser.add_argument("--examples")
    parser.add_argument("--expected")
    parser.add_argument("--too-much", help="the program of tests/whole/too_much_test.cpp")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(3))
    # No core files of killed programs; only core() allows them.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    weather = Weather(options.subject.resolve(), options.examples, options.expected, options.too_much, options.only)
    weather.all()
    conditions = weather.rows
    weather.rows = []
    weather.system_calls()
    if options.page:
        weather.failures += compare(options.page, "weather", conditions, options.write)
        weather.failures += compare(options.page, "calls", weather.rows, options.write)
    weather.rows += conditions
    skipped = sum(found is None for _, found in weather.rows)
    print(f"{len(weather.rows)} conditions, {skipped} skipped, {next(weather.runs)} runs, {len(weather.failures)} failures")
    for failure in weather.failures:
        print(failure)
    return 1 if weather.failures else 0


sys.exit(main())
