// The file through which rank 0 hands its unique id to the other ranks.
//
// It holds a secret, so only its owner may read it: it is made with mode 0600,
// appears whole under its name (a temporary file, renamed), and readers refuse
// a file of another user or one that others can read. Symbolic links are not
// followed.
//
// Thread-safety: stateless. Ownership: rank 0 removes the file.
// Failure: names the path and what is wrong with it.
//
// Example:
//   RONDO_RETURN_IF_ERROR(MakePrivateDirectory("/run/user/1000/rondo-1000"));
//   RONDO_RETURN_IF_ERROR(PublishUniqueId(path, coordinator->unique_id()));
//   RONDO_ASSIGN_OR_RETURN(UniqueId id, ReadUniqueId(path));  // other ranks
#pragma once

#include <string>

#include "transports/base/status.h"
#include "transports/bootstrap/unique_id.h"

namespace rondo {

// Makes a directory of mode 0700, or accepts one that is already so.
Status MakePrivateDirectory(const std::string& path);

Status PublishUniqueId(const std::string& path, const UniqueId& id);
Result<UniqueId> ReadUniqueId(const std::string& path);
// Removes the file if it still holds `id`; a newer job's stays.
void RemoveUniqueId(const std::string& path, const UniqueId& id);

// The content of a file that only its owner can read, at most `max_bytes`.
Result<std::string> ReadPrivateFile(const std::string& path, size_t max_bytes);

}  // namespace rondo
