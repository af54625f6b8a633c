#include "engine/embedding_cache_identity.h"

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/mapped_file.h"
#include "engine/embedding_cache_hash.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

// Raised by whoever changes the arithmetic so that a model's vectors get other bits.
constexpr int kNumericsVersion = 2;

constexpr std::size_t kWholeTensorBytes = std::size_t{16} << 10;
constexpr std::size_t kSamples = 16;
constexpr std::size_t kSampleBytes = 64;

void hash_config_file(CacheHash& hash, const fs::path& directory, const char* name) {
  std::error_code ignored;
  const fs::path path = directory / name;
  if (!fs::exists(path, ignored)) return hash.add("absent");
  const MappedFile file = value_or_throw(MappedFile::open(path));
  hash.add(as_text(file.bytes()));
}

void hash_tensor(CacheHash& hash, const Tensor& tensor) {
  hash.add(dtype_name(tensor.dtype()));
  hash.add(shape_string(tensor.shape()));
  const std::span<const std::byte> bytes = tensor.bytes();
  if (bytes.size() <= kWholeTensorBytes) return hash.add(as_text(bytes));
  for (std::size_t i = 0; i < kSamples; ++i) {
    const std::size_t offset = (bytes.size() - kSampleBytes) / (kSamples - 1) * i;
    hash.add(as_text(bytes.subspan(offset, kSampleBytes)));
  }
  tensor.discard();  // the samples brought whole pages in
}

void hash_weights(CacheHash& hash, const WeightFiles& weights) {
  for (const std::string& name : weights.names()) {
    hash.add(name);
    const auto tensor = weights.find(name);
    if (!tensor && tensor.error().code != ErrorCode::kUnsupported) {
      throw LatticeError(tensor.error());
    }
    // A dtype that lattice lacks is no part of the vector.
    if (tensor && *tensor) hash_tensor(hash, **tensor);
  }
}

/// The first line of `text`, which is removed.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view after_space(std::string_view line) {
  const std::size_t space = line.find(' ');
  return space == line.npos ? "nothing" : line.substr(space + 1);
}

}  // namespace

ModelFingerprint::ModelFingerprint(const Source& source)
    : tokenizer_(source.tokenizer), compute_(source.compute), weights_{source.weights} {
  CacheHash hash;
  hash_config_file(hash, source.directory.path(), "config.json");
  hash_config_file(hash, source.directory.path(), "modules.json");
  for (const fs::path& module : source.module_directories) {
    hash_config_file(hash, module, "config.json");
    std::error_code ignored;
    if (fs::equivalent(module, source.directory.path(), ignored)) continue;
    // A module without weights (Pooling) has nothing else to be named by.
    if (fs::exists(module / "model.safetensors", ignored)) {
      weights_.push_back(value_or_throw(WeightFiles::open(module)));
    }
  }
  configuration_ = hash.hex();
}

const std::string& ModelFingerprint::model() const {
  const std::lock_guard lock(mutex_);
  if (!model_) {
    CacheHash hash;
    for (const WeightFiles& weights : weights_) hash_weights(hash, weights);
    model_ = fmt::format("numerics {}\nconfiguration {}\nweights {}\ntokenizer {}\n",
                         kNumericsVersion, configuration_, hash.hex(), tokenizer_);
  }
  return *model_;
}

std::string describe_difference(std::string_view expected, std::string_view got) {
  while (!expected.empty() || !got.empty()) {
    const std::string_view wanted = take_line(expected);
    const std::string_view found = take_line(got);
    if (wanted == found) continue;
    return fmt::format("{}: expected {}, got {}", wanted.substr(0, wanted.find(' ')),
                       after_space(wanted), after_space(found));
  }
  return "";
}

}  // namespace lattice
