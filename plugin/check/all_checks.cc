#include <iterator>

#include "plugin/check/checks.h"

namespace rondo::plugin {

namespace {

constexpr Check kChecks[] = {
    {"handshake-in-one-thread",
     "both ends of a connection may be set up by one thread, in turns",
     CheckHandshakeInOneThread},
    {"connect-long-before-accept",
     "either side may be polled long before the other",
     CheckConnectLongBeforeAccept},
    {"many-connections", "set-ups of different connections interleave",
     CheckManyConnections},
    {"null-device-handles", "the place for a device handle may be null",
     CheckNullDeviceHandles},
    {"listen-without-accept", "a listener may be closed before any accept",
     CheckListenWithoutAccept},
    {"sizes", "the size received is what was sent, and nothing else is written",
     CheckSizes},
    {"oversize-send", "a message larger than its receive is an error there",
     CheckOversizeSend},
    {"many-in-flight",
     "beyond its room a plugin says \"not yet\", never an error",
     CheckManyInFlight},
    {"order-of-a-tag",
     "messages of a tag are received in order, whatever "
     "their size and the order of tests",
     CheckOrderOfATag},
    {"groups", "one irecv has several buffers, filled by tag", CheckGroups},
    {"equal-tags-in-a-group", "equal tags in a group are filled in order",
     CheckEqualTagsInAGroup},
    {"interleaved-groups",
     "a tag may run ahead into the next group without a deadlock",
     CheckInterleavedGroups},
    {"optional-completion",
     "irecv writes *request also over the marker 0x1 that it may find",
     CheckOptionalCompletion},
    {"null-sizes", "test is also called without a place for sizes",
     CheckNullSizes},
    {"two-processes", "messages between processes arrive whole",
     CheckTwoProcesses},
    {"sender-stops-calling",
     "what a sender's test called done needs no further call of it",
     CheckSenderStopsCalling},
    {"receiver-stops-calling",
     "what a receiver's test called done needs no further call of it",
     CheckReceiverStopsCalling},
    {"idle-receiver", "a receiver that makes no calls is no failure",
     CheckIdleReceiver},
    {"killed-receiver", "a send to a dead process fails soon",
     CheckKilledReceiver},
    {"killed-sender", "a receive from a dead process fails soon",
     CheckKilledSender},
    {"close-in-flight", "closing is local and fast with requests in flight",
     CheckCloseInFlight},
    {"close-orders", "ends are closed in any order, used or not",
     CheckCloseOrders},
    {"close-after-death", "closing is as local and fast when the peer is dead",
     CheckCloseAfterDeath},
    {"sender-closes-first",
     "what a sender's test called done arrives though the sender closes",
     CheckSenderClosesFirst},
    {"handle-bytes", "a handle is 128 bytes, and no byte more",
     CheckHandleBytes},
    {"registration", "memory of any size and alignment is registered",
     CheckRegistration},
    {"overlapping-registration",
     "a range may be registered several times, and ended in any order",
     CheckOverlappingRegistration},
    {"wrong-memory-type", "an unknown kind of memory is refused",
     CheckWrongMemoryType},
    {"dma-buf", "dmabufs work where they are offered, else are refused",
     CheckDmaBuf},
    {"properties", "every field is set and stays what it is", CheckProperties},
    {"device-range", "the number of devices is stable, others are refused",
     CheckDeviceRange},
    {"flush", "iflush takes several buffers, also empty ones", CheckFlush},
    {"ring", "NCCL's bootstrap over the plugin: a ring in one process",
     CheckRing},
    {"attributes", "hints of any value change no result", CheckAttributes},
    {"bounded-calls", "test computes a little and returns", CheckBoundedCalls},
    {"threads", "contexts in threads of their own, registration beside data",
     CheckThreads},
    {"failed-init", "a failed init leaves the plugin usable, and says why",
     CheckFailedInit},
    {"reload", "loading again leaves no thread and no open file", CheckReload},
};

}  // namespace

const std::vector<Check>& AllChecks() {
  static const auto* const checks =
      new std::vector<Check>(std::begin(kChecks), std::end(kChecks));
  return *checks;
}

}  // namespace rondo::plugin
