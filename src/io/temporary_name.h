#pragma once

#include <filesystem>

namespace lattice {

/// A path beside `target` (in the same directory, hence on the same file system) that no other
/// thread, process or earlier crashed process uses. Thread-safe.
std::filesystem::path temporary_sibling(const std::filesystem::path& target);

/// Makes renames and new names in a directory survive a power failure. Some file systems cannot
/// sync directories: what was done has happened all the same, so that is no error.
void try_sync_directory(const std::filesystem::path& directory);

/// The directory that holds `target`; "." for a bare name.
std::filesystem::path directory_of(const std::filesystem::path& target);

}  // namespace lattice
