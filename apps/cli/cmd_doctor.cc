#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

#include "backends/registry.h"
#include "base/thread_pool.h"
#include "cli.h"
#include "io/hub/model_store.h"
#include "io/json_writer.h"
#include "lattice/version.h"

namespace lattice::cli {
namespace {

struct BackendReport {
  std::string name;
  std::string target;  // empty: not available
  std::string reason;
};

struct DoctorReport {
  unsigned hardware_threads = 0;
  std::size_t usable_threads = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<BackendReport> backends;
  std::string chosen;
  std::string store;
};

DoctorReport examine() {
  DoctorReport report;
  report.hardware_threads = std::thread::hardware_concurrency();
  report.usable_threads = usable_num_threads();
  report.memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const std::string_view name : backend_names()) {
    const auto backend = make_backend(name);
    BackendReport row{std::string(name), "", ""};
    if (backend) {
      row.target = (*backend)->target();
      if (report.chosen.empty()) report.chosen = row.name;
    } else {
      row.reason = backend.error().message;
    }
    report.backends.push_back(std::move(row));
  }
  const auto store = ModelStore::from_environment();
  report.store = store ? store->models_directory().string() : store.error().message;
  return report;
}

void print_json(const DoctorReport& report) {
  JsonWriter json;
  json.begin_object().field("version", version());
  json.field("hardware_threads", report.hardware_threads);
  json.field("usable_threads", report.usable_threads);
  json.field("memory_bytes", report.memory_bytes);
  json.key("backends").begin_array();
  for (const BackendReport& row : report.backends) {
    json.begin_object().field("name", row.name).field("available", !row.target.empty());
    json.field("target", row.target).field("reason", row.reason).end_object();
  }
  json.end_array().field("chosen", report.chosen).field("model_store", report.store);
  json.end_object();
  std::printf("%s\n", json.text().c_str());
}

void print_text(const DoctorReport& report) {
  std::string out = fmt::format("lattice {}\n", version());
  out += fmt::format("cores        {} in the machine, {} usable by this process\n",
                     report.hardware_threads, report.usable_threads);
  out +=
      fmt::format("memory       {:.1f} GiB\n", static_cast<double>(report.memory_bytes) / 0x1p30);
  for (const BackendReport& row : report.backends) {
    out += fmt::format("device       {}: {}\n", row.name,
                       row.target.empty() ? row.reason : "available, " + row.target);
  }
  for (const std::string_view name : {"metal", "cuda"}) {
    if (std::ranges::find(report.backends, name, &BackendReport::name) == report.backends.end()) {
      out += fmt::format("device       {}: not built into this program\n", name);
    }
  }
  out += fmt::format("chosen       {} (the first available; --device names another)\n",
                     report.chosen.empty() ? "none" : report.chosen);
  out += fmt::format("model store  {}\n", report.store);
  std::fputs(out.c_str(), stdout);
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("doctor", "Show what this machine offers and what is chosen");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "Machine-readable");
  verb->footer("Example:\n  lattice doctor");
  verb->callback([json] {
    if (*json) {
      print_json(examine());
    } else {
      print_text(examine());
    }
  });
}

}  // namespace lattice::cli
