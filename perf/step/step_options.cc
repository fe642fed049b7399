#include "perf/step/step_options.h"

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "perf/cli/options.h"

namespace rondo::perf {
namespace {

constexpr int64_t kMaxParameters = int64_t{1} << 40;
constexpr int kMaxRounds = 1000000;

void AddType(CLI::App* app, const std::string& name,
             const std::string& description, DataType* type) {
  AddParsedOption(app, name, description + ": float, bfloat16 or half", "TYPE",
                  type, ParseTrainingType)
      ->default_str("float");
}

Status CheckCount(const char* name, int64_t count) {
  if (count <= kMaxParameters) return Status::Ok();
  return InvalidArgument(fmt::format("{} {} is refused; accepted is 1 to {}",
                                     name, count, kMaxParameters));
}

}  // namespace

void AddStepOptions(CLI::App* app, StepBenchmarkOptions* options) {
  CLI::Option* model = AddChoiceOption(
      app, "--model",
      "the arrays of a real model: gpt2, 124 million parameters", {"gpt2"},
      &options->model);
  AddSizeOption(app, "--params",
                "parameters of the model, one array of so many elements",
                &options->parameters)
      ->default_str("1Mi")
      ->excludes(model);
  AddType(app, "--grad-type", "of gradients", &options->gradient_type);
  AddType(app, "--param-type", "of parameters", &options->parameter_type);
  AddParsedOption(app, "--buffers",
                  fmt::format("memory of gradients and parameters: {}",
                              fmt::join(BufferKindNames(), ", ")),
                  "NAME", &options->buffers, ParseBufferKind)
      ->default_str(std::string(BufferKindName(options->buffers)));
  AddSizeOption(app, "--bucket", "elements of a bucket",
                &options->bucket_count_target)
      ->default_str("16Mi");
  AddNumberOption(app, "-n,--iters",
                  "rounds, in each of which every way of stepping takes a "
                  "turn; medians over them count",
                  1, kMaxRounds, &options->rounds);
  AddNumberOption(app, "-w,--warmup_iters", "rounds before timing", 0,
                  kMaxRounds, &options->warmup_rounds);
  AddSwitchOption(app, "-c,--check",
                  "compare with Adam in double, before and after: 0 or 1",
                  &options->check);
}

Status FinishStepOptions(const StepBenchmarkOptions& options) {
  RONDO_RETURN_IF_ERROR(CheckCount("--params", options.parameters));
  return CheckCount("--bucket", options.bucket_count_target);
}

}  // namespace rondo::perf
