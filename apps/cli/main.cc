#include <cstdio>
#include <exception>
#include <new>

#include "base/log.h"
#include "cli.h"
#include "lattice/version.h"

namespace lattice::cli {
namespace {

int report(const char* kind, const char* message, int code) {
  std::fprintf(stderr, "lattice: %s: %s\n", kind, message);
  return code;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Embeds, reranks, classifies and generates text with models from ordinary Hugging Face "
      "directories."};
  app.set_version_flag("--version", std::string("lattice ") + version());
  app.require_subcommand(1);
  app.footer(
      "Every verb has --help with an example. Environment: LATTICE_HOME, LATTICE_NUM_THREADS,\n"
      "LATTICE_CPU_TARGET, LATTICE_NO_GPU, LATTICE_LOG, HF_TOKEN, HF_ENDPOINT.");
  add_embed(app);
  add_rerank(app);
  add_classify(app);
  add_generate(app);
  add_chat(app);
  add_perplexity(app);
  add_tokenize(app);
  add_info(app);
  add_pull(app);
  add_list(app);
  add_rm(app);
  add_quantize(app);
  add_bench(app);
  add_doctor(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help and version on standard output and returns 0 for them.
    return app.exit(error) == 0 ? kSuccess : kUsage;
  } catch (const ExitCode& exit) {
    return exit.code;
  } catch (const UsageError& error) {
    return report("usage", error.what(), kUsage);
  } catch (const LatticeError& error) {
    return report("error", error.what(),
                  error.code() == ErrorCode::kInvalidArgument ? kUsage : kFailure);
  } catch (const std::bad_alloc&) {
    return report("error", "out of memory", kFailure);
  } catch (const std::exception& error) {
    return report("error", error.what(), kFailure);
  }
  return kSuccess;
}

}  // namespace
}  // namespace lattice::cli

int main(int argc, char** argv) { return lattice::cli::run(argc, argv); }
