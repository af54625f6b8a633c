#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli.h"
#include "io/hub/model_store.h"
#include "io/hub/transfer_meter.h"

namespace lattice::cli {
namespace {

struct RmArguments {
  std::vector<std::string> models;
  bool quiet = false;
};

void run_rm(const RmArguments& arguments) {
  std::vector<RepoRef> refs;  // all names are checked before anything is removed
  for (const std::string& model : arguments.models) {
    auto ref = parse_repo_ref(model);
    if (!ref) throw UsageError(ref.error().message);
    refs.push_back(std::move(*ref));
  }
  const ModelStore store = value_or_throw(ModelStore::from_environment());
  for (const RepoRef& ref : refs) {
    const RemovedModel removed = value_or_throw(store.remove(ref));
    if (arguments.quiet) continue;
    std::fputs(
        fmt::format("lattice: removed {} ({})\n", removed.name, human_bytes(removed.bytes)).c_str(),
        stderr);
  }
}

}  // namespace

void add_rm(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("rm", "Delete models that pull has fetched");
  auto arguments = std::make_shared<RmArguments>();
  verb->add_option("model", arguments->models, "org/name, or org/name@REVISION")->required();
  verb->add_flag("--quiet", arguments->quiet, "No remarks on standard error");
  verb->footer(
      "Without a revision, all revisions and unfinished downloads of the model are deleted.\n"
      "Example:\n  lattice rm sentence-transformers/all-MiniLM-L6-v2");
  verb->callback([arguments] { run_rm(*arguments); });
}

}  // namespace lattice::cli
