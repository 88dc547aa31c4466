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
    # hardened: a broken precondition ends the program. file, exchange: the components of these names.
    options = {"shared": [True, False], "fPIC": [True, False], "hardened": [True, False], "file": [True, False], "exchange": [True, False]}
    default_options = {"shared": False, "fPIC": True, "hardened": False, "file": True, "exchange": True}
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
        for option in ("hardened", "file", "exchange"):
            toolchain.cache_variables[f"HEADROOM_{option.upper()}"] = bool(self.options.get_safe(option))
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "headroom")
        self.cpp_info.set_property("cmake_target_name", "headroom::all")    # the core's is the name that programs know
        self.cpp_info.set_property("pkg_config_name", "headroom-all")
        components = [name for name in ("file", "exchange") if self.options.get_safe(name)]
        core = self.component("core", "headroom", "headroom::headroom", "headroom")
        core.defines += ["HEADROOM_HARDENED"] if self.options.hardened else []
        core.defines += [f"HEADROOM_NO_{name.upper()}" for name in ("file", "exchange") if name not in components]
        core.defines += ["HEADROOM_DLL"] if self.settings.os == "Windows" and self.options.shared else []
        if self.settings.os in ("Linux", "FreeBSD"):
            core.system_libs = ["pthread"]
        for name in [*components, "testing"]:
            self.component(name, f"headroom-{name}", f"headroom::{name}", f"headroom-{name}").requires = ["core"]

    def component(self, name, library, target, package):
        """The component of this name: its library, and how CMake and pkg-config call it."""
        component = self.cpp_info.components[name]
        component.libs = [library]
        component.set_property("cmake_target_name", target)
        component.set_property("pkg_config_name", package)
        return component
