// The C API's communicators, versions and errors.

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "collectives/c_handle.h"
#include "fmt/format.h"
#include "transports/base/version.h"

namespace rondo {
namespace {

static_assert(RONDO_UNIQUE_ID_BYTES == UniqueId::kBytes);
static_assert(RONDO_VERSION_CODE == kVersionCode);
static_assert(static_cast<int>(Code::kInternal) == rondoInternalError);

thread_local std::string last_error;

// Coordinators of ids made here, until the communicator that uses one claims
// it.
class UnclaimedCoordinators {
 public:
  static UnclaimedCoordinators& Get() {
    static auto* instance = new UnclaimedCoordinators();
    return *instance;
  }

  void Add(const UniqueId& id, std::shared_ptr<Coordinator> coordinator) {
    std::lock_guard<std::mutex> lock(mutex_);
    coordinators_[std::string(id.bytes())] = std::move(coordinator);
  }

  std::shared_ptr<Coordinator> Claim(const UniqueId& id) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = coordinators_.extract(std::string(id.bytes()));
    return found.empty() ? nullptr : std::move(found.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Coordinator>> coordinators_;
};

Status ApplyConfig(const rondoConfig_t& config, Parameters* parameters) {
  if (config.magic != RONDO_CONFIG_MAGIC || config.size < sizeof(size_t)) {
    return InvalidArgument(
        "the config was not made with RONDO_CONFIG_INITIALIZER");
  }
  // Fields that an older program does not have stay undefined.
  rondoConfig_t full = RONDO_CONFIG_INITIALIZER;
  std::memcpy(&full, &config, std::min(config.size, sizeof(full)));
  const auto set = [&](const char* name, int64_t value) {
    if (value == RONDO_CONFIG_UNDEF_INT) return Status::Ok();
    return parameters->Set(name, std::to_string(value), "rondoConfig_t");
  };
  RONDO_RETURN_IF_ERROR(set("RONDO_TIMEOUT_MS", full.timeout_ms));
  RONDO_RETURN_IF_ERROR(set("RONDO_CHUNK_BYTES", full.chunk_bytes));
  return parameters->Validate();
}

Status InitRank(rondoComm_t* comm, int world_size, const rondoUniqueId& raw,
                int rank, const rondoConfig_t* config) {
  RONDO_RETURN_IF_ERROR(NeedPointer(comm, "comm"));
  *comm = nullptr;
  CommunicatorOptions options;
  options.rank = rank;
  options.world_size = world_size;
  RONDO_ASSIGN_OR_RETURN(UniqueId id, UniqueId::Parse(std::string_view(
                                          raw.internal, sizeof(raw.internal))));
  RONDO_ASSIGN_OR_RETURN(options.parameters, Parameters::LoadFromProcess());
  if (config != nullptr) {
    RONDO_RETURN_IF_ERROR(ApplyConfig(*config, &options.parameters));
  }
  options.unique_id = id;
  options.coordinator = UnclaimedCoordinators::Get().Claim(id);
  RONDO_ASSIGN_OR_RETURN(auto communicator,
                         Communicator::Create(std::move(options)));
  *comm = new rondoComm{std::move(communicator)};
  return Status::Ok();
}

}  // namespace

rondoResult_t ToResult(const Status& status) {
  if (status.ok()) return rondoSuccess;
  last_error = status.message();
  return static_cast<rondoResult_t>(status.code());
}

Status NeedComm(rondoComm_t comm) {
  if (comm != nullptr) return Status::Ok();
  return InvalidArgument("the communicator is NULL");
}

Status NeedPointer(const void* pointer, const char* name) {
  if (pointer != nullptr) return Status::Ok();
  return InvalidArgument(fmt::format("{} is NULL", name));
}

}  // namespace rondo

using rondo::Guard;
using rondo::Status;

rondoResult_t rondoGetVersion(int* version) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(version, "version"));
    *version = RONDO_VERSION_CODE;
    return Status::Ok();
  });
}

const char* rondoGetErrorString(rondoResult_t result) {
  if (result == rondoInProgress) return "IN_PROGRESS";
  return rondo::CodeName(static_cast<rondo::Code>(result)).data();
}

const char* rondoGetLastError(rondoComm_t /*comm*/) {
  return rondo::last_error.c_str();
}

rondoResult_t rondoGetUniqueId(rondoUniqueId* unique_id) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(unique_id, "unique_id"));
    RONDO_ASSIGN_OR_RETURN(rondo::Parameters parameters,
                           rondo::Parameters::LoadFromProcess());
    RONDO_ASSIGN_OR_RETURN(rondo::Communicator::MeetingPlace meeting,
                           rondo::Communicator::NewMeetingPlace(parameters));
    std::memcpy(unique_id->internal, meeting.unique_id.bytes().data(),
                sizeof(unique_id->internal));
    rondo::UnclaimedCoordinators::Get().Add(meeting.unique_id,
                                            std::move(meeting.coordinator));
    return Status::Ok();
  });
}

rondoResult_t rondoCommInitRank(rondoComm_t* comm, int world_size,
                                rondoUniqueId unique_id, int rank) {
  return rondoCommInitRankConfig(comm, world_size, unique_id, rank, nullptr);
}

rondoResult_t rondoCommInitRankConfig(rondoComm_t* comm, int world_size,
                                      rondoUniqueId unique_id, int rank,
                                      const rondoConfig_t* config) {
  return Guard([&] {
    return rondo::InitRank(comm, world_size, unique_id, rank, config);
  });
}

rondoResult_t rondoCommInitFromEnvironment(rondoComm_t* comm) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(comm, "comm"));
    *comm = nullptr;
    RONDO_ASSIGN_OR_RETURN(auto communicator,
                           rondo::Communicator::FromEnvironment());
    *comm = new rondoComm{std::move(communicator)};
    return Status::Ok();
  });
}

rondoResult_t rondoCommSplit(rondoComm_t comm, int color, int key,
                             rondoComm_t* new_comm) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedComm(comm));
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(new_comm, "new_comm"));
    *new_comm = nullptr;
    RONDO_ASSIGN_OR_RETURN(auto part, comm->communicator->Split(color, key));
    if (part != nullptr) *new_comm = new rondoComm{std::move(part)};
    return Status::Ok();
  });
}

rondoResult_t rondoCommDestroy(rondoComm_t comm) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedComm(comm));
    delete comm;
    return Status::Ok();
  });
}

rondoResult_t rondoCommAbort(rondoComm_t comm) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedComm(comm));
    comm->communicator->Abort("rondoCommAbort was called");
    return Status::Ok();
  });
}

rondoResult_t rondoCommGetAsyncError(rondoComm_t comm,
                                     rondoResult_t* async_error) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedComm(comm));
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(async_error, "async_error"));
    *async_error = rondo::ToResult(comm->communicator->AsyncError());
    return Status::Ok();
  });
}

rondoResult_t rondoCommCount(rondoComm_t comm, int* world_size) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedComm(comm));
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(world_size, "world_size"));
    *world_size = comm->communicator->world_size();
    return Status::Ok();
  });
}

rondoResult_t rondoCommUserRank(rondoComm_t comm, int* rank) {
  return Guard([&]() -> Status {
    RONDO_RETURN_IF_ERROR(rondo::NeedComm(comm));
    RONDO_RETURN_IF_ERROR(rondo::NeedPointer(rank, "rank"));
    *rank = comm->communicator->rank();
    return Status::Ok();
  });
}
