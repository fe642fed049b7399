// The part of CallRun that knows whose memory is mapped here: what the headers
// name, what has become of it, and what a shape may reach.

#include "collectives/engine/call_run.h"

namespace rondo {

void CallRun::DropFreedSegments() {
  const HostSegment& host = *context_->segment;
  for (int peer = 0; peer < host.local_size(); ++peer) {
    const HostArea::Slot& slot =
        host.of(peer).slots[header_.sequence % kCallSlots];
    context_->segments->Sweep(peer, slot.freed_segments);
  }
}

// True when there was something new, and with it a verdict to wait for. All
// ranks read the same headers and have the same history, so all say the same.
bool CallRun::MapNewSegments() {
  PeerSegments* segments = context_->segments;
  const HostSegment& host = *context_->segment;
  bool any = false;
  for (int peer = 0; peer < host.local_size(); ++peer) {
    const CallHeader& header = *host.Posted(peer, header_.sequence);
    const HostArea::Slot& slot =
        host.of(peer).slots[header_.sequence % kCallSlots];
    if (header.input_segment != 0 &&
        !segments->Knows(peer, header.input_segment)) {
      segments->Map(peer, slot.input);
      any = true;
    }
    if (header.output_segment != 0 &&
        !segments->Knows(peer, header.output_segment)) {
      segments->Map(peer, slot.output);
      any = true;
    }
  }
  if (any) segments->PostVerdict(header_.sequence);
  return any;
}

bool CallRun::AllOpen(bool outputs) const {
  if (context_->one_process) return true;
  const HostSegment& host = *context_->segment;
  for (int peer = 0; peer < host.local_size(); ++peer) {
    const CallHeader& header = *host.Posted(peer, header_.sequence);
    if (!context_->segments->IsShared(
            peer, outputs ? header.output_segment : header.input_segment)) {
      return false;
    }
  }
  return true;
}

// Whether this host's memory is open as that shape needs it.
bool CallRun::IsReachable(const PreparedShape& prepared) const {
  const bool any = context_->can_read;
  return (!prepared.reads_peers || any || AllOpen(/*outputs=*/false)) &&
         (!prepared.puts_to_peers || any || AllOpen(/*outputs=*/true)) &&
         (!prepared.stores_to_peers || AllOpen(/*outputs=*/true));
}

void CallRun::BindPeers() {
  const PeerSegments& segments = *context_->segments;
  for (int peer = 0; peer < context_->ranks; ++peer) {
    if (peer == context_->rank || !context_->IsLocal(peer)) continue;
    const int local = context_->local_index[peer];
    const CallHeader& theirs =
        *context_->segment->Posted(local, header_.sequence);
    const auto locate = [&](uint64_t identity, uint64_t address) {
      if (context_->IsInProcess(peer)) {
        return SpaceAddress{address, Reach::kMapped};
      }
      if (!segments.IsShared(local, identity)) {
        return SpaceAddress{
            address, context_->can_read ? Reach::kReadAcross : Reach::kMessage};
      }
      return SpaceAddress{reinterpret_cast<uint64_t>(
                              segments.Address(local, identity, address)),
                          Reach::kMapped};
    };
    binding_.SetPeer(peer, locate(theirs.input_segment, theirs.input_address),
                     locate(theirs.output_segment, theirs.output_address));
  }
}

}  // namespace rondo
