"""Stands in for @rules_cc: passes every rule on to Bazel's native one.

Debian's rules_cc 0.0.4 does not load in Bazel 4.2.3, and Bazel's own embedded
repositories load these names from @rules_cc.
"""

_TAG = "__CC_RULES_MIGRATION_DO_NOT_USE_WILL_BREAK__"

def _tagged(attrs):
    attrs["tags"] = (attrs.get("tags") or []) + [_TAG]
    return attrs

def cc_binary(**attrs):
    native.cc_binary(**_tagged(attrs))

def cc_library(**attrs):
    native.cc_library(**_tagged(attrs))

def cc_test(**attrs):
    native.cc_test(**_tagged(attrs))

def cc_import(**attrs):
    native.cc_import(**_tagged(attrs))

def cc_toolchain(**attrs):
    native.cc_toolchain(**_tagged(attrs))

def cc_toolchain_suite(**attrs):
    native.cc_toolchain_suite(**_tagged(attrs))

def cc_proto_library(**attrs):
    native.cc_proto_library(**_tagged(attrs))

def objc_library(**attrs):
    native.objc_library(**_tagged(attrs))
