#include "io/npy.h"

#include <bit>
#include <charconv>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mapped_file.h"

namespace lattice {
namespace {

static_assert(std::endian::native == std::endian::little, "'<f4' is written in place");

// Magic, version 1.0, and the length of the text that follows: 128 - 10 = 118 bytes.
constexpr std::string_view kPreamble("\x93NUMPY\x01\x00\x76\x00", 10);
constexpr std::string_view kBeforeRows = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
constexpr std::size_t kBufferFloats = std::size_t{1} << 18;

std::int64_t row_bytes(std::int64_t num_columns) {
  return num_columns * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

std::string npy_header(std::int64_t num_rows, std::int64_t num_columns) {
  std::string header =
      fmt::format("{}{}{}, {}), }}", kPreamble, kBeforeRows, num_rows, num_columns);
  check(header.size() < kNpyHeaderBytes, "[npy] the header does not fit {} bytes", kNpyHeaderBytes);
  header.resize(kNpyHeaderBytes - 1, ' ');
  return header + '\n';
}

Result<NpyHeader> parse_npy_header(std::string_view bytes, const std::string& source) {
  NpyHeader header;
  const std::string_view expected = bytes.substr(0, kNpyHeaderBytes);
  std::string_view rest = expected.substr(std::min(expected.size(), kPreamble.size()));
  if (rest.starts_with(kBeforeRows)) {
    rest.remove_prefix(kBeforeRows.size());
    const auto rows = std::from_chars(rest.data(), rest.data() + rest.size(), header.num_rows);
    rest.remove_prefix(static_cast<std::size_t>(rows.ptr - rest.data()));
    if (rest.starts_with(", ")) rest.remove_prefix(2);
    std::from_chars(rest.data(), rest.data() + rest.size(), header.num_columns);
  }
  // Whatever was read must be the very header that is written for it.
  if (header.num_rows < 0 || header.num_columns <= 0 ||
      expected != npy_header(header.num_rows, header.num_columns)) {
    return fail(ErrorCode::kMalformed,
                "[npy] {}: expected a {}-byte header of a float32 array with two dimensions",
                source, kNpyHeaderBytes);
  }
  return header;
}

Result<NpyWriter> NpyWriter::create(const std::filesystem::path& path, std::int64_t num_columns) {
  check(num_columns > 0, "[npy] expected at least one column, got {}", num_columns);
  auto file = OutputFile::open(path, OutputFile::Mode::kTruncate);
  if (!file) return forward_error(file);
  NpyWriter writer(std::move(*file), num_columns);
  const std::string header = npy_header(0, num_columns);
  if (auto status = writer.file_.write(std::as_bytes(std::span(header))); !status) {
    return forward_error(status);
  }
  return writer;
}

Result<NpyWriter> NpyWriter::resume(const std::filesystem::path& path, std::int64_t num_columns) {
  std::int64_t num_rows = 0;
  {
    auto existing = MappedFile::open(path);
    if (!existing && existing.error().code != ErrorCode::kNotFound) return forward_error(existing);
    // A run killed before its first row may have left a part of the header.
    if (!existing || npy_header(0, num_columns).starts_with(as_text(existing->bytes()))) {
      return create(path, num_columns);
    }
    auto header = parse_npy_header(as_text(existing->bytes()), path.string());
    if (!header) return forward_error(header);
    if (header->num_columns != num_columns) {
      return fail(ErrorCode::kInvalidArgument,
                  "[npy] {}: expected rows of {} values to continue, got {}", path.string(),
                  num_columns, header->num_columns);
    }
    // Rows after the last flush are complete too: the size counts, not the header.
    const std::size_t data = existing->bytes().size() - kNpyHeaderBytes;
    num_rows = static_cast<std::int64_t>(data) / row_bytes(num_columns);
  }
  auto file = OutputFile::open(path, OutputFile::Mode::kKeep);
  if (!file) return forward_error(file);
  NpyWriter writer(std::move(*file), num_columns);
  writer.num_rows_ = num_rows;
  if (auto status = writer.truncate(num_rows); !status) return forward_error(status);
  return writer;
}

Result<void> NpyWriter::truncate(std::int64_t num_rows) {
  if (num_rows < 0 || num_rows > num_rows_) {
    return fail(ErrorCode::kInvalidArgument, "[npy] {}: expected at least {} rows, got {}",
                file_.path().string(), num_rows, num_rows_);
  }
  if (auto status = write_buffer(); !status) return status;
  num_rows_ = num_rows;
  const auto size =
      kNpyHeaderBytes + static_cast<std::uint64_t>(num_rows * row_bytes(num_columns_));
  if (auto status = file_.resize(size); !status) return status;
  return flush();
}

Result<void> NpyWriter::append(std::span<const float> values) {
  const auto columns = static_cast<std::size_t>(num_columns_);
  if (values.size() % columns != 0) {
    return fail(ErrorCode::kInvalidArgument, "[npy] {}: expected rows of {} values, got {} values",
                file_.path().string(), columns, values.size());
  }
  buffer_.insert(buffer_.end(), values.begin(), values.end());
  num_rows_ += static_cast<std::int64_t>(values.size() / columns);
  if (buffer_.size() < kBufferFloats) return {};
  return write_buffer();
}

Result<void> NpyWriter::write_buffer() {
  if (auto status = file_.write(std::as_bytes(std::span(buffer_))); !status) return status;
  buffer_.clear();
  return {};
}

Result<void> NpyWriter::flush() {
  if (auto status = write_buffer(); !status) return status;
  const std::string header = npy_header(num_rows_, num_columns_);
  return file_.write_at(0, std::as_bytes(std::span(header)));
}

Result<void> NpyWriter::finish() {
  if (auto status = flush(); !status) return status;
  if (auto status = file_.sync(); !status) return status;
  return file_.close();
}

}  // namespace lattice
