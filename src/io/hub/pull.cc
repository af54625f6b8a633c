#include "io/hub/pull.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <set>
#include <system_error>
#include <thread>

#include "base/checked_math.h"
#include "io/atomic_file.h"
#include "io/hub/hub_api.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInfoBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxModulesBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxIndexBytes = std::size_t{256} << 20;
/// Left free on the disk.
constexpr std::uint64_t kSpareBytes = std::uint64_t{16} << 20;

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string unquote_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    etag = etag.substr(1, etag.size() - 2);
  }
  return std::string(etag);
}

/// One pull, from the hub's description to the published directory.
class Pull {
 public:
  Pull(HubClient& hub, const ModelStore& store, const RepoRef& ref, ProgressCounter& progress)
      : hub_(hub),
        store_(store),
        repo_(ref.repo),
        revision_(ref.revision.empty() ? "main" : ref.revision),
        progress_(progress) {}

  Result<PullOutcome> run() {
    if (auto status = read_info(); !status) return forward_error(status);
    auto lock = lock_repository();
    if (!lock) return forward_error(lock);
    PullOutcome outcome;
    outcome.commit = info_.commit;
    outcome.path = store_.commit_directory(repo_, info_.commit);
    if (const auto there = store_.check_model(repo_, info_.commit)) {
      outcome.already_there = true;
      outcome.bytes = there->total_bytes();
      if (auto status = store_.write_ref(repo_, revision_, info_.commit); !status) {
        return forward_error(status);
      }
      return outcome;
    }
    if (auto status = prepare_incoming(); !status) return forward_error(status);
    if (auto status = fetch_all(); !status) return forward_error(status);
    if (auto status = publish(); !status) return forward_error(status);
    outcome.bytes = manifest_.total_bytes();
    outcome.bytes_received = progress_.received();
    return outcome;
  }

 private:
  std::string name() const { return RepoRef{repo_, revision_}.to_string(); }

  std::string file_url(std::string_view path) const {
    return fmt::format("{}/{}/resolve/{}/{}", hub_.options().endpoint, repo_, info_.commit,
                       percent_encode_path(path));
  }

  Result<void> read_info() {
    const std::string url = fmt::format("{}/api/models/{}/revision/{}?blobs=true",
                                        hub_.options().endpoint, repo_, percent_encode(revision_));
    const auto text = hub_.get_text({url, name(), "GET", {}, true}, kMaxInfoBytes);
    if (!text) return tl::make_unexpected(text.error());
    auto info = parse_model_info(*text, name());
    if (!info) return forward_error(info);
    info_ = std::move(*info);
    return {};
  }

  Result<FileLock> lock_repository() {
    bool told = false;
    while (true) {
      auto lock = store_.try_lock(repo_);
      if (lock || lock.error().code != ErrorCode::kUnavailable) return lock;
      if (!told) hub_.notice(fmt::format("waiting for another process that pulls {}", repo_));
      told = true;
      if (hub_.cancelled()) return fail(ErrorCode::kCancelled, "{}: cancelled", name());
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  /// Makes the directory to download into, from a damaged model's files where there is one.
  Result<void> prepare_incoming() {
    incoming_ = store_.incoming_directory(repo_, info_.commit);
    if (auto made = make_directories(incoming_.parent_path()); !made) return made;
    const fs::path damaged = store_.commit_directory(repo_, info_.commit);
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(damaged, ignored))) {
      hub_.notice(fmt::format("{}: repairing a damaged copy", name()));
      if (fs::exists(incoming_, ignored)) return store_.discard(damaged);
      if (::rename(damaged.c_str(), incoming_.c_str()) != 0) {
        return tl::make_unexpected(system_error(damaged, "move it away for repair", errno));
      }
    }
    return make_directories(incoming_);
  }

  Result<void> fetch_all() {
    std::vector<HubModule> modules;
    if (info_.files.contains("modules.json")) {
      const auto text = fetch_text("modules.json", kMaxModulesBytes);
      if (!text) return tl::make_unexpected(text.error());
      auto parsed = parse_modules(*text, repo_ + ": modules.json");
      if (!parsed) return forward_error(parsed);
      modules = std::move(*parsed);
    }
    const std::vector<HubFile> configs = select_configs(info_, modules);
    if (auto status = check_room(configs); !status) return status;
    for (const HubFile& file : configs) {
      if (auto status = fetch(file); !status) return status;
    }
    auto weights = choose_weights(modules);
    if (!weights) return forward_error(weights);
    if (auto status = check_room(*weights); !status) return status;
    for (const HubFile& file : *weights) {
      if (auto status = fetch(file); !status) return status;
    }
    return {};
  }

  /// The weights of the transformer's folder, which must have some, and of the other modules'.
  Result<std::vector<HubFile>> choose_weights(const std::vector<HubModule>& modules) {
    const auto transformer = std::ranges::find_if(modules, &HubModule::is_transformer);
    const std::string main_folder = transformer == modules.end() ? "" : transformer->folder;
    if (!info_.files.contains(join_folder(main_folder, "config.json"))) {
      return fail(ErrorCode::kNotFound,
                  "{}: the repository has no {}, so it is not a model that lattice can load",
                  name(), join_folder(main_folder, "config.json"));
    }
    std::set<std::string> folders = {main_folder};
    for (const HubModule& module : modules) folders.insert(module.folder);
    std::vector<HubFile> selected;
    for (const std::string& folder : folders) {
      std::string index;
      if (const auto& path = index_path(folder); info_.files.contains(path)) {
        const auto text = read_small_file(incoming_ / path, kMaxIndexBytes);
        // Beside a single file the index is not fetched.
        if (text) index = *text;
      }
      auto weights = select_weights(info_, folder, index);
      if (!weights) return weights;
      const std::vector<std::string> foreign = foreign_weights(info_, folder);
      if (weights->empty() && (folder == main_folder || !foreign.empty())) {
        return fail(ErrorCode::kUnsupported,
                    "{}: no {} (or index) in the repository, which lattice needs{}{}; look for a "
                    "revision or a copy of the model with safetensors weights",
                    name(), join_folder(folder, "model.safetensors"),
                    foreign.empty() ? "" : "; it has only ", fmt::join(foreign, ", "));
      }
      selected.insert(selected.end(), weights->begin(), weights->end());
    }
    return selected;
  }

  static std::string index_path(const std::string& folder) {
    return join_folder(folder, "model.safetensors.index.json");
  }

  /// Fills in sizes that the description lacks, then checks that the files fit the disk.
  Result<void> check_room(const std::vector<HubFile>& files) {
    std::uint64_t needed = kSpareBytes;
    for (const HubFile& file : files) {
      if (fetched_.contains(file.path)) continue;
      if (auto described = describe(file.path); !described) return described;
      const HubFile& known = info_.files.find(file.path)->second;
      reuse(known);
      progress_.add_total(known.bytes);
      const auto sum = checked_add(needed, known.bytes - std::min(known.bytes, on_disk(known)));
      if (!sum) return fail(ErrorCode::kMalformed, "{}: the files' sizes overflow", name());
      needed = *sum;
    }
    std::error_code error;
    const fs::space_info space = fs::space(incoming_, error);
    if (!error && space.available < needed) {
      return fail(ErrorCode::kIo, "{}: the disk of {} is too full: expected {} free bytes, got {}",
                  name(), store_.home().string(), needed, space.available);
    }
    return {};
  }

  /// Bytes of a file that need no further room.
  std::uint64_t on_disk(const HubFile& file) const {
    std::uint64_t most = 0;
    for (const std::string_view suffix : {"", ".partial"}) {
      std::error_code error;
      fs::path path = incoming_ / file.path;
      path += suffix;
      const std::uint64_t bytes = fs::file_size(path, error);
      if (!error) most = std::max(most, bytes);
    }
    return most;
  }

  /// Asks for length and digest of one file when the repository's description lacks them, as that
  /// of some mirrors does. Source: huggingface_hub's get_hf_file_metadata.
  Result<void> describe(const std::string& path) {
    HubFile& file = info_.files.find(path)->second;
    if (file.verifiable()) return {};
    const std::string what = fmt::format("{}: {}", repo_, path);
    const auto head = hub_.get_head({file_url(path), what, "HEAD", {}, false});
    if (!head) return tl::make_unexpected(head.error());
    const bool linked = head->find("x-linked-etag").has_value();
    const auto size = head->find(linked ? "x-linked-size" : "content-length");
    const std::string etag =
        unquote_etag(head->find(linked ? "x-linked-etag" : "etag").value_or(""));
    std::uint64_t bytes = 0;
    if (size &&
        std::from_chars(size->data(), size->data() + size->size(), bytes).ec == std::errc()) {
      file.bytes = bytes;
      file.has_bytes = true;
    }
    if (is_commit_hash(etag)) (etag.size() == 64 ? file.sha256 : file.git_sha1) = etag;
    if (!file.verifiable() || file.bytes > kMaxHubFileBytes) {
      return fail(ErrorCode::kUnsupported,
                  "{}: {} gives no length and digest to verify it by, so it is not fetched", what,
                  hub_.options().endpoint);
    }
    return {};
  }

  /// Links weights that another commit of the repository has in the store: a new commit often
  /// changes a text only. The link is verified like any file that is already there.
  void reuse(const HubFile& file) {
    std::error_code error;
    const fs::path target = incoming_ / file.path;
    if (file.sha256.empty() || fs::exists(target, error)) return;
    for (const std::string& commit : store_.commits(repo_)) {
      const auto manifest = store_.check_model(repo_, commit);
      if (!manifest) continue;
      for (const ManifestFile& other : manifest->files) {
        if (other.sha256 != file.sha256 || other.bytes != file.bytes) continue;
        fs::create_directories(target.parent_path(), error);
        fs::create_hard_link(store_.commit_directory(repo_, commit) / other.path, target, error);
        if (!error) return;  // else it is downloaded
      }
    }
  }

  Result<void> fetch(const HubFile& selected) {
    if (!fetched_.insert(selected.path).second) return {};
    const HubFile& file = info_.files.find(selected.path)->second;
    progress_.begin_file(file.path);
    const FileDownload download{file, file_url(file.path), fmt::format("{}: {}", repo_, file.path),
                                incoming_ / file.path};
    auto sha256 = download_file(hub_, download, progress_);
    if (!sha256) return forward_error(sha256);
    manifest_.files.push_back({file.path, file.bytes, std::move(*sha256)});
    return {};
  }

  Result<std::string> fetch_text(const std::string& path, std::size_t max_bytes) {
    const HubFile& file = info_.files.find(path)->second;
    if (auto room = check_room({file}); !room) return forward_error(room);
    if (file.bytes > max_bytes) {
      return fail(ErrorCode::kMalformed, "{}: {}: {} bytes exceed the limit of {}", repo_, path,
                  file.bytes, max_bytes);
    }
    if (auto status = fetch(file); !status) return forward_error(status);
    return read_small_file(incoming_ / path, max_bytes);
  }

  /// Deletes what an earlier call left and this commit does not have.
  Result<void> remove_strays() const {
    std::set<fs::path> wanted;
    for (const ManifestFile& file : manifest_.files) wanted.insert(incoming_ / file.path);
    std::vector<fs::path> strays;
    std::error_code error;
    fs::recursive_directory_iterator it(incoming_, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      std::error_code entry_error;
      const bool directory = it->symlink_status(entry_error).type() == fs::file_type::directory;
      if (!directory && !wanted.contains(it->path())) strays.push_back(it->path());
    }
    for (const fs::path& stray : strays) {
      if (!error) fs::remove(stray, error);
    }
    if (error) return tl::make_unexpected(system_error(incoming_, "tidy up", error.value()));
    return {};
  }

  Result<void> publish() {
    std::ranges::sort(manifest_.files, {}, &ManifestFile::path);
    manifest_.repo = repo_;
    manifest_.revision = revision_;
    manifest_.commit = info_.commit;
    manifest_.endpoint = hub_.options().endpoint;
    manifest_.pulled_at = utc_now();
    if (auto status = remove_strays(); !status) return status;
    const std::string text = manifest_to_json(manifest_);
    if (auto written = write_file_atomically(incoming_ / kManifestName, text); !written) {
      return written;
    }
    return store_.publish(incoming_, manifest_);
  }

  HubClient& hub_;
  const ModelStore& store_;
  std::string repo_;
  std::string revision_;
  ProgressCounter& progress_;
  HubModelInfo info_;
  fs::path incoming_;
  std::set<std::string, std::less<>> fetched_;
  ModelManifest manifest_;
};

}  // namespace

Result<PullOutcome> pull_model(HubClient& hub, const ModelStore& store, const RepoRef& ref,
                               std::function<void(const PullProgress&)> report) {
  ProgressCounter progress(std::move(report));
  return Pull(hub, store, ref, progress).run();
}

}  // namespace lattice
