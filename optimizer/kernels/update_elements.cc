#include "optimizer/kernels/update_elements.h"

#include <algorithm>

#include "optimizer/kernels/adam_fused.h"
#include "optimizer/kernels/adam_rule.h"
#include "optimizer/kernels/tile.h"
#include "optimizer/kernels/tile_kernels.h"

namespace rondo {
namespace {

void UpdateTilesFrom(const UpdateRule& rule, int group,
                     const ElementUpdate& update, size_t begin) {
  alignas(64) float gradient[kTileElements];
  for (size_t at = begin; at < update.count; at += kTileElements) {
    const size_t count = std::min(kTileElements, update.count - at);
    float* states[kMaxRuleStates] = {};
    for (int s = 0; s < rule.state_count(); ++s) {
      states[s] = update.states[s] + at;
    }
    const size_t offset = update.offset + at;
    float* const parameter = update.parameter + at;
    SumGradientTile(update.sources, offset, count, update.scale, gradient);
    if (update.coefficient != 1) {
      const ConstElements scaled{DataType::kFloat32, gradient};
      SumGradientTile({&scaled, 1}, 0, count, update.coefficient, gradient);
    }
    rule.ApplyTile(group, gradient, parameter, states, count);
    StoreParameterTile(parameter, count, update.destinations, offset,
                       update.hint);
  }
}

}  // namespace

void UpdateElements(const UpdateRule& rule, int group,
                    const ElementUpdate& update) {
  size_t done = 0;
  if (const auto* adam = dynamic_cast<const AdamRule*>(&rule)) {
    done = FusedAdam(adam->constants(group), update);
  }
  UpdateTilesFrom(rule, group, update, done);
}

void UpdateElementsByTile(const UpdateRule& rule, int group,
                          const ElementUpdate& update) {
  UpdateTilesFrom(rule, group, update, 0);
}

}  // namespace rondo
