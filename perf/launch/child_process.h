// StartChild: fork and exec with a given environment.
//
// The child gets `signal_mask` and dies (SIGKILL) when the thread that started
// it does. If the program cannot be executed, the child says why on stderr and
// exits with status 127, as a shell would.
//
// Thread-safety: everything the child needs is prepared before the fork, so
// that it only makes async-signal-safe calls. Ownership: the caller reaps the
// child. Failure: a failed fork; errors of exec show as the exit status above.
//
// Example:
//   RONDO_ASSIGN_OR_RETURN(pid_t pid, StartChild("/bin/true", {"true"}, {},
//   mask));
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "transports/base/status.h"

namespace rondo::perf {

Result<pid_t> StartChild(const std::string& program,
                         const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& environment,
                         const sigset_t& signal_mask);

}  // namespace rondo::perf
