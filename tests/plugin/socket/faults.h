// The faults that the bad plugin can be given, one at a time.
//
// RONDO_BAD_PLUGIN_FAULT names one; unset means none, and the plugin is then a
// correct one. A name that is not in the table makes init() fail, so that a
// misspelt fault never passes for a plugin without one.
//
// Thread-safety: constants, and a value that is read once. Ownership: static.
//
// Example:
//   if (Has(Fault::kPostedSize)) size = room;
#pragma once

namespace rondo::bad_plugin {

inline constexpr char kFaultVariable[] = "RONDO_BAD_PLUGIN_FAULT";
// The devices to offer; the plugin has "lo" and refuses anything else.
inline constexpr char kDevicesVariable[] = "RONDO_BAD_PLUGIN_DEVICES";

enum class Fault {
  kNone,
  kAcceptGivesUp,
  kAcceptsAnyType,
  kAcksLate,
  kAnyDevice,
  kAttributesPoison,
  kBlockingConnect,
  kBusyTest,
  kClaimsDmaBuf,
  kCloseDropsData,
  kCloseFailsInFlight,
  kCloseFailsWhenBroken,
  kCloseWaits,
  kCorruptsLarge,
  kCountChanges,
  kDeadSendSucceeds,
  kDeregistersOverlaps,
  kDeviceHandleWritten,
  kEmptyNeverDone,
  kEqualTagsReversed,
  kErrorWhenFull,
  kFewConnections,
  kFinalizeNeedsContext,
  kFlushLeavesRequest,
  kForgetsVirtualDevice,
  kGuidChanges,
  kIdleIsDeath,
  kIgnoresEndOfPeer,
  kIgnoresTags,
  kInitStaysFailed,
  kKeepsMarker,
  kLeaksDescriptor,
  kLeavesRequest,
  kLeavesThread,
  kListenerNeedsAccept,
  kListensToNull,
  kNullMemoryHandle,
  kOneContext,
  kOneRegistration,
  kPostedSize,
  kRefusesOneByte,
  kRejectsLaterGroups,
  kSendsLater,
  kSilentInitFailure,
  kSleepingTest,
  kSwapsOrder,
  kTruncates,
  kUnsetProperties,
  kWritesPastEnd,
  kWritesPastHandle,
  kWritesSizesAlways,
  kUnknown,
};

struct NamedFault {
  Fault fault;
  const char* name;
  // The check that has to find it.
  const char* check;
};

inline constexpr NamedFault kFaults[] = {
    {Fault::kAcceptGivesUp, "accept-gives-up", "connect-long-before-accept"},
    {Fault::kAcceptsAnyType, "accepts-any-type", "wrong-memory-type"},
    {Fault::kAcksLate, "acks-late", "receiver-stops-calling"},
    {Fault::kAnyDevice, "any-device", "device-range"},
    {Fault::kAttributesPoison, "attributes-poison", "attributes"},
    {Fault::kBlockingConnect, "blocking-connect", "handshake-in-one-thread"},
    {Fault::kBusyTest, "busy-test", "bounded-calls"},
    {Fault::kClaimsDmaBuf, "claims-dma-buf", "dma-buf"},
    {Fault::kCloseDropsData, "close-drops-data", "sender-closes-first"},
    {Fault::kCloseFailsWhenBroken, "close-fails-when-broken",
     "close-after-death"},
    {Fault::kCloseFailsInFlight, "close-fails-in-flight", "close-in-flight"},
    {Fault::kCloseWaits, "close-waits", "close-orders"},
    {Fault::kCorruptsLarge, "corrupts-large", "two-processes"},
    {Fault::kCountChanges, "count-changes", "device-range"},
    {Fault::kDeadSendSucceeds, "dead-send-succeeds", "killed-receiver"},
    {Fault::kDeregistersOverlaps, "deregisters-overlaps",
     "overlapping-registration"},
    {Fault::kDeviceHandleWritten, "device-handle-written",
     "null-device-handles"},
    {Fault::kEmptyNeverDone, "empty-never-done", "sizes"},
    {Fault::kEqualTagsReversed, "equal-tags-reversed", "equal-tags-in-a-group"},
    {Fault::kErrorWhenFull, "error-when-full", "many-in-flight"},
    {Fault::kFewConnections, "few-connections", "many-connections"},
    {Fault::kFinalizeNeedsContext, "finalize-needs-context", "failed-init"},
    {Fault::kFlushLeavesRequest, "flush-leaves-request", "flush"},
    {Fault::kForgetsVirtualDevice, "forgets-virtual-device", "properties"},
    {Fault::kGuidChanges, "guid-changes", "properties"},
    {Fault::kIdleIsDeath, "idle-is-death", "idle-receiver"},
    {Fault::kIgnoresEndOfPeer, "ignores-end-of-peer", "killed-sender"},
    {Fault::kIgnoresTags, "ignores-tags", "groups"},
    {Fault::kInitStaysFailed, "init-stays-failed", "failed-init"},
    {Fault::kKeepsMarker, "keeps-marker", "optional-completion"},
    {Fault::kLeaksDescriptor, "leaks-descriptor", "reload"},
    {Fault::kLeavesRequest, "leaves-request", "sizes"},
    {Fault::kLeavesThread, "leaves-thread", "reload"},
    {Fault::kListenerNeedsAccept, "listener-needs-accept",
     "listen-without-accept"},
    {Fault::kListensToNull, "listens-to-null", "handshake-in-one-thread"},
    {Fault::kNullMemoryHandle, "null-memory-handle", "registration"},
    {Fault::kOneContext, "one-context", "threads"},
    {Fault::kOneRegistration, "one-registration", "ring"},
    {Fault::kPostedSize, "posted-size", "sizes"},
    {Fault::kRefusesOneByte, "refuses-one-byte", "registration"},
    {Fault::kRejectsLaterGroups, "rejects-later-groups", "interleaved-groups"},
    {Fault::kSendsLater, "sends-later", "sender-stops-calling"},
    {Fault::kSilentInitFailure, "silent-init-failure", "failed-init"},
    {Fault::kSleepingTest, "sleeping-test", "bounded-calls"},
    {Fault::kSwapsOrder, "swaps-order", "order-of-a-tag"},
    {Fault::kTruncates, "truncates", "oversize-send"},
    {Fault::kUnsetProperties, "unset-properties", "properties"},
    {Fault::kWritesPastHandle, "writes-past-handle", "handle-bytes"},
    {Fault::kWritesPastEnd, "writes-past-end", "sizes"},
    {Fault::kWritesSizesAlways, "writes-sizes-always", "null-sizes"},
};

// The one that this process was told to have.
Fault ActiveFault();
inline bool Has(Fault fault) { return ActiveFault() == fault; }

}  // namespace rondo::bad_plugin
