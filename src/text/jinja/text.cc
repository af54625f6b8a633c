#include "text/jinja/text.h"

#include <algorithm>

#include "text/utf8.h"

namespace lattice::jinja {
namespace {

// Code points between two marks.
constexpr std::size_t kStride = 64;

}  // namespace

Text::Text(std::string_view bytes, bool user_input) {
  if (bytes.empty()) return;
  std::vector<Span> spans;
  if (user_input) spans.push_back({0, bytes.size()});
  data_ = make_data(std::string(bytes), std::move(spans));
}

Text::Text(std::string bytes, std::vector<Span> user_spans) {
  if (!bytes.empty()) data_ = make_data(std::move(bytes), std::move(user_spans));
}

std::shared_ptr<const Text::Data> Text::make_data(std::string bytes, std::vector<Span> user_spans) {
  auto data = std::make_shared<Data>();
  data->length = bytes.size() - static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(),
                                                                       is_utf8_continuation));
  if (data->length != bytes.size()) {
    data->marks.reserve(data->length / kStride);
    std::size_t index = 0;
    for (std::size_t at = 0; at < bytes.size(); at += utf8_length(bytes[at])) {
      if (index != 0 && index % kStride == 0) {
        data->marks.push_back(static_cast<std::uint32_t>(at));
      }
      ++index;
    }
  }
  data->bytes = std::move(bytes);
  data->user_spans = std::move(user_spans);
  return data;
}

std::size_t Text::byte_of(std::size_t index) const {
  if (index >= length()) return size();
  if (is_ascii()) return index;
  const std::size_t mark = index / kStride;
  std::size_t at = mark == 0 ? 0 : data_->marks[mark - 1];
  for (std::size_t left = index % kStride; left > 0; --left) at += utf8_length(data_->bytes[at]);
  return at;
}

std::size_t Text::index_of(std::size_t byte) const {
  if (is_ascii()) return byte;
  const auto& marks = data_->marks;
  const auto after = std::upper_bound(marks.begin(), marks.end(), byte);
  const auto passed = static_cast<std::size_t>(after - marks.begin());
  std::size_t at = passed == 0 ? 0 : marks[passed - 1];
  std::size_t index = passed * kStride;
  for (; at < byte; at += utf8_length(data_->bytes[at])) ++index;
  return index;
}

Text Text::slice_bytes(std::size_t begin, std::size_t end) const {
  if (begin >= end) return Text();
  if (begin == 0 && end == size()) return *this;
  std::vector<Span> spans;
  const auto all = user_spans();
  auto span = std::upper_bound(all.begin(), all.end(), begin,
                               [](std::size_t byte, const Span& s) { return byte < s.end; });
  for (; span != all.end() && span->begin < end; ++span) {
    spans.push_back({std::max(span->begin, begin) - begin, std::min(span->end, end) - begin});
  }
  return Text(data_->bytes.substr(begin, end - begin), std::move(spans));
}

void TextBuilder::mark(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  if (!user_spans_.empty() && user_spans_.back().end == begin) {
    user_spans_.back().end = end;
  } else {
    user_spans_.push_back({begin, end});
  }
}

void TextBuilder::append(const Text& text, std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  const std::size_t at = bytes_.size();
  budget_->check_bytes(at + (end - begin));
  const auto all = text.user_spans();
  auto span = std::upper_bound(all.begin(), all.end(), begin,
                               [](std::size_t byte, const Span& s) { return byte < s.end; });
  for (; span != all.end() && span->begin < end; ++span) {
    mark(at + std::max(span->begin, begin) - begin, at + std::min(span->end, end) - begin);
  }
  bytes_ += text.bytes().substr(begin, end - begin);
}

void TextBuilder::append(std::string_view bytes, bool user_input) {
  budget_->check_bytes(bytes_.size() + bytes.size());
  if (user_input) mark(bytes_.size(), bytes_.size() + bytes.size());
  bytes_ += bytes;
}

void TextBuilder::append_code_point(char32_t c, bool user_input) {
  const std::size_t begin = bytes_.size();
  budget_->check_bytes(begin + 4);
  append_utf8(bytes_, c);
  if (user_input) mark(begin, bytes_.size());
}

void TextBuilder::pad(std::size_t count, const Text& fill) {
  budget_->check_repeat(count, fill.size());
  for (std::size_t i = 0; i < count; ++i) append(fill);
}

void TextBuilder::pad(std::size_t count, char fill) {
  budget_->check_repeat(count, 1);
  budget_->check_bytes(bytes_.size() + count);
  bytes_.append(count, fill);
}

Text TextBuilder::take() {
  budget_->step_bytes(bytes_.size());
  Text text(std::move(bytes_), std::move(user_spans_));
  bytes_.clear();
  user_spans_.clear();
  return text;
}

}  // namespace lattice::jinja
