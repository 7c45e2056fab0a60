// OpTraits: what code that is to know no operator by name asks of one. A rule or a tactic may know names; the tuner, the builder, plans and
// what backends share read these.
#pragma once

#include <cstdint>

namespace tenfold::ir {

// How an operator moves elements, where that is all it does: its results are copies of elements of its first operand.
enum class Movement : std::uint8_t {
  none,       // it computes
  other,      // as data or several extents say
  identity,
  reshape,    // the same bytes under another shape
  transpose,
  expand,     // by broadcasting
  slice,
  split,
  concat,     // of all its operands
};

enum class Control : std::uint8_t { none, branch, loop, scan };   // If, Loop, Scan

enum class GemmKind : std::uint8_t { none, matrix, convolution };  // of operand 0 with operand 1, the weights

// What a reduction makes of many elements. Global poolings are such, too.
enum class ReductionKind : std::uint8_t { none, sum, mean, max, min, absolutes, squares, norm, other };

// Which of the user's permissions (ir/numerics.h) mean something to an operator.
struct Permission {
  bool rounding = false;   // it has tactics that round f32, or fusion makes it of such
  bool convolves = false;  // the permission for convolutions counts, and not that for GEMMs
  bool winograd = false, strassen = false, fast_exp = false;
};

// An operand that says where packed sentences begin: i32 [sentences + 1], rising to the extent of dim `dim` of operand 0.
struct Offsets {
  int operand = -1, dim = 0;
};

struct OpTraits {
  Movement movement = Movement::none;
  Control control = Control::none;
  GemmKind gemm_kind = GemmKind::none;
  ReductionKind reduction = ReductionKind::none;
  Permission permission = {};
  Offsets offsets = {};
  int steps = -1;             // the operand whose integers are steps along axes, which are never 0
  int axes = -1;              // the operand whose integers are axes, each once
  bool region = false;        // Region alone: its body is all of its meaning, and its operands are the body's
  bool anchor = false;        // rules give it an epilogue
  bool accumulates = false;   // gives sums of 8-bit products, in a wider type
  bool narrows = false;       // computes on operands of 16 bits what it computes on f32; pointwise operators do without saying so
  bool strided = false;       // its kernels read slices in place
  bool autotuned = false;     // the tuner times its decomposition, too, and takes the faster (tune/choice/unfuse.h)
};

}  // namespace tenfold::ir
