#include "text/normalizer.h"

#include <array>
#include <string_view>

#include "text/normalizers/normalizers.h"

namespace lattice {
namespace {

using normalizers::Made;

struct Maker {
  std::string_view type;
  Made (*make)(const Json& json, const std::string& where);
};

constexpr std::array kMakers = {
    Maker{"BertNormalizer", normalizers::make_bert},
    Maker{"ByteLevel", normalizers::make_byte_level},
    Maker{"Lowercase", normalizers::make_lowercase},
    Maker{"NFC", normalizers::make_nfc},
    Maker{"NFD", normalizers::make_nfd},
    Maker{"NFKC", normalizers::make_nfkc},
    Maker{"NFKD", normalizers::make_nfkd},
    Maker{"Nmt", normalizers::make_nmt},
    Maker{"Precompiled", normalizers::make_precompiled},
    Maker{"Prepend", normalizers::make_prepend},
    Maker{"Replace", normalizers::make_replace},
    Maker{"Sequence", normalizers::make_sequence},
    Maker{"Strip", normalizers::make_strip},
    Maker{"StripAccents", normalizers::make_strip_accents},
};

}  // namespace

Result<std::unique_ptr<Normalizer>> make_normalizer(const Json& json, const std::string& where) {
  if (json.is_null()) return nullptr;
  auto type = component_type(json, where);
  if (!type) return forward_error(type);
  for (const Maker& maker : kMakers) {
    if (maker.type == *type) return maker.make(json, where);
  }
  return unknown_type(where, *type);
}

}  // namespace lattice
