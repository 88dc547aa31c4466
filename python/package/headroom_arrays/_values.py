# SPDX-License-Identifier: MIT
"""What values are elements of, how they are converted without loss, and what NumPy sees of an array that has no memory which it
could read."""
import functools
import operator
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
    if not kinds <= {bool, int, float, complex, str, type(None)}:
        values = [None if missing(each) else each for each in values]
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
    nulls = False
    if isinstance(values, numpy.ma.MaskedArray):
        nulls = _has_masked(values) and values.dtype.kind not in "mM"
        if nulls and values.dtype.kind in "OU":
            return _of_list(values.tolist())
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
        return made.dtype.name.partition("[")[0] + "[s]", made.shape[1:], False, values
    return made.dtype, made.shape[1:], nulls, values


def _of_arrow(values):
    name = str(values.type)
    names = {"string": "str", "large_string": "str", "float": "float32", "double": "float64", "halffloat": "float16"}
    name = names.get(name, name).replace("timestamp[", "datetime64[").replace("duration[", "timedelta64[")
    return name, (), values.null_count != 0, values


def _has_masked(values):
    return 1 in sys.modules["numpy"].ma.getmaskarray(values).tobytes()


def _masked_type():
    masked = sys.modules.get("numpy.ma")
    return () if masked is None else masked.MaskedArray


def missing(value):
    """Whether a value is None, pandas' NA, a null of Arrow's, or a masked element of NumPy's."""
    if value is None or type(value).__name__ == "NAType" or getattr(value, "is_valid", True) is False:
        return True
    return isinstance(value, _masked_type()) and value.ndim == 0 and _has_masked(value)


def unmasked(values, nullable, times):
    """Returns values without their mask. Masked elements become None where there are nulls, and NaT of times; else they raise."""
    if isinstance(values, _masked_type()):
        if not _has_masked(values):
            return values.data
        if nullable and values.ndim == 1 and values.dtype.kind not in "mM":
            return values.tolist()
        if times and values.dtype.kind in "mM":
            made = values.data.copy()
            made[values.mask] = "NaT"
            return made
        if times and values.ndim == 0:
            return None
        raise ValueError("there are masked elements: an Array with nullable=True, whose elements have no shape, takes them")
    if isinstance(values, (list, tuple)):
        kinds = set(map(type, values))
        if any(issubclass(each, (_masked_type() or list, list, tuple)) for each in kinds):
            return (list if isinstance(values, list) else tuple)(unmasked(each, False, times) for each in values)
    return values


def converted(values, dtype):
    """NumPy's array of that dtype. Raises where it would not hold what the values are; floats round to smaller ones."""
    import numpy
    dtype = numpy.dtype(dtype)
    if type(values) is numpy.ndarray and values.dtype == dtype:
        return values
    values = unmasked(values, False, dtype.kind in "mM")
    if dtype.names is not None:
        return _structures(values, dtype)
    given = numpy.asarray(values)
    listed = given is not values and not hasattr(values, "__array_interface__")
    if given.dtype == dtype and not listed:
        return given
    how = {"i": _integers, "u": _integers, "f": _floats, "c": _floats, "m": _times, "M": _times, "S": _text, "U": _text}
    if dtype.kind in how:
        return how[dtype.kind](values, given, dtype, listed)
    return given.astype(dtype, casting="same_kind", copy=False)


def _refuse(dtype):
    raise OverflowError(f"there are values that do not fit into {dtype.name}")


def _integers(values, given, dtype, listed):
    import numpy
    if given.dtype.kind in "mM":
        raise TypeError(f"times are no {dtype.name}")
    if given.dtype.kind not in "iub":    # no integers, or integers that NumPy has converted: no one type of its own holds all
        given = numpy.asarray(numpy.frompyfunc(operator.index, 1, 1)(numpy.asarray(values, dtype=object)), dtype=object)
    made = given.astype(dtype, copy=False)
    if made is not given and not numpy.array_equal(made, given):
        _refuse(dtype)
    return made


def _floats(values, given, dtype, listed):
    import numpy
    with numpy.errstate(over="ignore"):
        made = given.astype(dtype, casting="same_kind", copy=False)
    if given.dtype.kind in "iu" or listed:    # integers past the digits may lie between two floats
        large = abs(made.real) > 2.0 ** numpy.finfo(dtype).nmant
        if large.any():
            exact = given if given.dtype.kind in "iu" else numpy.asarray(values, dtype=object)
            for one, kept in zip(exact[large].tolist(), made[large].tolist()):
                if isinstance(one, (int, numpy.integer)) and int(one) != kept:
                    _refuse(dtype)
    return made


def _times(values, given, dtype, listed):
    import numpy
    if given.dtype.kind in "iu":
        return _integers(values, given, numpy.dtype("int64"), listed).view(dtype)
    if given.dtype.kind not in "mMSUO":
        raise TypeError(f"values of {given.dtype.name} are no {dtype.name}")
    if given.dtype.kind == "O":
        values = numpy.frompyfunc(_time, 1, 1)(given)
        values = values.tolist() if isinstance(values, numpy.ndarray) else values
    if given.dtype.kind not in "mM":
        given = numpy.asarray(values, dtype=dtype.kind + "8")
    made = given.astype(dtype, casting="same_kind")
    kept = numpy.array_equal(made.astype(given.dtype), given, equal_nan=True)
    if kept and listed:    # of several units NumPy has made one, in which not all may have a place
        seconds = dtype.kind + "8[s]"
        kept = numpy.array_equal(numpy.asarray(values, dtype=seconds), given.astype(seconds), equal_nan=True)
    if not kept:
        _refuse(dtype)
    return made


def _time(value):
    """A time of pandas', of which NumPy would take the microseconds only, as NumPy's own."""
    return None if missing(value) else value.to_numpy() if hasattr(value, "to_numpy") else value


def _text(values, given, dtype, listed):
    import numpy
    whole = numpy.asarray(values, dtype=dtype.kind)
    made = whole.astype(dtype)
    if not numpy.array_equal(made, whole):
        _refuse(dtype)
    return made


@functools.lru_cache(maxsize=64)
def _objects(dtype):
    """The structure that has Python objects for numbers."""
    import numpy
    return numpy.dtype([(name, object, dtype[name].shape) for name in dtype.names])


def _structures(values, dtype):
    """Converts field by field, as NumPy assigns them: by their places."""
    import numpy
    given = numpy.asarray(values) if hasattr(values, "dtype") else None
    if given is not None and given.dtype == dtype:
        return given
    if given is not None and given.dtype.names is not None:
        if len(given.dtype.names) != len(dtype.names):
            raise TypeError(f"structures of {len(dtype.names)} fields are wanted")
        made = numpy.zeros(given.shape, dtype)
        for to, of in zip(dtype.names, given.dtype.names):
            made[to] = converted(given[of], dtype[to].base)
        return made
    # NumPy puts them in their places as they are; it would convert them, too, but without asking if they fit.
    loose = numpy.array(values if given is None else given.tolist(), dtype=_objects(dtype))
    made = numpy.zeros(loose.shape, dtype)
    for name in dtype.names if loose.size else ():
        made[name] = converted(loose[name].tolist(), dtype[name].base)
    return made


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
