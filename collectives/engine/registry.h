// The engines of this process, so that whoever waits for one communicator moves
// all of them forward: two ranks may then wait for two communicators in
// opposite orders without waiting for each other for ever.
//
// Thread-safety: all functions may be called from any thread. Ownership: none;
// an engine is removed before it is destroyed, and RemoveEngine returns only
// when no thread is inside it.
//
// Example:
//   while (!call->done()) {
//     if (!ProgressAllEngines()) PauseForAllEngines(&backoff);
//   }
#pragma once

#include "collectives/engine/engine.h"
#include "transports/base/clock.h"

namespace rondo {

void AddEngine(Engine* engine);
void RemoveEngine(Engine* engine);
// Whether anything happened in any of them.
bool ProgressAllEngines();
// backoff->Pause(), but for the sleep of a thread that waits for the only
// engine that has something to do: another rank can end that.
void PauseForAllEngines(Backoff* backoff);

}  // namespace rondo
