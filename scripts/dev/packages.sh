# SPDX-License-Identifier: MIT
# Which Debian packages each job of ./dev needs: here and nowhere else. Sourced by ./dev.
# shellcheck shell=bash disable=SC2154,SC2034
packages_build=(g++ cmake ninja-build)
packages_fast=("${packages_build[@]}" clang-19 lld-19 googletest python3)
packages_tools=("${packages_build[@]}" googletest libcli11-dev nlohmann-json3-dev libzstd-dev libdw-dev zlib1g-dev python3 pkg-config
                libunwind8 libmimalloc2.0 libjemalloc2 libtcmalloc-minimal4 fish zsh)    # mallocs to profile programs over; fish, zsh: to try completions
packages_lab=("${packages_build[@]}" googletest valgrind libboost-container-dev nlohmann-json3-dev libcli11-dev
              patch zlib1g-dev libfoonathan-memory-dev libmimalloc2.0 libjemalloc2 libtcmalloc-minimal4 libabsl-dev libplf-colony-dev libtbb-dev liblmdb-dev libstxxl-dev libgmp-dev)    # the last line: peers, measured where they are
packages_elsewhere=("${packages_build[@]}" clang-19 python3 g++-11 clang-14 libc++-19-dev libc++abi-19-dev qemu-user-static g++-aarch64-linux-gnu g++-riscv64-linux-gnu
                    g++-mingw-w64-x86-64-posix wine wine64)
packages_msvc=("${packages_build[@]}" googletest wine wine64 clang-tools-19 lld-19 llvm-19)    # presets msvc and clang-cl, beside a folder that nobody may hand out
packages_full=("${packages_fast[@]}" "${packages_tools[@]}" "${packages_lab[@]}" "${packages_elsewhere[@]}" clang-format-19 clang-tidy-19 libclang-rt-19-dev llvm-19 g++-i686-linux-gnu
               universal-ctags gdb libseccomp-dev meson dpkg-dev abigail-tools file btrfs-progs chromium python3-dev pybind11-dev libfmt-dev)
packages_slow=(debhelper lintian)    # Debian's packages as Debian builds them; full has the rest
packages_python=(python3 python3-venv ca-certificates)
packages_everywhere=("${packages_fast[@]}" "${packages_elsewhere[@]}" clang-15 clang-16    # not g++-multilib: it removes the cross compilers
                     slurmctld slurmd slurm-client munge parallel)
requirements=lab/report/requirements.txt

