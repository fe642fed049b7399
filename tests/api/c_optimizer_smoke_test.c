/* A program of a user of librondo.so who trains in C: every function of the
 * optimizer's C API, with Adam and with a rule of the program's own, checked
 * against plain arithmetic. Compiled as C99 and as C++. Prints the first thing
 * that is wrong and exits with 1; exit status 0 when all is right. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optimizer/rondo_optimizer.h"

enum { kWeights = 1500, kBiases = 3, kSteps = 3 };

static int rank = -1;
static int ranks = -1;

static void Fail(int line, const char* what) {
  fprintf(stderr, "rank %d, line %d: %s; last error: %s\n", rank, line, what,
          rondoGetLastError(NULL));
  exit(1);
}

#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) Fail(__LINE__, #condition); \
  } while (0)
#define OK(call) CHECK((call) == rondoSuccess)

static const size_t kWeightShape[] = {50, 30};
static const size_t kBiasShape[] = {kBiases};

static void Describe(rondoParameter_t parameters[2]) {
  memset(parameters, 0, 2 * sizeof(*parameters));
  parameters[0].name = "weight";
  parameters[0].shape = kWeightShape;
  parameters[0].dimensions = 2;
  parameters[0].type = rondoFloat32;
  parameters[1].name = "bias";
  parameters[1].shape = kBiasShape;
  parameters[1].dimensions = 1;
  parameters[1].type = rondoFloat32;
  parameters[1].group = 1;
}

static float Initial(size_t i) { return (float)(i % 13) / 8 - 0.5f; }
static float Gradient(int step, int r, size_t i) {
  return (float)((i * 7 + (size_t)step * 5 + (size_t)r * 3) % 17) / 16 - 0.5f;
}
static double MeanGradient(int step, size_t i) {
  double sum = 0;
  int r;
  for (r = 0; r < ranks; ++r) sum += Gradient(step, r, i);
  return sum / ranks;
}

/* AdamW in double, epsilon 0.1. */
static double Expected(size_t i, double learning_rate, double decay) {
  double p = Initial(i), m = 0, v = 0;
  int step;
  for (step = 1; step <= kSteps; ++step) {
    const double g = MeanGradient(step, i);
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    p -= learning_rate * decay * p;
    p -= learning_rate * m / (1 - pow(0.9, step)) /
         (sqrt(v / (1 - pow(0.999, step))) + 0.1);
  }
  return p;
}

/* Both flat buffers, and where the two parameters begin in them. */
typedef struct {
  float* gradients;
  float* parameters;
  size_t parameter_bytes;
  size_t gradient_at[2];
  size_t parameter_at[2]; /* elements */
} Buffers;

static Buffers MakeBuffers(rondoComm_t comm, const rondoParameter_t* parameters,
                           const rondoOptimizerConfig_t* config) {
  Buffers buffers;
  size_t gradient_count = 0, i;
  int p;
  OK(rondoOptimizerBufferSizes(comm, parameters, 2, config, &gradient_count,
                               &buffers.parameter_bytes));
  CHECK(gradient_count >= kWeights + kBiases);
  OK(rondoMemAlloc((void**)&buffers.gradients, gradient_count * 4));
  OK(rondoMemAlloc((void**)&buffers.parameters, buffers.parameter_bytes));
  for (p = 0; p < 2; ++p) {
    OK(rondoOptimizerPlace(comm, parameters, 2, config, p,
                           &buffers.gradient_at[p], &buffers.parameter_at[p]));
    buffers.parameter_at[p] /= sizeof(float);
  }
  for (i = 0; i < kWeights; ++i) {
    buffers.parameters[buffers.parameter_at[0] + i] = Initial(i);
  }
  for (i = 0; i < kBiases; ++i) {
    buffers.parameters[buffers.parameter_at[1] + i] = Initial(i);
  }
  return buffers;
}

static void FillGradients(const Buffers* buffers, int step) {
  size_t i;
  for (i = 0; i < kWeights; ++i) {
    buffers->gradients[buffers->gradient_at[0] + i] = Gradient(step, rank, i);
  }
  for (i = 0; i < kBiases; ++i) {
    buffers->gradients[buffers->gradient_at[1] + i] = Gradient(step, rank, i);
  }
}

static void FreeBuffers(const Buffers* buffers) {
  OK(rondoMemFree(buffers->gradients));
  OK(rondoMemFree(buffers->parameters));
}

static void TrainWithAdam(rondoComm_t comm) {
  rondoParameter_t parameters[2];
  rondoOptimizerConfig_t config = RONDO_OPTIMIZER_CONFIG_INITIALIZER;
  rondoAdam_t groups[2] = {RONDO_ADAM_INITIALIZER, RONDO_ADAM_INITIALIZER};
  rondoOptimizer_t optimizer = NULL;
  rondoStepResult_t result;
  Buffers buffers;
  float* state = NULL;
  size_t count = 0, i;
  int64_t steps = -1;
  int step;

  Describe(parameters);
  groups[0].weight_decay = 0.1;
  groups[1].weight_decay = 0;
  groups[0].epsilon = groups[1].epsilon = 0.1;
  buffers = MakeBuffers(comm, parameters, &config);
  OK(rondoOptimizerCreateAdam(&optimizer, comm, parameters, 2, &config, groups,
                              2, buffers.parameters));
  groups[1].learning_rate = 0.01;
  OK(rondoOptimizerSetAdam(optimizer, 1, &groups[1]));
  for (step = 1; step <= kSteps; ++step) {
    FillGradients(&buffers, step);
    OK(rondoOptimizerStep(optimizer, buffers.gradients, buffers.parameters,
                          NULL, &result));
    CHECK(result.step == step && !result.skipped && result.finite);
  }
  for (i = 0; i < kWeights; ++i) {
    CHECK(fabs(buffers.parameters[buffers.parameter_at[0] + i] -
               Expected(i, 1e-3, 0.1)) < 1e-6);
  }
  for (i = 0; i < kBiases; ++i) {
    CHECK(fabs(buffers.parameters[buffers.parameter_at[1] + i] -
               Expected(i, 0.01, 0)) < 1e-6);
  }
  OK(rondoOptimizerState(optimizer, -1, &state, &count));
  CHECK(state != NULL && count > 0);
  CHECK(rondoOptimizerState(optimizer, 2, &state, &count) ==
        rondoInvalidArgument);
  OK(rondoOptimizerGetSteps(optimizer, &steps));
  CHECK(steps == kSteps);
  OK(rondoOptimizerSetSteps(optimizer, 7));
  CHECK(rondoOptimizerSetSteps(optimizer, -1) == rondoInvalidArgument);
  OK(rondoOptimizerGetSteps(optimizer, &steps));
  CHECK(steps == 7);
  groups[0].amsgrad = 1;
  CHECK(rondoOptimizerSetAdam(optimizer, 0, &groups[0]) != rondoSuccess);
  CHECK(strstr(rondoGetLastError(NULL), "amsgrad") != NULL);
  OK(rondoOptimizerDestroy(optimizer));
  FreeBuffers(&buffers);
}

/* p -= rate * g, and a count of the updates as state. */
typedef struct {
  float rate;
  int64_t step;
} Descent;

static rondoResult_t BeginDescent(void* self, int64_t step) {
  ((Descent*)self)->step = step;
  return rondoSuccess;
}

static void ApplyDescent(void* self, int group, const float* gradient,
                         float* parameter, float* const* states, size_t count) {
  const float rate = ((const Descent*)self)->rate * (float)(group + 1);
  size_t i;
  for (i = 0; i < count; ++i) {
    parameter[i] -= rate * gradient[i];
    states[0][i] += 1;
  }
}

static void TrainWithOwnRule(rondoComm_t comm) {
  rondoParameter_t parameters[2];
  rondoOptimizerConfig_t config = RONDO_OPTIMIZER_CONFIG_INITIALIZER;
  rondoStepOptions_t options = RONDO_STEP_OPTIONS_INITIALIZER;
  Descent descent = {0.5f, 0};
  rondoUpdateRule_t rule;
  rondoOptimizer_t optimizer = NULL;
  rondoStepResult_t result;
  Buffers buffers;
  size_t i;

  Describe(parameters);
  memset(&rule, 0, sizeof(rule));
  rule.name = "descent";
  rule.state_count = 1;
  rule.group_count = 2;
  rule.self = &descent;
  rule.begin_step = BeginDescent;
  buffers = MakeBuffers(comm, parameters, &config);
  CHECK(rondoOptimizerCreate(&optimizer, comm, parameters, 2, &config, &rule,
                             buffers.parameters) == rondoInvalidArgument);
  rule.apply_tile = ApplyDescent;
  OK(rondoOptimizerCreate(&optimizer, comm, parameters, 2, &config, &rule,
                          buffers.parameters));
  FillGradients(&buffers, 1);
  OK(rondoOptimizerStep(optimizer, buffers.gradients, buffers.parameters, NULL,
                        NULL));
  CHECK(descent.step == 1);
  for (i = 0; i < kBiases; ++i) {
    const double p = Initial(i) - 2 * 0.5 * MeanGradient(1, i);
    CHECK(fabs(buffers.parameters[buffers.parameter_at[1] + i] - p) < 1e-6);
  }
  /* An infinity on one rank: nobody makes the step. */
  FillGradients(&buffers, 2);
  if (rank == ranks - 1) {
    buffers.gradients[buffers.gradient_at[0]] = (float)HUGE_VAL;
  }
  options.skip_non_finite = 1;
  OK(rondoOptimizerStep(optimizer, buffers.gradients, buffers.parameters,
                        &options, &result));
  CHECK(result.skipped && !result.finite && result.step == 1);
  options.max_norm = -1;
  CHECK(rondoOptimizerStep(optimizer, buffers.gradients, buffers.parameters,
                           &options, &result) == rondoInvalidArgument);
  CHECK(rondoOptimizerSetAdam(optimizer, 0, NULL) == rondoInvalidArgument);
  OK(rondoOptimizerDestroy(optimizer));
  FreeBuffers(&buffers);
}

int main(void) {
  rondoComm_t comm = NULL;
  OK(rondoCommInitFromEnvironment(&comm));
  OK(rondoCommUserRank(comm, &rank));
  OK(rondoCommCount(comm, &ranks));
  TrainWithAdam(comm);
  TrainWithOwnRule(comm);
  OK(rondoCommDestroy(comm));
  return 0;
}
