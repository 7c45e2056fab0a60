// Runs a block program: binds values to memory once a tile, then walks the tile block by block.
#include "backends/cpu/block/executor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/cpu/block/program.h"
#include "base/check.h"

namespace tenfold::backends::cpu {
namespace {

// Where a value lies in this run: the address of block (r0, c0) is base + r0 * row_step + c0 * col_step.
struct Place {
  char* base;
  std::int64_t row_step, col_step;  // bytes
  std::int64_t row_stride;          // elements, within a block
  bool uniform;                     // one element a row
};

constexpr std::int64_t kShortRow = 48;   // less than three vectors: kernels take longer to begin a row than to run it

std::int64_t places_bytes(const BlockExecutor::Program& program) {
  return static_cast<std::int64_t>(program.values.size() * sizeof(Place));
}

class Run {
 public:
  Run(const BlockExecutor::Program& program, std::int64_t rows, std::int64_t cols, std::span<const TileOperand> in,
      std::span<const TileResult> out, void* scratch) noexcept
      : program_(program),
        in_(in),
        out_(out),
        rows_(rows),
        cols_(cols),
        slots_(static_cast<char*>(scratch)),
        places_(reinterpret_cast<Place*>(slots_ + program.slots_bytes)) {
    const bool flat = !program_.reduces && rows_ > 1 && is_flat();
    if (flat && repeats()) period_ = cols_;
    if (flat) {
      cols_ *= rows_;
      rows_ = 1;
    }
    block_cols_ = std::min(cols_, program_.block);
    if (period_ > 0) block_cols_ = std::min(cols_, program_.block / period_ * period_);
    block_rows_ = cols_ <= program_.block ? std::max<std::int64_t>(1, program_.block / std::max<std::int64_t>(1, cols_)) : 1;
    bind();
  }

  void all() noexcept {
    const bool in_passes = program_.reduces && cols_ > program_.block;
    for (r0_ = 0; r0_ < rows_; r0_ += nr_) {
      nr_ = std::min(block_rows_, rows_ - r0_);
      if (in_passes) {
        for (std::size_t p = 0; p < program_.phases.size(); ++p) columns(&program_.phases[p], p + 1 == program_.phases.size());
      } else {
        columns(nullptr, true);
      }
    }
  }

 private:
  // One long row: every operand goes on from row to row as it does from column to column, or begins again after a few columns.
  bool is_flat() const noexcept {
    for (const TileOperand& in : in_)
      if (in.col_stride == 0 ? in.row_stride != 0 : in.col_stride != 1 || (in.row_stride != cols_ && !repeats(in))) return false;
    for (const TileResult& out : out_)
      if (out.col_stride != 1 || out.row_stride != cols_) return false;
    return true;
  }

  // The same short row again and again (channels-last, few channels): rows of it side by side fill vectors.
  bool repeats(const TileOperand& in) const noexcept { return in.col_stride == 1 && in.row_stride == 0 && cols_ < kShortRow; }
  bool repeats() const noexcept {
    return std::any_of(in_.begin(), in_.end(), [&](const TileOperand& in) { return repeats(in); });
  }

  void bind() noexcept {
    std::uint32_t wide = 0;
    for (int v = 0; v < program_.inputs; ++v) {
      const TileOperand& in = in_[static_cast<std::size_t>(v)];
      const BlockValue& value = program_.values[static_cast<std::size_t>(v)];
      if (in.col_stride != 0) wide |= std::uint32_t{1} << v;
      if (in.col_stride == 0 || (in.col_stride == 1 && !side_by_side(in)))
        places_[v] = {static_cast<char*>(const_cast<void*>(in.data)), in.row_stride * value.bytes, in.col_stride * value.bytes,
                      in.row_stride, in.col_stride == 0};
      else
        places_[v] = {slots_ + value.slot, 0, 0, block_cols_, false};
      if (side_by_side(in)) repeat(places_[v].base, in.data, period_ * value.bytes, block_cols_ * value.bytes);
    }
    for (std::size_t v = static_cast<std::size_t>(program_.inputs); v < program_.values.size(); ++v) {
      const BlockValue& value = program_.values[v];
      const bool uniform = (value.support & wide) == 0;
      if (value.pool >= 0) {
        const char* pool = reinterpret_cast<const char*>(program_.pool.data());
        places_[v] = {const_cast<char*>(pool) + value.pool, 0, 0, 0, true};
      } else if (is_direct(value, uniform)) {
        const TileResult& out = out_[static_cast<std::size_t>(value.direct_output)];
        places_[v] = {static_cast<char*>(out.data), out.row_stride * value.bytes, value.bytes, out.row_stride, false};
      } else {
        places_[v] = {slots_ + value.slot, 0, 0, uniform ? 1 : block_cols_, uniform};
      }
    }
  }
  bool is_direct(const BlockValue& value, bool uniform) const noexcept {
    return value.direct_output >= 0 && !uniform && out_[static_cast<std::size_t>(value.direct_output)].col_stride == 1;
  }

  void columns(const std::vector<std::uint16_t>* phase, bool writes) noexcept {
    c0_ = 0;
    do {
      nc_ = std::min(block_cols_, cols_ - c0_);
      gather();
      if (phase)
        for (std::uint16_t s : *phase) step(program_.steps[s]);
      else
        for (const BlockStep& s : program_.steps) step(s);
      if (writes) write();
      c0_ += nc_;
    } while (c0_ < cols_);
  }

  void gather() noexcept {
    for (int v = 0; v < program_.inputs; ++v) {
      const TileOperand& in = in_[static_cast<std::size_t>(v)];
      if (in.col_stride == 0 || in.col_stride == 1) continue;
      const int bytes = program_.values[static_cast<std::size_t>(v)].bytes;
      const char* from = static_cast<const char*>(in.data) + (r0_ * in.row_stride + c0_ * in.col_stride) * bytes;
      program_.tables.row->gather[std::countr_zero(static_cast<unsigned>(bytes))](places_[v].base, block_cols_, from, in.row_stride,
                                                                                  in.col_stride, nr_, nc_);
    }
  }

  bool side_by_side(const TileOperand& in) const noexcept { return period_ > 0 && in.col_stride == 1 && in.row_stride == 0; }
  static void repeat(char* to, const void* from, std::int64_t period, std::int64_t bytes) noexcept {
    std::memcpy(to, from, static_cast<std::size_t>(std::min(period, bytes)));
    for (std::int64_t done = period; done < bytes; done *= 2)
      std::memcpy(to + done, to, static_cast<std::size_t>(std::min(done, bytes - done)));
  }

  char* at(const Place& place) const noexcept { return place.base + r0_ * place.row_step + c0_ * place.col_step; }

  void step(const BlockStep& step) noexcept {
    PointwiseArg args[3];
    unsigned uniform = 0;
    bool turned = true;  // uniform arguments that lie side by side: one row of them
    for (int k = 0; k < step.arity; ++k) {
      const Place& place = places_[step.in[k]];
      args[k] = {at(place), place.row_stride};
      uniform |= static_cast<unsigned>(place.uniform) << k;
      turned = turned && place.row_stride >= 0 && place.row_stride <= 1;
    }
    const Place& out = places_[step.out];
    if (step.reduce) return step.reduce(out.base, args[0], uniform, c0_ == 0, nr_, nc_);
    if (!out.uniform) return step.kernel(at(out), out.row_stride, args, uniform, nr_, nc_);
    if (!turned) return step.kernel(out.base, 1, args, uniform, nr_, 1);
    unsigned still = 0;
    for (int k = 0; k < step.arity; ++k) still |= static_cast<unsigned>(args[k].row_stride == 0) << k;
    step.kernel(out.base, nr_, args, still, 1, nr_);
  }

  void write() noexcept {
    for (std::size_t j = 0; j < out_.size(); ++j) {
      const int v = program_.outputs[j];
      const Place& from = places_[v];
      const TileResult& out = out_[j];
      const std::int64_t bytes = program_.output_bytes[j];
      const int log = std::countr_zero(static_cast<unsigned>(bytes));
      const BlockValue& value = program_.values[static_cast<std::size_t>(v)];
      if (value.direct_output == static_cast<int>(j) && is_direct(value, from.uniform)) continue;
      char* to = static_cast<char*>(out.data) + (r0_ * out.row_stride + c0_ * out.col_stride) * bytes;
      if (out.col_stride == 0) {
        const PointwiseArg arg{at(from), from.row_stride};
        if (c0_ == 0) program_.tables.cast->copy[log](to, out.row_stride, &arg, 1, nr_, 1);
      } else if (out.col_stride == 1) {
        const PointwiseArg arg{at(from), from.row_stride};
        program_.tables.cast->copy[log](to, out.row_stride, &arg, from.uniform, nr_, nc_);
      } else if (from.uniform) {
        spread(to, from, out, bytes);
      } else {
        program_.tables.row->scatter[log](to, out.row_stride, at(from), from.row_stride, out.col_stride, nr_, nc_);
      }
    }
  }
  // A value that is the same for a whole row, into strided columns.
  void spread(char* to, const Place& from, const TileResult& out, std::int64_t bytes) noexcept {
    for (std::int64_t r = 0; r < nr_; ++r)
      for (std::int64_t c = 0; c < nc_; ++c)
        __builtin_memcpy(to + (r * out.row_stride + c * out.col_stride) * bytes, at(from) + r * from.row_stride * bytes,
                         static_cast<std::size_t>(bytes));
  }

  const BlockExecutor::Program& program_;
  std::span<const TileOperand> in_;
  std::span<const TileResult> out_;
  std::int64_t rows_, cols_, block_rows_ = 1, block_cols_ = 1;
  std::int64_t period_ = 0;                                       // columns after which repeated rows begin again; 0: there are none
  std::int64_t r0_ = 0, c0_ = 0, nr_ = 0, nc_ = 0;  // the block at hand
  char* slots_;
  Place* places_;
};

}  // namespace

Verdict BlockExecutor::supports(const ir::Body& body) {
  if (body.inputs.size() > kMaxInputs) return Verdict::no(cat("a body of ", body.inputs.size(), " inputs, ", kMaxInputs, " are possible"));
  if (body.outputs.size() > kMaxOutputs)
    return Verdict::no(cat("a body of ", body.outputs.size(), " outputs, ", kMaxOutputs, " are possible"));
  if (body.value_count() > 4096) return Verdict::no("a body of more than 4096 values");
  std::string why = why_not(body);
  return why.empty() ? Verdict::ok() : Verdict::no("the block executor has " + why);
}

BlockExecutor::BlockExecutor(const ir::Body& body, std::uint32_t features, bool first_wide) {
  const Verdict verdict = supports(body);
  check(verdict.yes, verdict.reason);
  const PointwiseTables tables = PointwiseTables::of(features);
  program_ = std::make_unique<Program>(Program::make(lower(body, tables, first_wide), tables));
}
BlockExecutor::~BlockExecutor() = default;
BlockExecutor::BlockExecutor(BlockExecutor&&) noexcept = default;
BlockExecutor& BlockExecutor::operator=(BlockExecutor&&) noexcept = default;

int BlockExecutor::inputs() const noexcept { return program_->inputs; }
int BlockExecutor::outputs() const noexcept { return static_cast<int>(program_->outputs.size()); }
std::int64_t BlockExecutor::scratch_bytes() const noexcept { return (program_->slots_bytes + places_bytes(*program_) + 63) / 64 * 64; }

void BlockExecutor::run(std::int64_t rows, std::int64_t cols, std::span<const TileOperand> in, std::span<const TileResult> out,
                        void* scratch) const noexcept {
  if (rows <= 0 || (cols <= 0 && !program_->reduces)) return;
  Run(*program_, rows, cols, in, out, scratch).all();
}

}  // namespace tenfold::backends::cpu
