"""The two halves of a comparison program that depend on the MPI library.

Every MPI library defines the same symbols under the same header name, so what
touches MPI is compiled once with each of them, and a program links only one.
"""

def mpi_comparison(name, srcs, flavor, library):
    """A main() that compares with one MPI library.

    Args:
      name: of the library with the main(), for a cc_binary to depend on.
      srcs: the files that include mpi.h.
      flavor: the MpiFlavor, as C++ spells it.
      library: name of the system_library; it may be one that was not found.
    """
    native.cc_library(
        name = name + "_library",
        srcs = srcs,
        local_defines = [
            "RONDO_HAVE_MPI=HAVE_" + library.upper(),
            "RONDO_MPI_FLAVOR=" + flavor,
        ],
        deps = [
            ":mpi_library_header",
            "//transports/base:status",
            "@fmt",
            "@" + library,
        ],
        # Nothing that is linked before it knows which implementation it gets.
        alwayslink = 1,
    )
    native.cc_library(
        name = name,
        visibility = ["//perf:__pkg__"],
        deps = [
            ":compare_main",
            ":" + name + "_library",
        ],
    )
