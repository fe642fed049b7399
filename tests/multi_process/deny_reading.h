// DenyReadingOthers: makes this process like one in a container that must not
// read the memory of others.
//
// Thread-safety: call it before there are other threads. It cannot be undone.
// Failure: false where the kernel has no seccomp.
//
// Example:
//   if (!DenyReadingOthers()) return 1;
#pragma once

namespace rondo::testing {

// process_vm_readv and process_vm_writev answer EPERM from now on.
bool DenyReadingOthers();

}  // namespace rondo::testing
