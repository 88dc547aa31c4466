"""What values are elements of, and what NumPy sees of an array that has no memory which it could read."""
import sys


def _numpy_dtype(given):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(given, numpy.dtype)


def _fields(given):
    """Whether a list is one of NumPy's structured dtypes: of names and types."""
    return isinstance(given, list) and len(given) > 0 and all(isinstance(each, tuple) and len(each) >= 2 and isinstance(each[0], str)
                                                               for each in given)


def described(given):
    """(dtype, shape, nullable, values) where these are values; None where they name a dtype."""
    if _numpy_dtype(given) or _fields(given) or isinstance(given, dict):
        return None
    if isinstance(given, (list, tuple)):
        return _of_list(list(given))
    if type(given).__module__.partition(".")[0] == "headroom_arrays":
        return given.dtype, given.shape[1:], given.nullable, given
    if hasattr(given, "null_count") and hasattr(given, "to_pylist"):    # pyarrow's
        return _of_arrow(given)
    if hasattr(given, "__array_interface__") or hasattr(given, "__array__"):
        return _of_numpy(given)
    if isinstance(given, (memoryview, bytes, bytearray)) or hasattr(given, "typecode"):
        return _of_numpy(memoryview(given))
    if hasattr(given, "__iter__"):
        return _of_list(list(given))
    return None


def _of_list(values):
    kinds = {type(each) for each in values}
    nullable = type(None) in kinds
    kinds.discard(type(None))
    if not kinds:
        return "float64", (), nullable, values
    for allowed, dtype in (({bool}, "bool"), ({int}, "int64"), ({int, float}, "float64"), ({int, float, complex}, "complex128"),
                           ({str}, "str")):
        if kinds <= allowed:
            return dtype, (), nullable, values
    if str in kinds:
        raise TypeError("text and others are of no one dtype")
    return _of_numpy(values)


def _of_numpy(values):
    import numpy
    made = numpy.asarray(values)
    if made.dtype.kind == "U" and made.ndim == 1:
        return "str", (), False, made.tolist()
    if made.dtype.kind in "OU":
        if made.dtype.kind == "O" and made.ndim == 1 and {type(each) for each in made} <= {str, type(None)}:
            return _of_list(made.tolist())
        raise TypeError("these values are of no one dtype: name it, and extend the array by them")
    if made.ndim == 0:
        raise TypeError("values of one dimension at least are wanted")
    if made.dtype.kind in "mM" and numpy.datetime_data(made.dtype)[0] not in ("s", "ms", "us", "ns"):
        made = made.astype(f"{made.dtype.kind}8[s]")
    return made.dtype, made.shape[1:], False, made


def _of_arrow(values):
    name = str(values.type)
    names = {"string": "str", "large_string": "str", "float": "float32", "double": "float64", "halffloat": "float16"}
    name = names.get(name, name).replace("timestamp[", "datetime64[").replace("duration[", "timedelta64[")
    return name, (), values.null_count != 0, values


def as_numpy(array, structure, dtype, copy):
    """Array.__array__: the memory itself where NumPy can read it; text, and nulls of numbers that know no NaN, as a copy."""
    import numpy
    if array.dtype == "str" or (array.null_count and not hasattr(array, "__array_interface__")):
        if copy is False:
            raise ValueError("text and nulls are copied for NumPy")
        values = array.tolist()
        if dtype is None:
            dtype = "float64" if "int" in array.dtype else object
        if numpy.dtype(dtype).kind == "f":
            values = [numpy.nan if each is None else each for each in values]
        return numpy.array(values, dtype=dtype)
    made = numpy.asarray(_Memory(array)) if structure is None else numpy.ndarray(array.shape, structure, array)
    if dtype is None or made.dtype == dtype:
        return made.copy() if copy else made
    if copy is False:
        raise ValueError(f"elements of {array.dtype} are copied to become {dtype}")
    return made.astype(dtype)


class _Memory:
    """An array without __array__, to which NumPy would come back. It keeps the array for as long as NumPy keeps it."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__
