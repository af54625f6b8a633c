#include "ops/linear.h"

#include <algorithm>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/packed_linear.h"
#include "backends/cpu/partition.h"
#include "base/check.h"
#include "ops/context.h"

namespace lattice {
namespace {

// A packed block of x should stay in half of a 1 MiB L2 cache while panels stream past it.
constexpr std::int64_t kBlockBytes = 384 * 1024;
// A larger weight is taken to come from memory each time.
constexpr std::size_t kStreamBytes = std::size_t{2} << 20;
// Multiply-adds per cycle, for an estimate of the work.
constexpr std::int64_t kRate = 8;
// Rows are split between threads from this many tiles a thread; fewer rows are shared, each thread
// taking some of the panels.
constexpr std::int64_t kMinTilesPerThread = 8;
// With more tiles a panel is computed for much longer than it takes to arrive.
constexpr std::int64_t kMaxPrefetchTiles = 6;
constexpr std::int64_t kFloatBytes = sizeof(float);

// How one call is cut up: into blocks of rows, and per block into panels. Threads take equal
// contiguous runs of (block, panel) units.
class LinearPlan {
 public:
  LinearPlan(const CpuLinear& weight, std::int64_t rows, const ThreadPool& pool)
      : rows_(rows), tile_rows_(weight.kernels().max_rows) {
    const std::int64_t work = rows * weight.in_features() * weight.out_features();
    num_threads_ = useful_threads(pool, work / kRate);
    const std::int64_t row_bytes = weight.depth() * weight.kernels().block_bytes;
    num_tiles_ = (rows + tile_rows_ - 1) / tile_rows_;
    const std::int64_t tiles_per_block = std::max<std::int64_t>(
        1, kBlockBytes / (std::max<std::int64_t>(1, row_bytes) * tile_rows_));
    num_blocks_ = (num_tiles_ + tiles_per_block - 1) / tiles_per_block;
    if (num_tiles_ >= kMinTilesPerThread * num_threads_) {
      num_blocks_ = (num_blocks_ + num_threads_ - 1) / num_threads_ * num_threads_;
    }
    const std::int64_t most_tiles = (num_tiles_ + num_blocks_ - 1) / num_blocks_;
    constexpr std::int64_t kAlignment = 64;
    block_bytes_ = (most_tiles * tile_rows_ * row_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::int64_t num_threads() const { return num_threads_; }
  std::int64_t num_blocks() const { return num_blocks_; }
  std::int64_t block_bytes() const { return block_bytes_; }
  Range block_rows(std::int64_t block) const {
    const Range tiles = split(num_tiles_, block, num_blocks_);
    return {tiles.begin * tile_rows_, std::min(tiles.end * tile_rows_, rows_)};
  }

 private:
  std::int64_t rows_;
  std::int64_t tile_rows_;
  std::int64_t num_tiles_;
  std::int64_t num_threads_;
  std::int64_t num_blocks_;
  std::int64_t block_bytes_;
};

// What a tile asks for ahead: see TileArgs.
struct Prefetch {
  const std::byte* begin = nullptr;
  std::int64_t step = 0;
};

// Multiplies one packed block of rows by a range of panels.
class BlockProduct {
 public:
  BlockProduct(const LinearArgs& args, const CpuLinear& weight, EpilogueFunction epilogue)
      : args_(args), weight_(weight), kernels_(weight.kernels()), epilogue_(epilogue) {}

  void run(const std::byte* block, Range rows, Range panels) {
    if (rows.end - rows.begin <= 2) {
      run_few(block, rows, panels);
      return;
    }
    for (std::int64_t p = panels.begin; p < panels.end; ++p) run_panel(block, rows, p);
  }

 private:
  // One or two rows: several panels at a time, for enough independent chains.
  void run_few(const std::byte* block, Range rows, Range panels) {
    const bool lone = rows.end - rows.begin == 1;
    const bool stream = lone && weight_.num_bytes() > kStreamBytes;
    const TileFunction wide = stream ? kernels_.row_stream
                              : lone ? kernels_.row_wide
                                     : kernels_.pair_wide;
    const TileFunction narrow = lone ? kernels_.row : kernels_.tiles[0];
    const std::int64_t width = stream ? kernels_.stream_panels : lone ? kMaxTilePanels : 2;
    std::int64_t p = panels.begin;
    for (; p + width <= panels.end; p += width) run_tile(wide, block, rows, {p, p + width});
    for (; p < panels.end; ++p) run_tile(narrow, block, rows, {p, p + 1});
  }

  // The rows as tiles of equal size, up to one pair.
  void run_panel(const std::byte* block, Range rows, std::int64_t panel) {
    const std::int64_t num_pairs = (rows.end - rows.begin + 1) / 2;
    const std::int64_t most = kernels_.max_rows / 2;
    const std::int64_t num_tiles = (num_pairs + most - 1) / most;
    const std::int64_t pair_bytes = 2 * weight_.depth() * kernels_.block_bytes;
    // Few tiles read a panel as fast as memory gives it, and then compute while memory idles: those
    // behind the first one ask for the next panel.
    const bool prefetches =
        num_tiles > 1 && num_tiles <= kMaxPrefetchTiles && panel + 1 < weight_.num_panels();
    const std::int64_t part = prefetches ? weight_.panel_floats() / (num_tiles - 1) : 0;
    for (std::int64_t t = 0; t < num_tiles; ++t) {
      Prefetch next;
      if (prefetches && t > 0) {
        next = {weight_.panel(panel + 1) + (t - 1) * part * weight_.depth() * kFloatBytes, part};
      }
      const Range pairs = split(num_pairs, t, num_tiles);
      const Range tile_rows{rows.begin + 2 * pairs.begin,
                            std::min(rows.begin + 2 * pairs.end, rows.end)};
      run_tile(kernels_.tiles[static_cast<std::size_t>(pairs.end - pairs.begin - 1)],
               block + pairs.begin * pair_bytes, tile_rows, {panel, panel + 1}, next);
    }
  }

  // style: allow(parameters) what a tile multiplies, and the hint that goes with it
  void run_tile(TileFunction tile, const std::byte* block, Range rows, Range panels,
                Prefetch next = {}) {
    const std::int64_t stride = (panels.end - panels.begin) * kernels_.panel_cols;
    tile({.block = block,
          .panels = weight_.panel(panels.begin),
          .depth = weight_.depth(),
          .sums = sums_,
          .sums_stride = stride,
          .accumulate = false,
          .prefetch = next.begin,
          .prefetch_step = next.step});
    const std::int64_t col = panels.begin * kernels_.panel_cols;
    const auto& residual = args_.residual;
    epilogue_({.sums = sums_,
               .sums_stride = stride,
               .bias = weight_.bias() + col,
               .residual = residual ? residual->row(rows.begin) + col : nullptr,
               .residual_stride = residual ? residual->stride : 0,
               .out = args_.out.row(rows.begin) + col,
               .out_stride = args_.out.stride,
               .rows = rows.end - rows.begin,
               .cols = std::min(stride, weight_.out_features() - col)});
  }

  const LinearArgs& args_;
  const CpuLinear& weight_;
  const GemmKernels& kernels_;
  EpilogueFunction epilogue_;
  alignas(64) float sums_[kMaxTileRows * kMaxPanelCols];
};
static_assert(kMaxTilePanels <= kMaxTileRows && 2 * 2 <= kMaxTileRows,
              "the tiles of one and two rows fit the sums of a full one");

}  // namespace

void CpuBackend::linear(Context& context, const LinearArgs& args) const {
  const auto* packed = dynamic_cast<const CpuLinear*>(args.weight);
  check(packed != nullptr, "[linear] the weight was packed by another backend");
  const CpuLinear& weight = *packed;
  const LinearPlan plan(weight, args.x.rows, context.threads());
  const Workspace::Scope scope(context.workspace());
  const auto num_threads = static_cast<std::size_t>(plan.num_threads());
  std::byte* scratch =
      context.workspace().allocate(num_threads * static_cast<std::size_t>(plan.block_bytes()));
  const EpilogueFunction epilogue = epilogue_kernel(target_, args.activation);
  const std::int64_t num_panels = weight.num_panels();
  context.threads().parallel_for(num_threads, [&](std::size_t task, std::size_t) {
    const auto t = static_cast<std::int64_t>(task);
    const Range units = split(plan.num_blocks() * num_panels, t, plan.num_threads());
    std::byte* block = scratch + t * plan.block_bytes();
    BlockProduct product(args, weight, epilogue);
    for (std::int64_t unit = units.begin; unit < units.end;) {
      const std::int64_t b = unit / num_panels;
      const Range rows = plan.block_rows(b);
      const Range panels{unit - b * num_panels, std::min(num_panels, units.end - b * num_panels)};
      weight.kernels().pack_block(args.x.row(rows.begin), args.x.stride, rows.end - rows.begin,
                                  weight.in_features(), block);
      product.run(block, rows, panels);
      unit = b * num_panels + panels.end;
    }
  });
}

}  // namespace lattice
