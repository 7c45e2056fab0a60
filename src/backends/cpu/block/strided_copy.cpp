// Strided copies as the widest thing the strides allow: rows of memory, transposes of blocks, or single elements.
#include "backends/cpu/block/strided_copy.h"

#include <bit>

#include "backends/cpu/block/space.h"
#include "base/checked.h"

namespace tenfold::backends::cpu {
namespace {

using std::int64_t;

constexpr int64_t kPart = 16 << 10;  // elements
constexpr int kTo = 0, kFrom = 1;

class Copy {
 public:
  Copy(const StridedCopy& how, Parallel& parallel, const Space& space, void* to, const void* from)
      : kernels_(*how.kernels),
        bytes_(how.element_bytes),
        log_(std::countr_zero(static_cast<unsigned>(how.element_bytes))),
        parallel_(parallel),
        space_(space),
        to_(static_cast<char*>(to)),
        from_(static_cast<const char*>(from)) {}

  void run() noexcept {
    const int last = space_.rank - 1;
    if (last < 0) return kernels_.copy_rows(to_, 0, from_, 0, 1, bytes_);
    const int64_t t = space_.stride[kTo][last], f = space_.stride[kFrom][last];
    if (t == 1 && f == 1) return rows(last);
    if (t == 1)
      for (int a = 0; a < last; ++a)
        if (space_.stride[kFrom][a] == 1) return transposes(a, last);
    elements(last);
  }

 private:
  template <class F>
  void parts(int64_t count, F&& f) noexcept {
    if (count == 1) return f(0);
    parallel_.for_each(count, [&](int64_t part, int) { f(part); });
  }
  char* to(int64_t element) const { return to_ + element * bytes_; }
  const char* from(int64_t element) const { return from_ + element * bytes_; }

  // Innermost runs are contiguous on both sides.
  void rows(int axes) noexcept {
    const int64_t count = space_.count(0, axes), cols = space_.extent[axes];
    const Parts grid(count, cols, kPart, false);
    parts(grid.count(), [&](int64_t part) {
      const int64_t r0 = part / grid.col_parts * grid.rows_per_part, r1 = std::min(count, r0 + grid.rows_per_part);
      const int64_t c0 = part % grid.col_parts * grid.cols_per_part, nc = std::min(cols - c0, grid.cols_per_part);
      space_.for_runs(axes, r0, r1, [&](const int64_t* offsets, int64_t n) {
        kernels_.copy_rows(to(offsets[kTo] + c0), space_.row_stride(kTo, axes) * bytes_, from(offsets[kFrom] + c0),
                           space_.row_stride(kFrom, axes) * bytes_, n, nc * bytes_);
      });
    });
  }

  // The source runs along axis `inner`, the target along `last`: blocks of both. Other axes are walked outside.
  void transposes(int inner, int last) noexcept {
    Space outer = space_;
    outer.extent[inner] = outer.extent[last] = 1;
    const int64_t outside = outer.count(0, outer.rank), across = space_.extent[inner], along = space_.extent[last];
    constexpr int64_t kAlong = 64;   // rows of the source: whole lines of the target, and few enough for the first cache
    const int64_t width = std::clamp<int64_t>(kPart / std::min(kAlong, along) / 16 * 16, 16, 16 * kAlong);
    const int64_t down = ceil_div(along, kAlong), blocks = ceil_div(across, width) * down;
    const int64_t several = blocks > 1 ? 1 : std::max<int64_t>(1, kPart / (across * along));   // small ones share a part
    parts(ceil_div(outside, several) * blocks, [&](int64_t part) {
      const int64_t l = part % down * kAlong, a = part % blocks / down * width, first = part / blocks * several;
      outer.for_runs(outer.rank, first, std::min(outside, first + several), [&](const int64_t* offsets, int64_t) {
        kernels_.transpose[log_](to(offsets[kTo] + a * space_.stride[kTo][inner] + l), space_.stride[kTo][inner],
                                 from(offsets[kFrom] + a + l * space_.stride[kFrom][last]), space_.stride[kFrom][last],
                                 std::min(kAlong, along - l), std::min(width, across - a));
      });
    });
  }

  void elements(int axes) noexcept {
    const int64_t count = space_.count(0, axes), cols = space_.extent[axes];
    const int64_t t = space_.stride[kTo][axes], f = space_.stride[kFrom][axes];
    const Parts grid(count, cols, kPart, false);
    parts(grid.count(), [&](int64_t part) {
      const int64_t r0 = part / grid.col_parts * grid.rows_per_part, r1 = std::min(count, r0 + grid.rows_per_part);
      const int64_t c0 = part % grid.col_parts * grid.cols_per_part, nc = std::min(cols - c0, grid.cols_per_part);
      space_.for_runs(axes, r0, r1, [&](const int64_t* offsets, int64_t n) {
        for (int64_t r = 0; r < n; ++r)
          kernels_.copy_strided[log_](to(offsets[kTo] + r * space_.row_stride(kTo, axes) + c0 * t), t,
                                      from(offsets[kFrom] + r * space_.row_stride(kFrom, axes) + c0 * f), f, nc);
      });
    });
  }

  const MoveKernels& kernels_;
  int64_t bytes_;
  int log_;
  Parallel& parallel_;
  const Space& space_;
  char* to_;
  const char* from_;
};

}  // namespace

void StridedCopy::run(Parallel& parallel, const int64_t* dims, int rank, void* to, const int64_t* to_strides, const void* from,
                      const int64_t* from_strides) const noexcept {
  Space space(dims, rank);
  space.operands = 2;
  std::copy(to_strides, to_strides + rank, space.stride[kTo]);
  std::copy(from_strides, from_strides + rank, space.stride[kFrom]);
  if (space.count(0, rank) == 0) return;
  space.merge(0, rank);  // first without reordering, so that extents of 1 do not decide
  space.order(kTo, 0, space.rank);
  space.merge(0, space.rank);
  Copy(*this, parallel, space, to, from).run();
}

}  // namespace tenfold::backends::cpu
