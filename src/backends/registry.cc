#include "backends/registry.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "backends/fallback/fallback_backend.h"

namespace lattice {
namespace {

std::vector<std::string_view> names_of(std::span<const BackendRow> rows) {
  std::vector<std::string_view> names;
  for (const BackendRow& row : rows) names.push_back(row.name);
  return names;
}

}  // namespace

Result<BackendRow> find_backend(std::string_view name, std::span<const BackendRow> rows) {
  const auto row = std::ranges::find(rows, name, &BackendRow::name);
  if (row != rows.end()) return *row;
  return fail(ErrorCode::kUnavailable, "device \"{}\": not built into this library, which has: {}",
              name, fmt::join(names_of(rows), ", "));
}

Result<std::shared_ptr<const Backend>> make_backend(std::string_view name,
                                                    std::span<const BackendRow> rows) {
  auto row = find_backend(name, rows);
  if (!row) return forward_error(row);
  return row->make();
}

std::shared_ptr<const Backend> with_cpu_behind(std::shared_ptr<const Backend> gpu,
                                               OnGpuFailure on_failure,
                                               std::span<const BackendRow> rows) {
  return std::make_shared<const FallbackBackend>(
      std::move(gpu), value_or_throw(make_backend("cpu", rows)), on_failure);
}

std::vector<std::string_view> backend_names() { return names_of(backend_rows()); }

}  // namespace lattice
