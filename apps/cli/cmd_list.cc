#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "cli.h"
#include "io/hub/model_store.h"
#include "io/hub/transfer_meter.h"
#include "io/json_writer.h"

namespace lattice::cli {
namespace {

using Row = std::array<std::string, 4>;

void print_json(const StoreListing& listing) {
  for (const StoredModel& model : listing.models) {
    JsonWriter json;
    json.begin_object().field("name", model.repo).key("revisions").begin_array();
    for (const std::string& revision : model.revisions) json.value(revision);
    json.end_array().field("commit", model.commit).field("bytes", model.bytes);
    json.field("pulled_at", model.pulled_at).field("path", model.path.string()).key("problem");
    if (model.problem.empty()) {
      json.null();
    } else {
      json.value(model.problem);
    }
    json.end_object();
    std::printf("%s\n", json.text().c_str());
  }
}

void print_table(const StoreListing& listing) {
  if (listing.models.empty()) return;
  std::vector<Row> rows = {{"NAME", "REVISION", "SIZE", "PATH"}};
  for (const StoredModel& model : listing.models) {
    const std::string revision = model.revisions.empty()
                                     ? model.commit.substr(0, 12)
                                     : fmt::format("{}", fmt::join(model.revisions, ","));
    rows.push_back({model.repo, revision, human_bytes(model.bytes), model.path.string()});
  }
  std::array<std::size_t, 3> widths = {};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::fputs(fmt::format("{:<{}}  {:<{}}  {:>{}}  {}\n", row[0], widths[0], row[1], widths[1],
                           row[2], widths[2], row[3])
                   .c_str(),
               stdout);
  }
}

/// What is not a usable model, for the eyes of the user.
void print_remarks(const StoreListing& listing, const ModelStore& store) {
  std::string text;
  if (listing.models.empty()) {
    text += fmt::format("lattice: no models in {}; fetch one with: lattice pull org/name\n",
                        store.models_directory().string());
  }
  for (const StoredModel& model : listing.models) {
    if (model.problem.empty()) continue;
    text += fmt::format("lattice: {} is damaged: {}; repair it with: lattice pull {}@{}\n",
                        model.repo, model.problem, model.repo,
                        model.revisions.empty() ? model.commit : model.revisions.front());
  }
  for (const UnfinishedPull& pull : listing.unfinished) {
    const std::string name = RepoRef{pull.repo, pull.commit}.to_string();
    text += fmt::format(
        "lattice: unfinished: {} ({} on disk); resume it with: lattice pull {}, or "
        "delete it with: lattice rm {}\n",
        pull.repo, human_bytes(pull.bytes), name, name);
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace

void add_list(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("list", "List the models that pull has fetched");
  auto json = std::make_shared<bool>(false);
  auto quiet = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "One JSON line per model");
  verb->add_flag("--quiet", *quiet, "No remarks on standard error");
  verb->footer("Example:\n  lattice list");
  verb->callback([json, quiet] {
    const ModelStore store = value_or_throw(ModelStore::from_environment());
    const StoreListing listing = value_or_throw(store.list());
    if (*json) {
      print_json(listing);
    } else {
      print_table(listing);
    }
    if (!*quiet) print_remarks(listing, store);
  });
}

}  // namespace lattice::cli
