"""A repository rule that wraps a library of the system as a cc_library.

The library is looked for in the directory that `home_variable` names in the
environment, if the rule gives one and it is set; else pkg-config is asked; else
the usual system directories are tried, unless `only_pkg_config` is set: for a
header of which several packages have their own, such as mpi.h. A library that
is not found is an error unless `optional` is set: then the target is empty and
defines HAVE_<NAME>=0, so that an absent library means a smaller build.

Only the headers listed in `headers` become visible: a plain /usr/include would
hide every dependency that a BUILD file forgot to name.
"""

_BUILD = """\
cc_library(
    name = "{name}",
    hdrs = glob(["include/**"], allow_empty = True),
    includes = ["include"],
    defines = ["HAVE_{upper}={have}"],
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _pkg_config(ctx, flag):
    tool = ctx.which("pkg-config")
    if tool == None or not ctx.attr.pkg_config:
        return None
    result = ctx.execute([tool, flag, ctx.attr.pkg_config])
    if result.return_code != 0:
        return None
    return [word for word in result.stdout.strip().split(" ") if word]

def _home(ctx):
    if not ctx.attr.home_variable:
        return None
    return ctx.os.environ.get(ctx.attr.home_variable)

def _candidates(ctx):
    """Pairs of (include directory, extra link options), in order of trust."""
    home = _home(ctx)
    if home:
        lib = home + "/lib"

        # RPATH, not RUNPATH: it also holds for what these libraries need.
        rpath = ["-Wl,-rpath," + lib, "-Wl,--disable-new-dtags"]
        return [(home + "/include", ["-L" + lib] + rpath)]
    found = []
    cflags = _pkg_config(ctx, "--cflags-only-I")
    if cflags != None:
        libdirs = _pkg_config(ctx, "--libs-only-L") or []
        libdirs += ["-Wl,-rpath," + flag[2:] for flag in libdirs]
        found += [(flag[2:], libdirs) for flag in cflags]
        found.append(("/usr/include", libdirs))
    if ctx.attr.only_pkg_config:
        return found
    found.append(("/usr/include", []))
    found.append(("/usr/local/include", ["-L/usr/local/lib"]))
    return found

def _impl(ctx):
    chosen = None
    for (include, extra) in _candidates(ctx):
        if ctx.path(include + "/" + ctx.attr.probe_header).exists:
            chosen = (include, extra)
            break
    if chosen == None and not ctx.attr.optional:
        where = "pkg-config (%s) or /usr/include" % ctx.attr.pkg_config
        if _home(ctx):
            where = "$%s (%s)" % (ctx.attr.home_variable, _home(ctx))
        fail("%s: %s was not found by %s; " %
             (ctx.name, ctx.attr.probe_header, where) +
             "third_party/debian_packages.txt lists the packages to install")
    linkopts = []
    if chosen != None:
        (include, extra) = chosen
        linkopts = extra + ctx.attr.linkopts
        for entry in ctx.attr.headers:
            if ctx.path(include + "/" + entry).exists:
                ctx.symlink(include + "/" + entry, "include/" + entry)
    ctx.file("BUILD", _BUILD.format(
        have = 1 if chosen else 0,
        linkopts = repr(linkopts),
        name = ctx.attr.name,
        upper = ctx.attr.name.upper(),
    ))

system_library = repository_rule(
    implementation = _impl,
    attrs = {
        "headers": attr.string_list(
            doc = "files or folders to expose, of the include directory",
        ),
        "home_variable": attr.string(
            doc = "environment variable that overrides where to look",
        ),
        "linkopts": attr.string_list(),
        "only_pkg_config": attr.bool(default = False),
        "optional": attr.bool(default = False),
        "pkg_config": attr.string(doc = "the pkg-config module"),
        "probe_header": attr.string(
            doc = "a header whose presence means found",
        ),
    },
    configure = True,
    environ = ["PKG_CONFIG_PATH", "UCX_HOME"],
    local = True,
)
