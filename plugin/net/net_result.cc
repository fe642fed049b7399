#include "plugin/net/net_result.h"

#include <atomic>

#include "transports/base/log.h"

namespace rondo::plugin {
namespace {

std::atomic<nccl::Logger> nccl_logger{nullptr};

int LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kNone:
      return nccl::kLogNone;
    case LogLevel::kVersion:
      return nccl::kLogVersion;
    case LogLevel::kWarn:
      return nccl::kLogWarn;
    case LogLevel::kInfo:
      return nccl::kLogInfo;
    case LogLevel::kTrace:
      return nccl::kLogTrace;
  }
  return nccl::kLogInfo;
}

void Forward(const LogRecord& record) {
  const nccl::Logger logger = nccl_logger.load();
  if (logger == nullptr) return;
  logger(LevelOf(record.level), nccl::kLogInit | nccl::kLogNet, record.file,
         record.line, "NET/Rondo : %s", record.message.data());
}

}  // namespace

void LogThrough(nccl::Logger logger) {
  if (nccl_logger.exchange(logger) == nullptr) {
    SetLogLevel(LogLevel::kInfo);
    SetLogSink(&Forward);
  }
}

nccl::Result ResultOf(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
      return nccl::kSuccess;
    case Code::kInvalidArgument:
      return nccl::kInvalidArgument;
    case Code::kInvalidUsage:
    case Code::kMismatch:
    case Code::kNotSupported:
      return nccl::kInvalidUsage;
    case Code::kRemoteDead:
    case Code::kTimeout:
    case Code::kAborted:
      return nccl::kRemoteError;
    case Code::kTransport:
    case Code::kSystem:
    case Code::kResourceExhausted:
      return nccl::kSystemError;
    case Code::kInternal:
      return nccl::kInternalError;
  }
  return nccl::kInternalError;
}

int Report(const Status& status) {
  if (!status.ok()) RONDO_LOG_WARN("{}", status.message());
  return ResultOf(status);
}

}  // namespace rondo::plugin
