#include "io/safetensors_writer.h"

#include <array>

#include "io/json_writer.h"
#include "io/q8_0_metadata.h"

namespace lattice {
namespace {

/// How a tensor's dtype and shape are spelled in the file.
struct StoredForm {
  DType dtype;
  Shape shape;
};

StoredForm stored_form(const SafetensorsItem& item) {
  if (item.dtype != DType::kQ8_0) return {item.dtype, item.shape};
  const auto columns = static_cast<std::size_t>(item.shape[1]);
  return {DType::kU8, {item.shape[0], static_cast<std::int64_t>(row_bytes(DType::kQ8_0, columns))}};
}

void write_shape(JsonWriter& json, const Shape& shape) {
  json.begin_array();
  for (const std::int64_t dim : shape) json.value(dim);
  json.end_array();
}

std::string header_text(std::span<const SafetensorsItem> items,
                        const SafetensorsWriter::Metadata& metadata) {
  JsonWriter json;
  json.begin_object().key("__metadata__").begin_object();
  for (const auto& [key, value] : metadata) json.field(key, value);
  json.end_object();
  std::uint64_t begin = 0;
  for (const SafetensorsItem& item : items) {
    const StoredForm form = stored_form(item);
    const std::uint64_t end = begin + item.num_bytes();
    json.key(item.name).begin_object().field("dtype", dtype_name(form.dtype)).key("shape");
    write_shape(json, form.shape);
    json.key("data_offsets").begin_array().value(begin).value(end).end_array().end_object();
    begin = end;
  }
  json.end_object();
  std::string text = json.take();
  constexpr std::size_t kAlignment = 8;  // of the data that follows
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

}  // namespace

std::uint64_t SafetensorsItem::num_bytes() const {
  const StoredForm form = stored_form(*this);
  return static_cast<std::uint64_t>(num_elements(form.shape)) * dtype_size(form.dtype);
}

Result<SafetensorsWriter> SafetensorsWriter::create(const std::filesystem::path& path,
                                                    std::span<const SafetensorsItem> items,
                                                    Metadata metadata) {
  std::uint64_t data_bytes = 0;
  for (const SafetensorsItem& item : items) {
    data_bytes += item.num_bytes();
    if (item.dtype != DType::kQ8_0) continue;
    metadata.insert_or_assign(q8_0_metadata_key(item.name), shape_string(item.shape));
  }
  const std::string text = header_text(items, metadata);
  auto file = OutputFile::open(path, OutputFile::Mode::kCreateNew);
  if (!file) return forward_error(file);
  const std::uint64_t length = text.size();
  std::array<std::byte, 8> prefix;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    prefix[i] = static_cast<std::byte>(length >> (8 * i) & 0xFF);
  }
  if (auto status = file->write(prefix); !status) return forward_error(status);
  if (auto status = file->write(std::as_bytes(std::span(text))); !status) {
    return forward_error(status);
  }
  return SafetensorsWriter(std::move(*file), data_bytes);
}

Result<void> SafetensorsWriter::write(std::span<const std::byte> bytes) {
  if (bytes.size() > missing_bytes_) {
    return fail(ErrorCode::kInternal, "[safetensors] {}: {} bytes more than the header says",
                file_.path().string(), bytes.size() - missing_bytes_);
  }
  missing_bytes_ -= bytes.size();
  return file_.write(bytes);
}

Result<void> SafetensorsWriter::finish() {
  if (missing_bytes_ != 0) {
    return fail(ErrorCode::kInternal, "[safetensors] {}: {} bytes fewer than the header says",
                file_.path().string(), missing_bytes_);
  }
  if (auto status = file_.sync(); !status) return status;
  return file_.close();
}

}  // namespace lattice
