"""Memory that forks share: they copy a page as soon as they write into it."""

import ctypes

_LARGEST = 4096


def fill_gaps() -> None:
    """Use up the small gaps that loading modules has left in the heap of glibc.

    Otherwise each small block that a fork allocates lands in another shared page, which
    is then copied: a connection to SQLite takes 0.7 MB and would copy 5 MB.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        return
    libc.malloc.restype = libc.sbrk.restype = ctypes.c_void_p
    libc.malloc_trim(0)
    end = libc.sbrk(0)
    # Never freed. The large ones come first, because they leave small gaps.
    for size in range(_LARGEST, 0, -16):
        while (libc.malloc(size) or end) < end:
            pass
