#include "text/byte_level.h"

#include "text/normalizers/normalizers.h"

namespace lattice::normalizers {
namespace {

class ByteLevel final : public Normalizer {
 public:
  void normalize(AlignedText& text) const override { map_bytes_to_alphabet(text); }
};

}  // namespace

Made make_byte_level(const Json& json, const std::string& where) {
  const ConfigReader reader(json, where);
  if (auto status = finish_component(reader); !status) return forward_error(status);
  return std::make_unique<ByteLevel>();
}

}  // namespace lattice::normalizers
