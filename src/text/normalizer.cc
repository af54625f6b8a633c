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
    Maker{"Nmt", normalizers::make_nmt},
    Maker{"Prepend", normalizers::make_prepend},
    Maker{"Sequence", normalizers::make_sequence},
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
