#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/hub/model_manifest.h"
#include "io/hub/repo_name.h"
#include "io/hub/store_files.h"

namespace lattice {

/// One complete model of the store: a repository at a commit.
struct StoredModel {
  std::string repo;
  std::vector<std::string> revisions;  ///< names that point at this commit, sorted
  std::string commit;
  std::string pulled_at;
  std::uint64_t bytes = 0;
  std::filesystem::path path;
  std::string problem;  ///< empty, or why the directory cannot be used ("... is missing")
};

/// An interrupted download, which `pull` resumes.
struct UnfinishedPull {
  std::string repo;
  std::string commit;
  std::uint64_t bytes = 0;  ///< on disk so far
  std::filesystem::path path;
};

struct StoreListing {
  std::vector<StoredModel> models;         ///< by repository, then commit
  std::vector<UnfinishedPull> unfinished;  ///< likewise
};

/// What `remove` deleted.
struct RemovedModel {
  std::string name;
  std::uint64_t bytes = 0;
};

/// The directory of pulled models. Layout below home():
///
///   models/ORG--NAME/COMMIT/...           a complete model with its manifest
///   models/ORG--NAME/refs/REVISION        the commit that a branch or tag meant when pulled
///   models/.incoming/ORG--NAME/COMMIT/... an unfinished download
///   models/.locks/ORG--NAME               held by the process that changes this repository
///   models/.trash/                        on its way to deletion
///
/// A model's directory appears and disappears by one rename. Copyable; methods are safe to call
/// from several threads and processes.
class ModelStore {
 public:
  explicit ModelStore(std::filesystem::path home);

  /// The store at $LATTICE_HOME, else $XDG_DATA_HOME/lattice, else ~/.local/share/lattice. Creates
  /// nothing. Errors: kInvalidArgument when none of them is known.
  static Result<ModelStore> from_environment();

  const std::filesystem::path& home() const { return home_; }
  std::filesystem::path models_directory() const { return home_ / "models"; }
  std::filesystem::path repo_directory(std::string_view repo) const;
  std::filesystem::path commit_directory(std::string_view repo, std::string_view commit) const;
  std::filesystem::path incoming_directory(std::string_view repo, std::string_view commit) const;

  /// The lock that protects one repository's directories; never waits. Errors: kUnavailable, kIo.
  Result<FileLock> try_lock(std::string_view repo) const;

  /// The directory of a pulled model, after checking that its files are there in full. Without a
  /// revision: the commit of "main", else the only commit. Errors: kNotFound (says what was looked
  /// for and how to pull it), kInvalidArgument (several commits, none of them "main"), kMalformed
  /// (a damaged directory).
  Result<std::filesystem::path> find(const RepoRef& ref) const;

  /// All models and unfinished downloads. A store that does not exist is empty. Errors: kIo.
  Result<StoreListing> list() const;

  /// Deletes a repository with its unfinished downloads or, given a revision, that revision's name
  /// and its commit unless another name points at it (or that commit's unfinished download). Only
  /// directories of the store itself are touched, never through a symbolic link. Errors:
  /// kInvalidArgument, kNotFound, kUnavailable (a pull is running), kIo.
  Result<RemovedModel> remove(const RepoRef& ref) const;

  /// Moves a complete download (with its manifest) to its final place and points the manifest's
  /// revision at it. The caller holds the lock. Errors: kIo.
  Result<void> publish(const std::filesystem::path& incoming, const ModelManifest& manifest) const;

  /// Points `revision` at `commit`, which must be in the store. The caller holds the lock.
  Result<void> write_ref(std::string_view repo, std::string_view revision,
                         std::string_view commit) const;

  /// The manifest of a commit whose files are there with their sizes. Errors: kNotFound when there
  /// is no such directory, kMalformed naming what is wrong with it.
  Result<ModelManifest> check_model(std::string_view repo, std::string_view commit) const;

  /// The commits of a repository in the store, complete or damaged, sorted.
  std::vector<std::string> commits(std::string_view repo) const;

  /// Moves a directory of the store out of sight, then deletes it. Errors: kIo.
  Result<void> discard(const std::filesystem::path& directory) const;

 private:
  struct Ref {
    std::string revision;
    std::string commit;
  };

  std::vector<Ref> read_refs(std::string_view repo) const;
  Result<std::string> resolve_commit(const RepoRef& ref) const;
  Result<RemovedModel> remove_revision(const RepoRef& ref) const;

  std::filesystem::path home_;
};

/// The model directory that `-m` names: an existing directory as it is, else a model fetched by
/// `pull` ("org/name" or "org/name@revision") in the store of the environment. Errors:
/// kInvalidArgument, kNotFound (says what was looked for and how to pull it), kMalformed (a damaged
/// pulled model). Thread-safe.
Result<std::filesystem::path> resolve_model(std::string_view name_or_directory);

/// As above, in a given store.
Result<std::filesystem::path> resolve_model(std::string_view name_or_directory,
                                            const ModelStore& store);

}  // namespace lattice
