#include "base/log.h"
#include "base/result.h"
#include "cli.h"
#include "io/hub/model_store.h"

namespace lattice::cli {

void add_model_arguments(CLI::App& verb, ModelArguments& arguments) {
  verb.add_option("-m,--model", arguments.model, "Model directory, or a name fetched by pull")
      ->required();
  verb.add_option("--device", arguments.options.device, "auto, cpu or reference")
      ->capture_default_str();
  verb.add_option("--dtype", arguments.options.dtype,
                  "auto (q8_0 for a quantized model, else f32), f32, bf16 or q8_0")
      ->capture_default_str();
  verb.add_option("--threads", arguments.options.num_threads,
                  "Threads to compute with; default: the cores this process may use")
      ->check(CLI::Range(1, 1024));
  verb.add_flag("--quiet", arguments.quiet, "No progress and no warnings on standard error");
}

Model load_model(const ModelArguments& arguments) {
  if (arguments.quiet) set_log_level(LogLevel::kError);
  return Model::from_directory(value_or_throw(resolve_model(arguments.model)), arguments.options);
}

}  // namespace lattice::cli
