#include "engine/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "io/atomic_file.h"
#include "io/json_writer.h"
#include "io/safetensors.h"
#include "io/safetensors_writer.h"

namespace lattice {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

// Quantized at a time, and given back behind: small against any model.
constexpr std::size_t kStepBytes = std::size_t{1} << 20;

struct PlannedTensor {
  SafetensorsItem item;
  Tensor source;
};

struct Shard {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<PlannedTensor> tensors;
};

/// The tensors of each shard to write, source file by source file, in the order of names.
std::vector<Shard> plan_shards(const WeightFiles& weights, const std::set<std::string>& quantized,
                               std::uint64_t max_shard_bytes) {
  std::vector<std::string> names = weights.names();
  std::ranges::sort(
      names, {}, [&](const std::string& name) { return std::pair(weights.file_of(name), name); });
  std::vector<Shard> shards;
  fs::path file;
  for (const std::string& name : names) {
    Tensor source = value_or_throw(weights.require(name));
    const DType dtype = quantized.contains(name) ? DType::kQ8_0 : source.dtype();
    PlannedTensor tensor{{name, dtype, source.shape()}, std::move(source)};
    const std::uint64_t bytes = tensor.item.num_bytes();
    const bool full = !shards.empty() && shards.back().bytes + bytes > max_shard_bytes;
    if (shards.empty() || full || weights.file_of(name) != file) shards.emplace_back();
    file = weights.file_of(name);
    shards.back().bytes += bytes;
    shards.back().tensors.push_back(std::move(tensor));
  }
  return shards;
}

/// Names the shards, and orders their tensors: those of the largest elements first, so that each
/// stays aligned, blocks last.
void finish_plan(std::vector<Shard>& shards) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i].name = shards.size() == 1
                         ? kSingleFile
                         : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    std::ranges::sort(shards[i].tensors, [](const PlannedTensor& a, const PlannedTensor& b) {
      return std::tuple(dtype_size(b.item.dtype), std::string_view(a.item.name)) <
             std::tuple(dtype_size(a.item.dtype), std::string_view(b.item.name));
    });
  }
}

void write_quantized(const PlannedTensor& tensor, SafetensorsWriter& writer) {
  const Tensor& source = tensor.source;
  const std::int64_t row_blocks = num_q8_blocks(source.dim(1));
  const std::int64_t step =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kStepBytes / sizeof(Q8WeightBlock)) /
                                    std::max<std::int64_t>(1, row_blocks));
  std::vector<Q8WeightBlock> blocks;
  for (std::int64_t row = 0; row < source.dim(0); row += step) {
    const std::int64_t rows = std::min(step, source.dim(0) - row);
    blocks.resize(static_cast<std::size_t>(rows * row_blocks));
    source.copy_to_q8_0(row, blocks);
    const auto bad = std::ranges::find_if(
        blocks, [](const Q8WeightBlock& block) { return !std::isfinite(to_float(block.scale)); });
    if (bad != blocks.end()) {
      raise(ErrorCode::kUnsupported,
            "[quantize] tensor \"{}\": row {} holds a value that is not finite, or too large for "
            "the scale of Q8_0",
            tensor.item.name, row + (bad - blocks.begin()) / row_blocks);
    }
    value_or_throw(writer.write(std::as_bytes(std::span(blocks))));
    source.slice_rows(row, row + rows).discard();
  }
  source.discard();
}

void write_shard(const Shard& shard, const SafetensorsWriter::Metadata& metadata,
                 const fs::path& path) {
  std::vector<SafetensorsItem> items;
  for (const PlannedTensor& tensor : shard.tensors) items.push_back(tensor.item);
  SafetensorsWriter writer = value_or_throw(SafetensorsWriter::create(path, items, metadata));
  for (const PlannedTensor& tensor : shard.tensors) {
    if (tensor.item.dtype == DType::kQ8_0) {
      write_quantized(tensor, writer);
    } else {
      value_or_throw(writer.write(tensor.source.bytes()));
      tensor.source.discard();
    }
  }
  value_or_throw(writer.finish());
}

std::string index_text(const std::vector<Shard>& shards) {
  std::uint64_t total = 0;
  std::map<std::string_view, std::string_view> shard_of;
  for (const Shard& shard : shards) {
    total += shard.bytes;
    for (const PlannedTensor& tensor : shard.tensors) shard_of[tensor.item.name] = shard.name;
  }
  JsonWriter json;
  json.begin_object().key("metadata").begin_object().field("total_size", total).end_object();
  json.key("weight_map").begin_object();
  for (const auto& [name, shard] : shard_of) json.field(name, shard);
  return json.end_object().end_object().take();
}

}  // namespace

void write_quantized_weights(const WeightFiles& weights, const std::set<std::string>& quantized,
                             const fs::path& directory, const QuantizeOptions& options,
                             QuantizeReport& report) {
  std::vector<Shard> shards = plan_shards(weights, quantized, options.max_shard_bytes);
  finish_plan(shards);
  const fs::path first = weights.files().front();
  const auto metadata = value_or_throw(SafetensorsFile::open(first)).metadata();
  for (const Shard& shard : shards) {
    write_shard(shard, metadata, directory / shard.name);
    report.weight_files.push_back(shard.name);
    report.bytes_after += fs::file_size(directory / shard.name);
    for (const PlannedTensor& tensor : shard.tensors) {
      ++(tensor.item.dtype == DType::kQ8_0 ? report.num_quantized : report.num_kept);
    }
  }
  if (shards.size() > 1) {
    value_or_throw(write_file_atomically(directory / kIndexFile, index_text(shards)));
  }
}

}  // namespace lattice
