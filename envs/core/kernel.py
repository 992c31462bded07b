"""The compiler: `kernel` compiles a rule with Numba.

A rule is written once, as a plain Python function, and decorated with `kernel`. It then runs compiled. Under
``NUMBA_DISABLE_JIT=1`` the same function runs as plain Python; the tests compare the two.
`fivedice.envs.core.kernel_cache` keeps the machine code.
"""

import contextlib
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType
from typing import Any, TypeVar, overload

import numba
import numba.extending
import numpy as np
from numba.core.compiler import Compiler
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from fivedice.envs.core.fingerprint import NoFingerprint, fingerprint
from fivedice.envs.core.kernel_cache import KernelCache
from fivedice.envs.core.kernel_error import KernelError, explain

F = TypeVar("F", bound=Callable[..., Any])


class _Kernel(Compiler):
    """Compiles a function under a name that no other machine code has, in this process or in a stored file.

    Numba numbers functions and record types in the order in which a process meets them. Machine code that other
    processes have stored may then use a name of this process for another function, and the linker takes the wrong one.
    """

    def define_pipelines(self) -> Any:
        function = self.state.func_id
        with contextlib.suppress(NoFingerprint):  # then it is not stored either
            stamp = fingerprint(function.func, repr(self.state.args), repr(self.state.flags))
            function.unique_id = stamp[:32]
            function.unique_name = f"{function.func_qualname}${function.unique_id}"
        return super().define_pipelines()


class _NoAlias(_Kernel):
    """Compiles a function whose arrays share no memory, so that no array is read again after a write to another."""

    def define_pipelines(self) -> Any:
        self.state.flags.noalias = True
        return super().define_pipelines()


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, inline: bool = ..., allocates: bool = ..., noalias: bool = ...) -> Callable[[F], F]: ...
def kernel(
    function: Callable[..., Any] | None = None,
    *,
    inline: bool = False,
    allocates: bool = False,
    noalias: bool = False,
) -> Any:
    """Compile `function` on its first call, or load its machine code if nothing that it consists of has changed since.

    The compiled function releases the GIL. It does not check its arguments; the caller does.

    Args:
        function: the function to compile.
        inline: include the function in every kernel that calls it. For short functions that run at each decision.
        allocates: the function creates or returns arrays. All other kernels skip reference counting, which costs more
            than many rules.
        noalias: the arrays that the function writes share no memory with its other arrays. The compiler may then keep
            values in registers and write several at once.

    Raises:
        TypeError: the function returns an array, but `allocates` is False.
        KernelError: raised by the first call, if the function cannot be compiled.
    """
    if function is None:
        return partial(kernel, inline=inline, allocates=allocates, noalias=noalias)
    if not allocates and "ndarray" in str(function.__annotations__.get("return")).lower():
        raise TypeError(f"{function.__qualname__} returns an array: @kernel(allocates=True)")
    compiler = _NoAlias if noalias else _Kernel
    dispatcher: Any = numba.njit(nogil=True, forceinline=inline, _nrt=allocates, pipeline_class=compiler)(function)
    if dispatcher is not function:  # NUMBA_DISABLE_JIT leaves the function alone
        dispatcher._cache = KernelCache(function, inline, allocates, noalias)
        dispatcher._compile_for_args = _explaining(dispatcher._compile_for_args, function)
    return dispatcher


def _explaining(compile_for_args: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """What Numba calls to compile `function` for the arguments of a call, with an error that explains what is wrong."""

    def compile_or_explain(*args: Any, **kwargs: Any) -> Any:
        try:
            return compile_for_args(*args, **kwargs)
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise KernelError(explain(function, error)) from error

    return compile_or_explain


@cache
def plain(function: F) -> F:
    """`function` as plain Python, including every kernel that it calls.

    For tables that are computed from a rule when a module is imported: nothing is compiled then. A kernel that reads
    such a table has it in its machine code.
    """
    source: Any = getattr(function, "py_func", function)
    names = {
        name: plain(value) if hasattr(value, "py_func") else value
        for name, value in source.__globals__.items()
        if name in source.__code__.co_names
    }
    names["__builtins__"] = source.__globals__["__builtins__"]
    return FunctionType(source.__code__, names)  # type: ignore[return-value]  # it has the same signature


def wrapping_product(a: int, b: int) -> int:
    """The lowest 64 bits of a product. The compiled result is signed: select bits of it with ``&``.

    All other products of compiled integers must stay below 2**63, because the compiler assumes it.
    """
    return a * b & 0xFFFFFFFFFFFFFFFF


@numba.extending.overload(wrapping_product)
def _compiled_product(a: int, b: int) -> Any:
    def product(a: int, b: int) -> Any:
        return np.int64(np.uint64(a) * np.uint64(b))

    return product
