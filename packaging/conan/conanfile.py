"""Headroom for Conan 2: conan create packaging/conan. Needs no remote."""
import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class HeadroomConan(ConanFile):
    name = "headroom"
    description = "Growable memory for C++20"
    license = "MIT"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    implements = ["auto_shared_fpic"]

    @property
    def root(self):
        return pathlib.Path(self.recipe_folder).parent.parent

    def set_version(self):
        lists = (self.root / "CMakeLists.txt").read_text()
        self.version = re.search(r"project\(headroom VERSION ([0-9.]+)", lists)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "modules/*", "src/*"):
            copy(self, pattern, self.root, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HEADROOM_TESTS"] = False
        toolchain.cache_variables["HEADROOM_LAB"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["headroom"]
        self.cpp_info.set_property("cmake_file_name", "headroom")
        self.cpp_info.set_property("cmake_target_name", "headroom::headroom")
        self.cpp_info.set_property("pkg_config_name", "headroom")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
