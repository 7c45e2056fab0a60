// What the int8 tactics share: choice of kernels, packing of constant weights, and the blocked product behind all of them.
//
// A product is rows x [k] times [k] x n (per group). Where its rows come from (a matrix, the windows of an image) is an Int8Rows.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/kernels/int8/int8.h"
#include "backends/cpu/tactics/int8/int8_blocking_common.h"
#include "backends/cpu/tactics/int8/int8_epilogue_common.h"
#include "backends/cpu/tactics/int8/int8_order_common.h"
#include "backends/tactic.h"

namespace tenfold::backends::cpu {

// Config of every int8 product: {instruction set, rows of a block, columns of a block}.
enum Int8Isa : std::int64_t { kInt8Avx2, kInt8Avx512, kInt8Vnni, kInt8Amx, kInt8IsaCount };
constexpr std::int64_t round_up_to(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }
// A block's rows, twice as many where kernels stream weights past them (`laid`); its columns, its accumulators; values of k at a time.
inline constexpr std::int64_t kInt8MaxRows = 64, kInt8MaxLaidRows = 256, kInt8MaxColumns = 128, kInt8MaxCells = 64 * 128,
                              kInt8MaxChunkBytes = 1024, kInt8MaxSteps = 2048;
static_assert(kInt8MaxColumns <= kInt8MaxEpilogueColumns);

const Int8Kernels& int8_kernels(std::int64_t isa);
const Int8EpilogueKernels& int8_epilogue_kernels(std::int64_t isa);
std::vector<Config> int8_configs(const DeviceInfo& device, std::int64_t rows, std::int64_t n);  // best guess first
Verdict int8_valid(const DeviceInfo& device, const Config& config);

// Weights of one product: k x n for each of `groups`.
struct Int8Weights {
  std::int64_t k = 0, n = 0, groups = 1;
};

// The elements of a tensor of u8 or s8, in their order.
std::vector<std::int16_t> int8_values(const Tensor& weights);

// Where everything lies in packed weights: for each group of the product a head of values per column, the orders of its panels if
// the kernels want them, and its panels. Columns are padded to half panels, k to whole groups.
class Int8Packing {
 public:
  Int8Packing() = default;
  Int8Packing(const Int8Weights& weights, const Int8Kernels& kernels);
  std::int64_t bytes() const { return kHeader + group_bytes_ * weights_.groups; }
  std::int64_t columns() const { return columns_; }
  std::int64_t depth() const { return depth_; }
  std::int64_t panel_width(std::int64_t column) const { return column + nr_ <= columns_ ? nr_ : nr_ / 2; }

  // `weights`: values [groups][k][n]; `zeros`: per column of all groups. What cannot be stored less its zero point in 8 bits keeps
  // a rest, which is corrected with the sum of A's row.
  void pack(std::span<const std::int16_t> weights, std::span<const std::int32_t> zeros, void* packed) const;
  std::vector<std::int16_t> unpack(const void* packed) const;

  // Exactly 1: memory that the tuner fills has none.
  bool has_rests(const void* packed) const { return *static_cast<const std::int32_t*>(packed) == 1; }
  const std::int32_t* sums(const void* packed, std::int64_t group) const { return row(packed, group, 0); }       // of stored columns
  const std::int32_t* constants(const void* packed, std::int64_t group) const { return row(packed, group, 1); }  // added to results
  const std::int32_t* rests(const void* packed, std::int64_t group) const { return row(packed, group, 2); }      // of the zero points
  const std::int32_t* moved(const void* packed, std::int64_t group) const { return row(packed, group, 3); }      // value - stored
  // The panel that starts at `column` (a multiple of the panel width), from its value `k` on (a multiple of a chunk).
  const char* panel(const void* packed, std::int64_t group, std::int64_t column, std::int64_t k) const {
    return start(packed, group) + body_at_ + column * depth_ + k * panel_width(column);
  }
  // The same of its order; null where panels have none.
  const std::uint16_t* order(const void* packed, std::int64_t group, std::int64_t column, std::int64_t k) const {
    if (!ordered_) return nullptr;
    return reinterpret_cast<const std::uint16_t*>(start(packed, group) + order_at_) + column / nr_ * order_words() +
           k / chunk_ * chunk_words();
  }
  Int8Chunk chunk(std::int64_t column, std::int64_t k) const { return {std::min(chunk_, depth_ - k) / 4, panel_width(column)}; }

 private:
  static constexpr std::int64_t kHeader = 64, kRows = 4;
  const char* start(const void* packed, std::int64_t group) const {
    return static_cast<const char*>(packed) + kHeader + group * group_bytes_;
  }
  const std::int32_t* row(const void* packed, std::int64_t group, std::int64_t which) const {
    return reinterpret_cast<const std::int32_t*>(start(packed, group)) + which * columns_;
  }
  std::int64_t chunk_words() const { return kInt8Classes + chunk_ / 4; }
  std::int64_t order_words() const { return (depth_ + chunk_ - 1) / chunk_ * kInt8Classes + depth_ / 4; }
  template <class F>
  void for_row(std::int64_t k, const F& f) const;   // where the values of a row lie in the body, if panels have no order
  std::vector<std::int32_t> moved_by(const std::int16_t* weights, const std::int32_t* zeros) const;
  void pack_body(const std::vector<std::int8_t>& stored, std::int64_t group, void* packed) const;  // stored: [depth][columns]
  std::vector<std::int8_t> unpack_body(const void* packed, std::int64_t group) const;
  Int8Weights weights_;
  std::int64_t nr_ = 0, k_group_ = 0, k_step_ = 0, chunk_ = 0, columns_ = 0, depth_ = 0, order_at_ = 0, body_at_ = 0, group_bytes_ = 0;
  bool ordered_ = false;
};

// Where the taps of a block of rows lie: what Int8Kernels::taps reads.
struct Int8TapTable {
  static constexpr std::int64_t kMaxTaps = 64, kSpareBytes = 256;   // spare: of each row
  const char* rows[(kMaxTaps + 1) * kInt8MaxRows];
  char spare[kInt8MaxRows * kSpareBytes];
  Int8WindowTap taps[kMaxTaps];
  std::int64_t count, bytes;   // bytes: of each tap
};

// A block of rows as Int8Kernels::laid reads it. Rows come in lines of `line_rows`, of which the first `line_outputs` are rows of the
// result and the others lie between lines; row 0 is number `x` of its line, whose row of the result number 0 is `out`.
struct Int8Laid {
  const char* first;
  std::int64_t stride, rows, line_rows, line_outputs, x, out;
};

// Rows that overlap in memory: copied once for each block, not row by row.
class Int8Laying {
 public:
  virtual ~Int8Laying() = default;
  virtual std::int64_t images() const noexcept = 0;
  virtual std::int64_t blocks() const noexcept = 0;   // as many of each image
  virtual std::int64_t max_blocks() const noexcept = 0;     // blocks of an image that can be laid as one
  virtual Int8Laid lay(std::int64_t block, std::int64_t count, char* to, std::int32_t* offsets) const noexcept = 0;
};

// Source of the rows of A.
class Int8Rows {
 public:
  virtual ~Int8Rows() = default;
  // Copies values [k, k + count) of rows [row, row + rows) of a group to `to`, rows `stride` bytes apart, moved as kernels want them.
  virtual void fill(const Int8Kernels& kernels, std::int64_t group, std::int64_t row, std::int64_t rows, std::int64_t k, std::int64_t count,
                    char* to, std::int64_t stride) const noexcept = 0;
  // The row where it lies, if rows are `stride` bytes apart and complete; null if they have to be gathered. Bytes up to end() may be read.
  virtual const char* direct(std::int64_t group, std::int64_t row, std::int64_t& stride) const noexcept = 0;
  virtual const char* end() const noexcept = 0;
  // The taps of rows [row, row + rows) where they lie; false if they have to be gathered.
  virtual bool find(std::int64_t /*group*/, std::int64_t /*row*/, std::int64_t /*rows*/, Int8TapTable&) const noexcept { return false; }
  // Not null: all rows are to be had this way, by kernels with `laid`.
  virtual const Int8Laying* laying() const noexcept { return nullptr; }
};

struct Int8Gemm {
  const Int8Kernels* kernels = nullptr;
  Int8Weights weights;
  Int8Packing packing;
  bool a_signed = false;
  std::int64_t block_rows = 0, block_columns = 0;
  std::vector<std::uint16_t> spare_order, last_spare_order;   // of a whole chunk and of the last one
  Int8Epilogue epilogue;

  Int8Gemm() = default;
  Int8Gemm(const Problem& problem, const Config& config, const Int8Weights& weights, bool a_signed, int channel_axis);
  std::int64_t workspace_bytes() const { return epilogue.workspace_bytes() + packing.columns() * weights.groups * 4; }
  std::int64_t scratch_bytes() const {
    return round_up_to(epilogue.scratch_bytes(), 64);
  }  // per worker; Int8Laying's memory lies behind it
  // All rows of all groups; `zero` is A's zero point. args.in[1] is the packed weight.
  void run(const Int8Rows& rows, std::int64_t count, std::int32_t zero, const RunArgs& args, const TileAxes& axes) const noexcept;

 private:
  struct Block;
  struct Scratch;
  struct Call;
  Int8Blocking blocking(const Int8Rows& rows, std::int64_t count, std::int64_t workers) const noexcept;
  std::int64_t pieces(const Int8Rows& rows, const Int8Blocking& blocking, std::int64_t workers) const noexcept;
  // By kernels that compute the epilogue themselves (int8_stream_common.cpp): whether they can, and a part of the columns of a block of
  // rows.
  struct Streaming {
    const Int8Rows& rows;
    const void* packed;
    const std::int32_t* start;   // null: all 0
    Int8EpilogueArgs epilogue;
    char* out;
  };
  struct StreamPart {
    std::int64_t block, blocks;       // of laid rows
    std::int64_t row, rows;           // of others
    std::int64_t group, first, last;  // columns of the group
    bool leads;                       // it is the first that reads these columns' weights
  };
  struct StreamBlocking;
  bool can_stream(const Int8Rows& rows) const noexcept;
  StreamBlocking stream_blocking(const Int8Rows& rows, std::int64_t count, bool has_residual, std::int64_t workers) const noexcept;
  void stream_part(const Streaming& call, const StreamPart& part, char* scratch) const noexcept;
  void stream(const Streaming& call, std::int64_t count, const RunArgs& args) const noexcept;
  Int8Ahead ahead(const void* packed, const Block& block, std::int64_t sharers) const noexcept;
  void run_block(const Call& call, const Block& block, Scratch& s, void* scratch) const noexcept;
  bool few_steps(const Call& call, const Block& block, const Scratch& s) const noexcept;
  void multiply_taps(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept;
  std::int64_t direct_rows(const Int8Rows& rows, std::int64_t group, std::int64_t row, std::int64_t count, const char*& first,
                           std::int64_t& stride) const noexcept;
  void multiply(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept;
  void multiply_laid(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept;
  void apply_laid_epilogue(const Call& call, const Block& block, std::int64_t width, Scratch& s, void* scratch) const noexcept;
  void correct_rests(const Call& call, const Block& block, std::int64_t width, Scratch& s) const noexcept;
};

// The zero point operand `input` of a run, 0 if it is left out.
std::int32_t int8_zero_point(const RunArgs& args, int input, DType dtype) noexcept;

}  // namespace tenfold::backends::cpu
