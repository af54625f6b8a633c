#include "io/hub/model_store.h"

#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "io/atomic_file.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxManifestBytes = std::size_t{1} << 24;
constexpr std::size_t kMaxRefBytes = 256;
constexpr std::size_t kMinCommitPrefix = 7;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path user_home() {
  if (const std::string home = environment("HOME"); !home.empty()) return home;
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr || entry->pw_dir == nullptr ? "" : entry->pw_dir;
}

/// A directory itself, not a link to one.
bool is_plain_directory(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

/// Names of the directory's entries, sorted; empty when it cannot be read.
std::vector<std::string> entries(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(directory, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

/// Bytes of all regular files below `directory`, as far as they can be read.
std::uint64_t bytes_below(const fs::path& directory) {
  std::uint64_t total = 0;
  std::error_code error;
  fs::recursive_directory_iterator it(directory, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code entry_error;
    if (it->symlink_status(entry_error).type() != fs::file_type::regular) continue;
    const std::uint64_t size = it->file_size(entry_error);
    if (!entry_error) total += size;
  }
  return total;
}

/// The text of a message that ends in the command to run.
std::string pull_advice(const RepoRef& ref) {
  return fmt::format("fetch it with: lattice pull {}", ref.to_string());
}

}  // namespace

ModelStore::ModelStore(fs::path home) : home_(std::move(home)) {}

Result<ModelStore> ModelStore::from_environment() {
  if (const std::string home = environment("LATTICE_HOME"); !home.empty()) {
    std::error_code error;
    const fs::path absolute = fs::absolute(home, error);
    if (error) return tl::make_unexpected(system_error(home, "resolve", error.value()));
    return ModelStore(absolute);
  }
  // The XDG specification says to ignore relative values.
  if (const fs::path data = environment("XDG_DATA_HOME"); data.is_absolute()) {
    return ModelStore(data / "lattice");
  }
  const fs::path home = user_home();
  if (!home.is_absolute()) {
    return fail(ErrorCode::kInvalidArgument,
                "no place for the model store: set LATTICE_HOME (or HOME) to a directory");
  }
  return ModelStore(home / ".local" / "share" / "lattice");
}

fs::path ModelStore::repo_directory(std::string_view repo) const {
  return models_directory() / repo_directory_name(repo);
}

fs::path ModelStore::commit_directory(std::string_view repo, std::string_view commit) const {
  return repo_directory(repo) / commit;
}

fs::path ModelStore::incoming_directory(std::string_view repo, std::string_view commit) const {
  return models_directory() / ".incoming" / repo_directory_name(repo) / commit;
}

Result<FileLock> ModelStore::try_lock(std::string_view repo) const {
  return FileLock::try_acquire(models_directory() / ".locks" / repo_directory_name(repo));
}

std::vector<ModelStore::Ref> ModelStore::read_refs(std::string_view repo) const {
  std::vector<Ref> refs;
  const fs::path directory = repo_directory(repo) / "refs";
  for (const std::string& name : entries(directory)) {
    const std::string revision = percent_decode(name);
    const auto text = read_small_file(directory / name, kMaxRefBytes);
    // A name beginning with '.' is a file on its way to being renamed.
    if (!text || name.front() == '.' || !is_valid_revision(revision)) continue;
    const std::string commit = text->substr(0, text->find('\n'));
    if (is_commit_hash(commit)) refs.push_back({revision, commit});
  }
  return refs;
}

std::vector<std::string> ModelStore::commits(std::string_view repo) const {
  std::vector<std::string> names = entries(repo_directory(repo));
  std::erase_if(names, [&](const std::string& name) {
    return !is_commit_hash(name) || !is_plain_directory(commit_directory(repo, name));
  });
  return names;
}

Result<ModelManifest> ModelStore::check_model(std::string_view repo,
                                              std::string_view commit) const {
  const fs::path directory = commit_directory(repo, commit);
  if (!is_plain_directory(directory)) {
    return fail(ErrorCode::kNotFound, "{}: no such model", directory.string());
  }
  const fs::path manifest_path = directory / kManifestName;
  const auto text = read_small_file(manifest_path, kMaxManifestBytes);
  if (!text) return fail(ErrorCode::kMalformed, "{}", text.error().message);
  auto manifest = parse_manifest(*text, manifest_path.string());
  if (!manifest) return manifest;
  for (const ManifestFile& file : manifest->files) {
    std::error_code error;
    const fs::path path = directory / file.path;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (error) {
      return fail(ErrorCode::kMalformed, "{} is missing ({})", path.string(), error.message());
    }
    if (bytes != file.bytes) {
      return fail(ErrorCode::kMalformed, "{}: expected {} bytes, got {}", path.string(), file.bytes,
                  bytes);
    }
  }
  return manifest;
}

Result<std::string> ModelStore::resolve_commit(const RepoRef& ref) const {
  const std::vector<std::string> present = commits(ref.repo);
  const auto not_found = [&](std::string_view what) {
    return fail(ErrorCode::kNotFound, "{}: {} in {}; {}", ref.to_string(), what,
                models_directory().string(), pull_advice(ref));
  };
  if (present.empty()) return not_found("no such model");
  const std::string wanted = ref.revision.empty() ? "main" : ref.revision;
  for (const Ref& candidate : read_refs(ref.repo)) {
    if (candidate.revision == wanted && std::ranges::binary_search(present, candidate.commit)) {
      return candidate.commit;
    }
  }
  std::vector<std::string> matches;
  for (const std::string& commit : present) {
    const bool match = ref.revision.size() >= kMinCommitPrefix && commit.starts_with(ref.revision);
    if (ref.revision.empty() || match) matches.push_back(commit);
  }
  if (matches.empty()) return not_found("no such revision");
  if (matches.size() > 1) {
    return fail(ErrorCode::kInvalidArgument, "{}: {} commits are there; name one of {}@{}",
                ref.to_string(), matches.size(), ref.repo, fmt::join(matches, ", @"));
  }
  return matches.front();
}

Result<fs::path> ModelStore::find(const RepoRef& ref) const {
  auto commit = resolve_commit(ref);
  if (!commit) return forward_error(commit);
  const auto manifest = check_model(ref.repo, *commit);
  if (!manifest) {
    return fail(ErrorCode::kMalformed, "{} is damaged: {}; repair it with: lattice pull {}",
                ref.to_string(), manifest.error().message, ref.to_string());
  }
  return commit_directory(ref.repo, *commit);
}

Result<StoreListing> ModelStore::list() const {
  StoreListing listing;
  for (const std::string& name : entries(models_directory())) {
    const auto repo = repo_of_directory_name(name);
    if (!repo || !is_plain_directory(models_directory() / name)) continue;
    const std::vector<Ref> refs = read_refs(*repo);
    for (const std::string& commit : commits(*repo)) {
      StoredModel model;
      model.repo = *repo;
      model.commit = commit;
      model.path = commit_directory(*repo, commit);
      for (const Ref& ref : refs) {
        if (ref.commit == commit) model.revisions.push_back(ref.revision);
      }
      if (const auto manifest = check_model(*repo, commit)) {
        model.pulled_at = manifest->pulled_at;
        model.bytes = manifest->total_bytes();
      } else {
        model.problem = manifest.error().message;
        model.bytes = bytes_below(model.path);
      }
      listing.models.push_back(std::move(model));
    }
  }
  const fs::path incoming = models_directory() / ".incoming";
  for (const std::string& name : entries(incoming)) {
    const auto repo = repo_of_directory_name(name);
    if (!repo) continue;
    for (const std::string& commit : entries(incoming / name)) {
      const fs::path path = incoming / name / commit;
      listing.unfinished.push_back({*repo, commit, bytes_below(path), path});
    }
  }
  return listing;
}

Result<void> ModelStore::write_ref(std::string_view repo, std::string_view revision,
                                   std::string_view commit) const {
  if (is_commit_hash(revision)) return {};
  const fs::path directory = repo_directory(repo) / "refs";
  if (auto made = make_directories(directory); !made) return made;
  return write_file_atomically(directory / percent_encode(revision), std::string(commit) + "\n");
}

Result<void> ModelStore::publish(const fs::path& incoming, const ModelManifest& manifest) const {
  const fs::path target = commit_directory(manifest.repo, manifest.commit);
  if (auto made = make_directories(target.parent_path()); !made) return made;
  if (::rename(incoming.c_str(), target.c_str()) != 0) {
    return tl::make_unexpected(system_error(target, "move the download to it", errno));
  }
  if (auto synced = sync_directory(target.parent_path()); !synced) return synced;
  // Fails, and may, while downloads of other commits are there.
  std::error_code ignored;
  fs::remove(incoming.parent_path(), ignored);
  return write_ref(manifest.repo, manifest.revision, manifest.commit);
}

Result<void> ModelStore::discard(const fs::path& directory) const {
  const fs::path trash = models_directory() / ".trash";
  if (auto made = make_directories(trash); !made) return made;
  const fs::path moved = trash / unique_name(directory.filename().string());
  if (::rename(directory.c_str(), moved.c_str()) != 0) {
    return tl::make_unexpected(system_error(directory, "move it to the trash", errno));
  }
  // Also what an interrupted removal left behind. remove_all does not follow symbolic links.
  for (const std::string& name : entries(trash)) {
    std::error_code error;
    fs::remove_all(trash / name, error);
    if (error && (trash / name) == moved) {
      return tl::make_unexpected(system_error(moved, "delete", error.value()));
    }
  }
  return {};
}

Result<RemovedModel> ModelStore::remove_revision(const RepoRef& ref) const {
  auto commit = resolve_commit(ref);
  if (!commit) {
    // The name of an unfinished download is its commit.
    const fs::path incoming = incoming_directory(ref.repo, ref.revision);
    if (!is_commit_hash(ref.revision) || !is_plain_directory(incoming))
      return forward_error(commit);
    RemovedModel removed{ref.to_string(), bytes_below(incoming)};
    if (auto status = discard(incoming); !status) return forward_error(status);
    std::error_code ignored;
    fs::remove(incoming.parent_path(), ignored);  // if it was the last
    return removed;
  }
  const fs::path directory_of_refs = repo_directory(ref.repo) / "refs";
  const std::vector<Ref> refs = read_refs(ref.repo);
  // Removing a name keeps a commit that another name needs; removing a commit takes its names.
  const bool by_name =
      std::ranges::any_of(refs, [&](const Ref& r) { return r.revision == ref.revision; });
  bool named_otherwise = false;
  std::error_code ignored;
  for (const Ref& other : refs) {
    if (other.commit != *commit) continue;
    if (by_name && other.revision != ref.revision) {
      named_otherwise = true;
    } else {
      fs::remove(directory_of_refs / percent_encode(other.revision), ignored);
    }
  }
  RemovedModel removed{ref.to_string(), 0};
  if (named_otherwise) return removed;
  const fs::path directory = commit_directory(ref.repo, *commit);
  removed.bytes = bytes_below(directory);
  if (auto status = discard(directory); !status) return forward_error(status);
  if (commits(ref.repo).empty()) {
    if (auto status = discard(repo_directory(ref.repo)); !status) return forward_error(status);
  }
  return removed;
}

Result<RemovedModel> ModelStore::remove(const RepoRef& ref) const {
  const fs::path directory = repo_directory(ref.repo);
  const fs::path incoming = models_directory() / ".incoming" / repo_directory_name(ref.repo);
  std::error_code error;
  const bool is_link = fs::symlink_status(directory, error).type() == fs::file_type::symlink;
  if (is_link) {
    return fail(ErrorCode::kInvalidArgument,
                "{} is a symbolic link, not a directory of the store: remove it by hand",
                directory.string());
  }
  if (!is_plain_directory(directory) && !is_plain_directory(incoming)) {
    return fail(ErrorCode::kNotFound, "{}: no such model in {}", ref.repo,
                models_directory().string());
  }
  const auto lock = try_lock(ref.repo);
  if (!lock && lock.error().code == ErrorCode::kUnavailable) {
    return fail(ErrorCode::kUnavailable, "{} is being pulled by another process", ref.repo);
  }
  if (!lock) return tl::make_unexpected(lock.error());
  if (!ref.revision.empty()) return remove_revision(ref);
  RemovedModel removed{ref.repo, 0};
  for (const fs::path& victim : {directory, incoming}) {
    if (!is_plain_directory(victim)) continue;
    removed.bytes += bytes_below(victim);
    if (auto status = discard(victim); !status) return forward_error(status);
  }
  return removed;
}

Result<fs::path> resolve_model(std::string_view name_or_directory, const ModelStore& store) {
  if (name_or_directory.empty() || name_or_directory.find('\0') != name_or_directory.npos) {
    return fail(ErrorCode::kInvalidArgument, "expected a model's directory or name, got \"{}\"",
                name_or_directory);
  }
  const fs::path path(name_or_directory);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::directory) return path;
  const auto ref = parse_repo_ref(name_or_directory);
  if (fs::exists(status)) {
    return fail(ErrorCode::kInvalidArgument,
                "{} is a file; expected the directory of a model, or the name of a pulled one",
                path.string());
  }
  if (!ref) {
    return fail(ErrorCode::kNotFound,
                "{}: there is no such directory, and it is not a model name (org/name)",
                name_or_directory);
  }
  auto found = store.find(*ref);
  if (found || found.error().code != ErrorCode::kNotFound) return found;
  return fail(ErrorCode::kNotFound, "{}: neither a directory nor a pulled model ({})",
              name_or_directory, found.error().message);
}

Result<fs::path> resolve_model(std::string_view name_or_directory) {
  const auto store = ModelStore::from_environment();
  if (store) return resolve_model(name_or_directory, *store);
  // A directory needs no store.
  std::error_code error;
  if (fs::is_directory(name_or_directory, error)) return fs::path(name_or_directory);
  return tl::make_unexpected(store.error());
}

}  // namespace lattice
