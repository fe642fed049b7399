/* Rondo's C API, second part: sharded optimizers (the first is rondo.h, whose
 * conventions hold here too).
 *
 * Every rank holds the whole model; the optimizer's state is cut into one shard
 * per rank. Gradients and parameters are flat buffers, in which a layout gives
 * each parameter its place, padded to whole tiles of 1024 elements. A step
 * reduces the gradients, updates each rank's shard and gives everyone the new
 * parameters, in one pass over memory. It is fastest where both buffers come
 * from rondoMemAlloc.
 *
 * Thread-safety: an optimizer belongs to one thread at a time. Ownership: a
 * handle is freed by its Destroy; the communicator must live longer. Failure: a
 * rondoResult_t; the story is in rondoGetLastError(NULL). Create and Step are
 * collective; ranks that differ are named, with the first parameter that does.
 *
 * Example (error checks left out):
 *   size_t shape[] = {768, 3072};
 *   rondoParameter_t parameters[] = {{"weight", shape, 2, rondoBfloat16}};
 *   rondoOptimizerConfig_t config = RONDO_OPTIMIZER_CONFIG_INITIALIZER;
 *   rondoAdam_t adam = RONDO_ADAM_INITIALIZER;
 *   size_t gradient_count, parameter_bytes;
 *   rondoOptimizerBufferSizes(comm, parameters, 1, &config, &gradient_count,
 *                             &parameter_bytes);
 *   ... rondoMemAlloc both, fill in initial parameters ...
 *   rondoOptimizerCreateAdam(&optimizer, comm, parameters, 1, &config, &adam,
 *                            1, buffer);
 *   rondoOptimizerStep(optimizer, gradients, buffer, NULL, NULL);
 */
#ifndef RONDO_OPTIMIZER_H_
#define RONDO_OPTIMIZER_H_

#include <stddef.h>
#include <stdint.h>

#include "collectives/rondo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rondoOptimizer* rondoOptimizer_t;

/* One parameter of the model, in the order in which a forward pass uses them.
 */
typedef struct {
  const char* name; /* distinct, not empty */
  const size_t* shape;
  int dimensions; /* 0: a scalar; then shape may be NULL */
  rondoDataType_t type;
  int group;           /* which hyper-parameters it gets */
  int unit;            /* never falls from one parameter to the next */
  int frozen;          /* 1: held, never reduced nor updated */
  const char* tied_to; /* the earlier parameter whose storage it shares */
} rondoParameter_t;

typedef struct {
  size_t size; /* set by the initializer */
  uint32_t magic;
  rondoDataType_t gradient_type;
  int average;         /* 1: steps see the mean over ranks, 0: the sum */
  int separate;        /* 1: three passes instead of one, for comparison */
  size_t bucket_count; /* elements of a bucket; 0: the library's choice */
} rondoOptimizerConfig_t;

#define RONDO_OPTIMIZER_CONFIG_MAGIC 0x524f5043u
#define RONDO_OPTIMIZER_CONFIG_INITIALIZER                        \
  {                                                               \
    sizeof(rondoOptimizerConfig_t), RONDO_OPTIMIZER_CONFIG_MAGIC, \
        rondoFloat32, 1, 0, 0                                     \
  }

/* Adam and AdamW. `accurate` 0: PyTorch's order of operations; 1: decay inside
 * the update, which errs less in the long run. amsgrad: only 0 is accepted. */
typedef struct {
  size_t size; /* set by the initializer */
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  int decoupled; /* 1: AdamW; 0: decay is added to the gradient */
  int amsgrad;
  int accurate;
} rondoAdam_t;

#define RONDO_ADAM_INITIALIZER \
  { sizeof(rondoAdam_t), 1e-3, 0.9, 0.999, 1e-8, 0.01, 1, 0, 0 }

/* A rule of your own. An element's result must depend on its own values, the
 * group and the step alone, never on its place or on `count` (1 to 1024):
 * compile loops with -ffp-contract=off. `self` is passed through. `states` are
 * state_count (0 to 4) fp32 arrays of zeros at first. */
typedef struct {
  const char* name;
  int state_count;
  int group_count;
  void* self;
  /* Before each step, counted from 1; a skipped one comes again. May be NULL.
   * Anything but rondoSuccess ends the step before it began. */
  rondoResult_t (*begin_step)(void* self, int64_t step);
  /* Of all that ranks must agree on at this step. May be NULL. */
  uint64_t (*fingerprint)(void* self);
  void (*apply_tile)(void* self, int group, const float* gradient,
                     float* parameter, float* const* states, size_t count);
} rondoUpdateRule_t;

typedef struct {
  double max_norm;     /* clip to this global norm; 0: do not */
  double loss_scale;   /* gradients are divided by it */
  int skip_non_finite; /* 1: no step where a gradient is infinite or NaN */
} rondoStepOptions_t;

#define RONDO_STEP_OPTIONS_INITIALIZER \
  { 0, 1, 0 }

typedef struct {
  int64_t step;       /* number of this step, or of the last one made */
  int skipped;        /* 1: a gradient was not finite; nothing changed */
  int finite;         /* 1 also where nobody looked */
  double norm;        /* before clipping; 0 where nobody looked */
  double coefficient; /* what clipping multiplied with */
  double total_us;
  double reduce_us; /* the first of two passes; 0 with one */
  double norm_us;
  double update_us;
  double gather_us; /* where it is separate */
} rondoStepResult_t;

/* What the flat buffers must hold: elements of the config's gradient type, and
 * bytes. */
rondoResult_t rondoOptimizerBufferSizes(rondoComm_t comm,
                                        const rondoParameter_t* parameters,
                                        int parameter_count,
                                        const rondoOptimizerConfig_t* config,
                                        size_t* gradient_count,
                                        size_t* parameter_bytes);

/* Where parameter number `index` begins in them. A parameter without elements
 * is nowhere: SIZE_MAX; so is the gradient of a frozen one. */
rondoResult_t rondoOptimizerPlace(rondoComm_t comm,
                                  const rondoParameter_t* parameters,
                                  int parameter_count,
                                  const rondoOptimizerConfig_t* config,
                                  int index, size_t* gradient_offset,
                                  size_t* parameter_offset_bytes);

/* `buffer`: the flat parameters with their initial values, the same on every
 * rank. One rondoAdam_t per group. */
rondoResult_t rondoOptimizerCreateAdam(rondoOptimizer_t* optimizer,
                                       rondoComm_t comm,
                                       const rondoParameter_t* parameters,
                                       int parameter_count,
                                       const rondoOptimizerConfig_t* config,
                                       const rondoAdam_t* groups,
                                       int group_count, const void* buffer);
/* The same with a rule of your own; it is copied, `self` is not. */
rondoResult_t rondoOptimizerCreate(rondoOptimizer_t* optimizer,
                                   rondoComm_t comm,
                                   const rondoParameter_t* parameters,
                                   int parameter_count,
                                   const rondoOptimizerConfig_t* config,
                                   const rondoUpdateRule_t* rule,
                                   const void* buffer);
rondoResult_t rondoOptimizerDestroy(rondoOptimizer_t optimizer);

/* From the next step on; the same on every rank. */
rondoResult_t rondoOptimizerSetAdam(rondoOptimizer_t optimizer, int group,
                                    const rondoAdam_t* adam);

/* Reads all gradients, writes all parameters that are not frozen. `options` may
 * be NULL (no clipping), `result` too. */
rondoResult_t rondoOptimizerStep(rondoOptimizer_t optimizer,
                                 const void* gradients, void* parameters,
                                 const rondoStepOptions_t* options,
                                 rondoStepResult_t* result);

/* This rank's fp32 state, to save and restore: index -1 is the master copy, 0
 * and up the rule's arrays. */
rondoResult_t rondoOptimizerState(rondoOptimizer_t optimizer, int index,
                                  float** data, size_t* count);
rondoResult_t rondoOptimizerGetSteps(rondoOptimizer_t optimizer,
                                     int64_t* steps);
/* For an optimizer whose state was restored. */
rondoResult_t rondoOptimizerSetSteps(rondoOptimizer_t optimizer, int64_t steps);

#ifdef __cplusplus
}
#endif

#endif /* RONDO_OPTIMIZER_H_ */
