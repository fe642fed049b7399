"""Rules for what `bazel run //:install` puts onto a system.

`merged_archive` makes one archive of the objects of all libraries of this
workspace that its dependencies lead to. Libraries of the system are not part of
it: they stay link options, of the target and in the file `<name>.link_options`,
one a line.

`install_manifest` writes down, as JSON, which files there are to install. All
of them are runfiles of it.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _linker_inputs(deps):
    contexts = [dep[CcInfo].linking_context.linker_inputs for dep in deps]
    return depset(transitive = contexts, order = "topological").to_list()

def _objects_and_options(deps):
    """The object files, and the link options without repetitions."""
    objects = {}
    options = {}
    for linker_input in _linker_inputs(deps):
        for option in linker_input.user_link_flags:
            options[option] = True
        for library in linker_input.libraries:
            found = library.pic_objects or library.objects
            if not found and (library.pic_static_library or
                              library.static_library):
                fail("%s has an archive, but no objects to merge" %
                     linker_input.owner)
            for item in found:
                objects[item] = True
    return (objects.keys(), options.keys())

def _merge(ctx, toolchain, objects):
    archive = ctx.actions.declare_file(ctx.attr.archive)
    arguments = ctx.actions.args()

    # q: two objects may have the same name, and both are wanted.
    # D: the same input gives the same bytes.
    arguments.add("qcsD", archive)
    arguments.add_all(objects)
    ctx.actions.run(
        executable = toolchain.ar_executable,
        arguments = [arguments],
        inputs = depset(objects, transitive = [toolchain.all_files]),
        outputs = [archive],
        mnemonic = "MergeArchives",
    )
    return archive

def _merged_archive_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    (objects, options) = _objects_and_options(ctx.attr.deps)
    archive = _merge(ctx, toolchain, objects)
    option_file = ctx.actions.declare_file(ctx.label.name + ".link_options")
    ctx.actions.write(option_file, "".join([o + "\n" for o in options]))
    library = cc_common.create_library_to_link(
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        pic_static_library = archive,
        alwayslink = True,
    )
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        libraries = depset([library]),
        user_link_flags = depset(options),
    )
    return [
        DefaultInfo(files = depset([archive])),
        OutputGroupInfo(link_options = depset([option_file])),
        CcInfo(
            compilation_context = cc_common.merge_cc_infos(
                cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
            ).compilation_context,
            linking_context = cc_common.create_linking_context(
                linker_inputs = depset([linker_input]),
            ),
        ),
    ]

merged_archive = rule(
    implementation = _merged_archive_impl,
    attrs = {
        "archive": attr.string(
            doc = "path of the archive to make",
            mandatory = True,
        ),
        "deps": attr.label_list(mandatory = True, providers = [CcInfo]),
        "_cc_toolchain": attr.label(
            default = Label("@bazel_tools//tools/cpp:current_cc_toolchain"),
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _install_manifest_impl(ctx):
    context = ctx.attr.archive[CcInfo].compilation_context
    headers = [
        header
        for header in context.headers.to_list()
        if not header.owner.workspace_name
    ]
    options = ctx.attr.archive[OutputGroupInfo].link_options.to_list()[0]
    manifest = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(manifest, struct(
        archive = ctx.file.archive.short_path,
        headers = [header.short_path for header in headers],
        link_options = options.short_path,
        program = ctx.file.program.short_path,
        public_headers = ctx.attr.public_headers,
        shared_object = ctx.file.shared_object.short_path,
        templates = [file.short_path for file in ctx.files.templates],
        version_header = ctx.attr.version_header,
    ).to_json() + "\n")
    files = [
        ctx.file.archive,
        ctx.file.program,
        ctx.file.shared_object,
        manifest,
        options,
    ] + headers + ctx.files.templates
    return [DefaultInfo(
        files = depset([manifest]),
        runfiles = ctx.runfiles(files = files),
    )]

install_manifest = rule(
    implementation = _install_manifest_impl,
    attrs = {
        "archive": attr.label(
            allow_single_file = True,
            doc = "a merged_archive; its dependencies' headers may be public",
            mandatory = True,
            providers = [CcInfo],
        ),
        "program": attr.label(allow_single_file = True, mandatory = True),
        "public_headers": attr.string_list(
            doc = "paths that users include; what they include comes along",
            mandatory = True,
        ),
        "shared_object": attr.label(
            allow_single_file = True,
            mandatory = True,
        ),
        "templates": attr.label_list(allow_files = True),
        "version_header": attr.string(mandatory = True),
    },
)
