# SPDX-License-Identifier: MIT
# How gdb shows Headroom's containers: `print v` gives the elements, as for std::vector. Carried inside every program that
# links Headroom on an ELF system, in the section .debug_gdb_scripts; gdb runs it when the program's folder is in its
# auto-load safe-path. Installed beside the shared library's name in gdb's own folder, and in share/headroom to be sourced.
import re

import gdb
import gdb.printing
import gdb.xmethod


class HeadroomArrayPrinter:
    """What all have in common: `size` elements from `begin`, shown as an array of this `kind`; and what gdb calls itself."""

    methods = ("operator[]", "size", "empty", "data")

    def to_string(self):
        return f"{self.kind} of length {self.size}"

    def children(self):
        for index in range(self.size):
            yield f"[{index}]", self.element(index)

    def element(self, index):
        return (self.begin + index).dereference()

    def display_hint(self):
        return "array"


def _headroom_itself(value):
    """What a reference refers to: gdb finds the printer by the type referred to, and passes the reference."""
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    return value


def _headroom_kind(value):
    name = value.type.unqualified().strip_typedefs().name.split("<", 1)[0]
    return "headroom::" + name.rsplit("::", 1)[-1]    # the version's inline namespace is of no interest


class HeadroomVectorPrinter(HeadroomArrayPrinter):
    """A vector, small_vector, settled_vector or file_vector: three pointers, begin_, end_ and cap_."""

    methods = (*HeadroomArrayPrinter.methods, "at", "front", "back")

    def __init__(self, value):
        value = _headroom_itself(value)
        self.kind = _headroom_kind(value)
        self.begin = value["begin_"]
        self.end = value["end_"]
        self.cap = value["cap_"]

    @property
    def size(self):
        return int(self.end - self.begin)

    def to_string(self):
        return f"{super().to_string()}, capacity {int(self.cap - self.begin)}"


class HeadroomConcurrentVectorPrinter(HeadroomArrayPrinter):
    """A concurrent_vector: begin_, and how many elements are published, size_, a std::atomic."""

    kind = "headroom::concurrent_vector"
    methods = HeadroomVectorPrinter.methods

    def __init__(self, value):
        value = _headroom_itself(value)
        self.begin = value["begin_"]
        size = value["size_"]
        while size.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:    # each standard library names the number otherwise
            size = size[next(field for field in size.type.strip_typedefs().fields() if hasattr(field, "bitpos"))]
        self.size = int(size)


class HeadroomFrozenPrinter(HeadroomArrayPrinter):
    """Elements that no longer change: a frozen's data_ and size_, or what an imported array says of its contents_."""

    def __init__(self, value):
        value = _headroom_itself(value)
        self.kind = _headroom_kind(value)
        if self.kind.endswith("frozen"):
            self.begin, self.size = value["data_"], int(value["size_"])
        else:
            element = value.type.strip_typedefs().template_argument(0).const()
            self.begin = value["contents_"]["values"].cast(element.pointer())
            self.size = int(value["contents_"]["size"])


class HeadroomBitsPrinter(HeadroomArrayPrinter):
    """A bit_column: bytes_, a settled_vector, and size_ bits in them; or imported bits, from some bit on."""

    def __init__(self, value):
        value = _headroom_itself(value)
        self.kind = _headroom_kind(value)
        self.first = 0
        if self.kind.endswith("bit_column"):
            self.begin, self.size = value["bytes_"]["begin_"], int(value["size_"])
        else:
            contents = value["contents_"]
            self.begin = contents["values"].cast(gdb.lookup_type("unsigned char").const().pointer())
            self.first, self.size = int(contents["first_bit"]), int(contents["size"])
            self.methods = ("operator[]", "size", "empty")

    def element(self, index):
        index += self.first
        byte = int((self.begin + index // 8).dereference())
        return gdb.Value(bool(byte >> index % 8 & 1))


class HeadroomPiecesPrinter(HeadroomArrayPrinter):
    """Text and lists: element i is what lies from offset i to offset i + 1. A string_column, or what was imported."""

    def __init__(self, value):
        value = _headroom_itself(value)
        self.kind = _headroom_kind(value)
        if self.kind.endswith("string_column"):
            self.begin, self.offsets = value["bytes_"]["begin_"], value["offsets_"]["begin_"]
            self.size = max(int(value["offsets_"]["end_"] - self.offsets) - 1, 0)
            return
        contents = value["contents_"]
        self.methods = ("operator[]", "size", "empty")
        self.size, self.length = int(contents["size"]), int(contents["length"])
        self.begin = contents["bytes"]
        asked = value.type.strip_typedefs().template_argument(0).strip_typedefs()
        if "span<" in asked.name:
            self.begin = self.begin.cast(asked.template_argument(0).pointer())
        offset = gdb.lookup_type("long long" if contents["large"] else "int")
        self.offsets = contents["values"].cast(offset.pointer())

    def element(self, index):
        if int(self.offsets) == 0:    # lists of one length
            first, last = index * self.length, (index + 1) * self.length
        else:
            first, last = (int((self.offsets + at).dereference()) for at in (index, index + 1))
        if int(self.begin) == 0:    # all are empty
            first = last = 0
        if first == last and self.begin.type.target().sizeof == 1:
            return gdb.Value(b"\0", self.begin.type.target().array(0))
        return (self.begin + first).cast(self.begin.type.target().array(last - first - 1).pointer()).dereference()


_headroom_kinds = {
    "vector": (r"^headroom::(\w+::)*((settled|small|file)_)?vector<.*>$", HeadroomVectorPrinter),
    "concurrent_vector": (r"^headroom::(\w+::)*concurrent_vector<.*>$", HeadroomConcurrentVectorPrinter),
    "frozen": (r"^headroom::(\w+::)*frozen<.*>$", HeadroomFrozenPrinter),
    "imported_bits": (r"^headroom::(\w+::)*imported<bool>$", HeadroomBitsPrinter),
    "imported_pieces": (r"^headroom::(\w+::)*imported<std::(\w+::)*(basic_string_view|span)<.*>$", HeadroomPiecesPrinter),
    "imported": (r"^headroom::(\w+::)*imported<(?!bool>|std::(\w+::)*(basic_string_view|span)<).*>$", HeadroomFrozenPrinter),
    "bit_column": (r"^headroom::(\w+::)*bit_column$", HeadroomBitsPrinter),
    "string_column": (r"^headroom::(\w+::)*string_column$", HeadroomPiecesPrinter),
}


def _headroom_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("headroom")
    for name, (types, printer) in _headroom_kinds.items():
        printers.add_printer(name, types, printer)
    return printers


class HeadroomMethod(gdb.xmethod.XMethodWorker):
    """A member function that gdb runs itself: the program may not have compiled it, and a core file runs nothing."""

    def __init__(self, name, printer):
        self.name = name
        self.printer = printer

    def get_arg_types(self):
        return gdb.lookup_type("unsigned long") if self.name in ("operator[]", "at") else None

    def __call__(self, container, *index):
        printer = self.printer(container.dereference() if container.type.code == gdb.TYPE_CODE_PTR else container)
        if self.name not in printer.methods:
            raise gdb.GdbError(f"{printer.kind} has no member {self.name}()")
        if self.name == "size":
            return gdb.Value(printer.size).cast(gdb.lookup_type("unsigned long"))
        if self.name == "empty":
            return gdb.Value(printer.size == 0)
        if self.name == "data":
            return printer.begin
        at = int(index[0]) if index else printer.size - 1 if self.name == "back" else 0
        if not 0 <= at < printer.size:
            raise gdb.GdbError(f"{printer.kind} has {printer.size} elements, and none of index {at}")
        return printer.element(at)


class HeadroomMethods(gdb.xmethod.XMethodMatcher):
    """Element access and sizes of all of them."""

    def __init__(self):
        super().__init__("headroom")
        self.methods = [gdb.xmethod.XMethod(name) for name in HeadroomVectorPrinter.methods]

    def match(self, class_type, method_name):
        name = class_type.unqualified().strip_typedefs().name or ""
        for types, printer in _headroom_kinds.values():
            if method_name in printer.methods and re.match(types, name):
                return [HeadroomMethod(each.name, printer) for each in self.methods if each.enabled and each.name == method_name]
        return []


gdb.xmethod.register_xmethod_matcher(None, HeadroomMethods(), replace=True)
gdb.printing.register_pretty_printer(None, _headroom_printers(), replace=True)
