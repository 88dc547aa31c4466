# How gdb shows Headroom's containers: `print v` gives the elements, as for std::vector. Carried inside every program that
# links Headroom on an ELF system, in the section .debug_gdb_scripts; gdb runs it when the program's folder is in its
# auto-load safe-path.
import gdb
import gdb.printing


class HeadroomVectorPrinter:
    """A vector, settled_vector or file_vector: three pointers, begin_, end_ and cap_."""

    def __init__(self, value):
        name = value.type.strip_typedefs().name.split("<", 1)[0]
        self.kind = "headroom::" + name.rsplit("::", 1)[-1]    # the version's inline namespace is of no interest
        self.begin = value["begin_"]
        self.end = value["end_"]
        self.cap = value["cap_"]

    def to_string(self):
        size = int(self.end - self.begin)
        capacity = int(self.cap - self.begin)
        return f"{self.kind} of length {size}, capacity {capacity}"

    def children(self):
        for index in range(int(self.end - self.begin)):
            yield f"[{index}]", (self.begin + index).dereference()

    def display_hint(self):
        return "array"


def _headroom_printers():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("headroom")
    printers.add_printer("vector", r"^headroom::(\w+::)*((settled|file)_)?vector<.*>$", HeadroomVectorPrinter)
    return printers


gdb.printing.register_pretty_printer(None, _headroom_printers(), replace=True)
