#include "text/regex/pcre_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <optional>

#include "text/utf8.h"

namespace lattice::regex {
namespace {

constexpr std::size_t kJitStackStart = std::size_t{1} << 16;
constexpr std::size_t kJitStackMost = std::size_t{1} << 24;
constexpr std::uint32_t kHeapLimitKib = 1U << 17;
// Steps per match. Patterns that backtrack linearly need some per byte, catastrophic ones all.
constexpr std::uint64_t kBaseSteps = 10'000'000;
constexpr std::uint64_t kStepsPerByte = 64;

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return std::string(text.begin(), std::find(text.begin(), text.end(), PCRE2_UCHAR{0}));
}

/// What a match needs to write to: one per thread, for all patterns.
class Workspace {
 public:
  Workspace()
      : data_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)),
        stack_(pcre2_jit_stack_create(kJitStackStart, kJitStackMost, nullptr)) {
    if (data_ == nullptr || context_ == nullptr || stack_ == nullptr) throw std::bad_alloc();
    pcre2_jit_stack_assign(context_, nullptr, stack_);
    pcre2_set_heap_limit(context_, kHeapLimitKib);
  }
  ~Workspace() {
    pcre2_match_data_free(data_);
    pcre2_match_context_free(context_);
    pcre2_jit_stack_free(stack_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void set_limit(std::size_t subject_size) {
    const std::uint64_t steps = kBaseSteps + kStepsPerByte * subject_size;
    pcre2_set_match_limit(context_,
                          static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, UINT32_MAX)));
  }

  /// The first match at or after `from`.
  std::optional<ByteRange> match(const pcre2_code* code, bool has_jit, std::string_view subject,
                                 std::size_t from) {
    // An empty view may have no address.
    const auto* text = static_cast<PCRE2_SPTR>(
        static_cast<const void*>(subject.data() == nullptr ? "" : subject.data()));
    int found = has_jit ? pcre2_jit_match(code, text, subject.size(), from, PCRE2_NO_UTF_CHECK,
                                          data_, context_)
                        : PCRE2_ERROR_JIT_STACKLIMIT;
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
      found = pcre2_match(code, text, subject.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                          data_, context_);
    }
    if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (found < 0) {
      raise(ErrorCode::kTooLong,
            "a regular expression of the tokenizer gave up on a text of {} bytes: {}",
            subject.size(), message_of(found));
    }
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data_);
    return ByteRange{ends[0], ends[1]};
  }

 private:
  pcre2_match_data* data_;
  pcre2_match_context* context_;
  pcre2_jit_stack* stack_;
};

}  // namespace

void PcrePattern::FreeCode::operator()(pcre2_real_code_8* code) const { pcre2_code_free(code); }

Result<std::unique_ptr<PcrePattern>> PcrePattern::compile(std::string_view pattern) {
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (context == nullptr) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  const auto* text = static_cast<PCRE2_SPTR>(static_cast<const void*>(pattern.data()));
  pcre2_code* code = pcre2_compile(text, pattern.size(), PCRE2_UTF, &error, &offset, context.get());
  if (code == nullptr) {
    return fail(ErrorCode::kUnsupported, "PCRE2 refuses it: {}", message_of(error));
  }
  const bool has_jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
  return std::unique_ptr<PcrePattern>(new PcrePattern(code, has_jit));
}

void PcrePattern::find_all(std::string_view subject, std::vector<ByteRange>& matches) const {
  thread_local Workspace workspace;
  workspace.set_limit(subject.size());
  std::optional<std::size_t> previous_end;
  for (std::size_t from = 0; from <= subject.size();) {
    const auto match = workspace.match(code_.get(), has_jit_, subject, from);
    if (!match) return;
    if (match->size() == 0 && previous_end == match->end) {
      from += from < subject.size() ? utf8_length(subject[from]) : 1;
      continue;
    }
    matches.push_back(*match);
    previous_end = from = match->end;
  }
}

}  // namespace lattice::regex
