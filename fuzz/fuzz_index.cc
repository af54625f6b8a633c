#include "fuzz_support.h"
#include "io/weight_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using lattice::fuzz_check;
  const auto map = lattice::parse_weight_index(lattice::fuzz_text(data, size), "index.json");
  if (!map) {
    fuzz_check(map.error().message.starts_with("index.json: "));
    return 0;
  }
  fuzz_check(!map->empty());
  for (const auto& [tensor, shard] : *map) {
    const std::filesystem::path path = std::filesystem::path("/model") / shard;
    const std::string normal = path.lexically_normal().string();
    fuzz_check(normal.starts_with("/model/") && normal.size() > 7);
    fuzz_check(shard.find('\0') == shard.npos);
  }
  return 0;
}
