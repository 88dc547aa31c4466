# SPDX-License-Identifier: MIT
"""Makes the C++ library that the msan preset needs: scripts/msan_runtime.py FOLDER

MemorySanitizer believes only what it has compiled: whatever an ordinary C++ library wrote counts as never written. So
libc++ and libc++abi are compiled with it here. Their sources come with the Python package ziglang, pinned in
scripts/msan_requirements.txt, of which nothing else is used. Does nothing where FOLDER is complete. Needs clang++-19.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "msan_requirements.txt"
COMPILER = "clang++-19"
FLAGS = ["-std=c++23", "-O1", "-g1", "-fPIC", "-fsanitize=memory", "-fsanitize-memory-track-origins",
         "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-nostdinc++", "-w",
         "-D_LIBCPP_BUILDING_LIBRARY", "-D_LIBCXXABI_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI"]
# The package hands these to each compilation; here they stand in a header, as in an installed libc++.
SITE = """#pragma once
#define _LIBCPP_ABI_VERSION 1
#define _LIBCPP_ABI_NAMESPACE __1
#define _LIBCPP_PSTL_BACKEND_STD_THREAD
#define _LIBCPP_HARDENING_MODE_DEFAULT 2
#define _LIBCPP_HAS_NO_VENDOR_AVAILABILITY_ANNOTATIONS
"""
PATCHED_OUT = "/* zig patch: instead of including __config_site, zig adds -D flags when compiling */"
# Other systems' files, and operator new, which is the sanitizer's.
LEFT_OUT = {"new.cpp", "stdlib_new_delete.cpp", "libdispatch.cpp", "cxa_noexception.cpp"}
OTHER_SYSTEMS = {"win32", "ibm"}


def unpacked(folder):
    """The package's libcxx and libcxxabi, in `folder`."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder,
                    "-r", REQUIREMENTS], check=True)
    (package,) = folder.glob("ziglang-*.whl")
    with zipfile.ZipFile(package) as archive:
        wanted = ("ziglang/lib/libcxx/", "ziglang/lib/libcxxabi/")
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(wanted)])
    package.unlink()
    return folder / "ziglang" / "lib"


def compiled(source, target, include):
    subprocess.run([COMPILER, *FLAGS, *(f"-I{path}" for path in include), "-c", source, "-o", target], check=True)
    return target


def make(folder):
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        scratch = pathlib.Path(scratch)
        sources = unpacked(scratch)
        headers = scratch / "made" / "include"
        shutil.copytree(sources / "libcxx" / "include", headers)
        for header in (sources / "libcxxabi" / "include").iterdir():
            shutil.copy(header, headers)
        config = (headers / "__config").read_text()
        if PATCHED_OUT not in config:
            sys.exit("msan_runtime.py: this ziglang's libc++ is configured in another way than the pinned one's")
        (headers / "__config").write_text(config.replace(PATCHED_OUT, "#include <__config_site>"))
        (headers / "__config_site").write_text(SITE)
        include = [headers, sources / "libcxx" / "src", sources / "libcxx" / "src" / "include", sources / "libcxxabi" / "src"]
        files = [path for name in ("libcxx", "libcxxabi") for path in sorted((sources / name / "src").rglob("*.cpp"))
                 if path.name not in LEFT_OUT and path.parent.name not in OTHER_SYSTEMS and "experimental" not in path.parts]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
            tasks = [(path, scratch / f"{number}-{path.stem}.o") for number, path in enumerate(files)]
            objects = list(workers.map(lambda task: compiled(*task, include), tasks))
        subprocess.run(["ar", "rcs", scratch / "made" / "libc++.a", *objects], check=True)
        shutil.copy(sources / "libcxx" / "LICENSE.TXT", scratch / "made")
        if folder.exists():
            if not (folder / "made-from").exists() and any(folder.iterdir()):
                sys.exit(f"msan_runtime.py: {folder} is there, and was not made by this script; it stays as it is")
            shutil.rmtree(folder)
        (scratch / "made").rename(folder)
    print(f"{folder}: libc++ of {len(objects)} files, compiled with MemorySanitizer")


if len(sys.argv) != 2:
    sys.exit(__doc__)
wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + pathlib.Path(__file__).read_bytes()).hexdigest()
target = pathlib.Path(sys.argv[1]).resolve()
stamp = target / "made-from"
if not stamp.exists() or stamp.read_text() != wanted:
    target.parent.mkdir(parents=True, exist_ok=True)
    make(target)
    stamp.write_text(wanted)
