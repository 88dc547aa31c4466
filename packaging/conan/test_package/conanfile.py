"""Consumers, one for each component: built and run by conan create."""
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class HeadroomTest(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    @property
    def programs(self):
        options = self.dependencies[self.tested_reference_str].options
        return [name for name in ("file", "exchange") if options.get_safe(name)]

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False    # leaves nothing beside the sources
        toolchain.cache_variables["WITH"] = ";".join(self.programs)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            for program in ("consumer", "testing", *self.programs):
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")
