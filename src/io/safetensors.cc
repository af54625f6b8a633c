#include "io/safetensors.h"

#include <bit>
#include <unordered_map>

#include "base/mapped_file.h"
#include "io/q8_0_metadata.h"
#include "io/safetensors_header.h"

namespace lattice {
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors data is little-endian and used in place");

/// A file mapping as tensor memory.
class MappedStorage : public TensorStorage {
 public:
  explicit MappedStorage(MappedFile file) : file_(std::move(file)) {}
  const MappedFile& file() const { return file_; }
  void discard(std::span<const std::byte> bytes) const noexcept override {
    file_.discard_pages(bytes);
  }

 private:
  MappedFile file_;
};

}  // namespace

struct SafetensorsFile::State {
  std::shared_ptr<const MappedStorage> storage;
  SafetensorsHeader header;
  std::unordered_map<std::string_view, const SafetensorsEntry*> by_name;  // into header
};

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return forward_error(file);
  auto header = parse_safetensors_header(file->bytes(), path.string());
  if (!header) return forward_error(header);
  if (auto status = apply_q8_0_metadata(*header, path.string()); !status) {
    return forward_error(status);
  }
  auto state = std::make_shared<State>();
  state->storage = std::make_shared<const MappedStorage>(std::move(*file));
  state->header = std::move(*header);
  state->by_name.reserve(state->header.entries.size());
  for (const SafetensorsEntry& entry : state->header.entries) {
    state->by_name.emplace(entry.name, &entry);
  }
  return SafetensorsFile(std::move(state));
}

bool SafetensorsFile::contains(std::string_view name) const {
  return state_->by_name.contains(name);
}

Result<std::optional<Tensor>> SafetensorsFile::find(std::string_view name) const {
  const auto found = state_->by_name.find(name);
  if (found == state_->by_name.end()) return std::optional<Tensor>();
  const SafetensorsEntry& entry = *found->second;
  if (!entry.dtype) {
    return fail(ErrorCode::kUnsupported,
                "[safetensors] {}: tensor \"{}\": dtype {} is not supported (expected F64, F32, "
                "F16, BF16, I64, I32, I16, I8, U8 or BOOL)",
                path().string(), name, entry.dtype_name);
  }
  const auto bytes = state_->storage->file().bytes().subspan(
      static_cast<std::size_t>(entry.begin), static_cast<std::size_t>(entry.end - entry.begin));
  return Tensor(*entry.dtype, entry.shape, bytes.data(), state_->storage);
}

Result<Tensor> SafetensorsFile::require(std::string_view name) const {
  auto tensor = find(name);
  if (!tensor) return forward_error(tensor);
  if (!*tensor) {
    return fail(ErrorCode::kNotFound, "[safetensors] {}: tensor \"{}\" is missing", path().string(),
                name);
  }
  return std::move(**tensor);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  names.reserve(state_->header.entries.size());
  for (const SafetensorsEntry& entry : state_->header.entries) names.push_back(entry.name);
  return names;
}

const std::map<std::string, std::string, std::less<>>& SafetensorsFile::metadata() const {
  return state_->header.metadata;
}

std::uint64_t SafetensorsFile::data_bytes() const {
  const auto& entries = state_->header.entries;
  return entries.empty() ? 0 : entries.back().end - entries.front().begin;
}

const std::filesystem::path& SafetensorsFile::path() const {
  return state_->storage->file().path();
}

}  // namespace lattice
