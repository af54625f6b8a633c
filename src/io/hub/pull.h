#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"
#include "io/hub/file_download.h"
#include "io/hub/hub_client.h"
#include "io/hub/model_store.h"
#include "io/hub/repo_name.h"

namespace lattice {

struct PullOutcome {
  std::filesystem::path path;  ///< the model's directory
  std::string commit;
  bool already_there = false;
  std::uint64_t bytes = 0;           ///< of all files
  std::uint64_t bytes_received = 0;  ///< over the network in this call
};

/// Fetches a model into the store: the configuration, the tokenizer and the safetensors weights of
/// `ref` at the commit that its revision ("main" when empty) has now. Files are verified by length
/// and digest; the model's directory appears in one step when all are there, so that an interrupted
/// call leaves only what the next one resumes. Waits while another process pulls the same
/// repository. A damaged model is repaired. `report` receives the progress, often.
///
/// Errors: those of HubClient and download_file; kNotFound and kUnsupported when the repository has
/// no config.json or no safetensors; kIo also when the files would not fit the disk; kCancelled.
Result<PullOutcome> pull_model(HubClient& hub, const ModelStore& store, const RepoRef& ref,
                               std::function<void(const PullProgress&)> report);

}  // namespace lattice
