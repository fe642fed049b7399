// The checks themselves; each stands with its neighbours in one file.
//
// Thread-safety, ownership, failure: as check.h says.
#pragma once

#include "plugin/check/check.h"

namespace rondo::plugin {

// checks_connect.cc
Status CheckHandshakeInOneThread(const CheckSetup& setup);
Status CheckConnectLongBeforeAccept(const CheckSetup& setup);
Status CheckManyConnections(const CheckSetup& setup);
Status CheckNullDeviceHandles(const CheckSetup& setup);
Status CheckListenWithoutAccept(const CheckSetup& setup);

// checks_data.cc
Status CheckSizes(const CheckSetup& setup);
Status CheckOversizeSend(const CheckSetup& setup);
Status CheckManyInFlight(const CheckSetup& setup);
Status CheckOrderOfATag(const CheckSetup& setup);
Status CheckOptionalCompletion(const CheckSetup& setup);
Status CheckNullSizes(const CheckSetup& setup);
Status CheckFlush(const CheckSetup& setup);
Status CheckRing(const CheckSetup& setup);

// checks_groups.cc
Status CheckGroups(const CheckSetup& setup);
Status CheckEqualTagsInAGroup(const CheckSetup& setup);
Status CheckInterleavedGroups(const CheckSetup& setup);

// checks_memory.cc
Status CheckRegistration(const CheckSetup& setup);
Status CheckOverlappingRegistration(const CheckSetup& setup);
Status CheckWrongMemoryType(const CheckSetup& setup);
Status CheckDmaBuf(const CheckSetup& setup);

// checks_library.cc
Status CheckProperties(const CheckSetup& setup);
Status CheckDeviceRange(const CheckSetup& setup);
Status CheckFailedInit(const CheckSetup& setup);
Status CheckReload(const CheckSetup& setup);
Status CheckAttributes(const CheckSetup& setup);

// checks_peer.cc
Status CheckTwoProcesses(const CheckSetup& setup);
Status CheckSenderStopsCalling(const CheckSetup& setup);
Status CheckReceiverStopsCalling(const CheckSetup& setup);
Status CheckIdleReceiver(const CheckSetup& setup);
Status CheckKilledReceiver(const CheckSetup& setup);
Status CheckKilledSender(const CheckSetup& setup);

// checks_parting.cc
Status CheckSenderClosesFirst(const CheckSetup& setup);
Status CheckCloseAfterDeath(const CheckSetup& setup);
Status CheckHandleBytes(const CheckSetup& setup);

// checks_close.cc
Status CheckCloseInFlight(const CheckSetup& setup);
Status CheckCloseOrders(const CheckSetup& setup);
Status CheckBoundedCalls(const CheckSetup& setup);
Status CheckThreads(const CheckSetup& setup);

}  // namespace rondo::plugin
