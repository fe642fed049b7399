#include "transports/bootstrap/bootstrap.h"

namespace rondo {

Status Bootstrap::Barrier(Deadline deadline) {
  return AllGather("", deadline).status();
}

}  // namespace rondo
