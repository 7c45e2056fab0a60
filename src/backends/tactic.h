// Tactic: one way to compute one problem on one kind of device. A value returned by a function named after its file.
//
// A tactic never sees the graph: it gets a Problem (types, layouts, attributes, numerics, epilogue), answers with a Verdict, offers
// configs to time, packs constant operands at build time, and runs. Everything it needs at run time is opened once at load.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/device_info.h"
#include "backends/layout.h"
#include "base/threads/parallel.h"
#include "ir/attributes.h"
#include "ir/body.h"
#include "ir/dim.h"
#include "ir/numerics.h"
#include "tenfold/error.h"

namespace tenfold::ir { struct OpDef; }

namespace tenfold::backends {

struct Opening;

// Arenas, weights and bindings that a backend stages lie at multiples of 64 bytes. Views into them need not even lie at multiples of this.
inline constexpr int kVectorBytes = 16;

struct OperandDesc {
  DType dtype = DType::f32;
  ir::Dims dims;
  Layout layout;
  bool missing = false;        // an optional operand that is left out
  bool constant = false;       // known at build time, so it may be packed
  bool dense = true;           // false: strided view; then `strides` holds element strides
  ir::Dims strides = {};
  bool misaligned = false;    // it may lie at no multiple of kVectorBytes: what a tactic needs for that is made when it is opened
};

// What has to be computed. in[0 .. anchor_inputs) are the operator's own operands; the rest feed the epilogue body's
// inputs 1, 2, ... (body input 0 is the anchor's raw result, of type body->inputs[0]). For op "Region" the body is the whole
// meaning and in[i] feeds body input i. Epilogue operands broadcast to the output as numpy does.
struct Problem {
  const ir::OpDef* op = nullptr;
  const ir::Attributes* attributes = nullptr;
  ir::Numerics numerics = {};
  const ir::Body* body = nullptr;        // null: none
  int anchor_inputs = 0;
  std::vector<OperandDesc> in, out;
  const ir::SymbolBounds* box = nullptr; // ranges of the symbols in dims; null: dims are constants
  const DeviceInfo* device = nullptr;
  std::int64_t workspace_limit = std::int64_t{1} << 40;

  ir::Interval bounds(ir::Dim d) const;  // of a dim over the box
  bool may_be_misaligned() const;               // an operand may lie at an misaligned address
  void let_be_misaligned(bool odd);             // all of them
  // The one text form: timing-cache key, bench input, log line, `inspect`.
  // "MatMul f32[8,512,768] f32[768,3072]! -> f32[8,512,3072] body=(f32,f32) %2=add.f32(%0,%1) -> %2"; `!` constant, `@cl` layout,
  // `@odd` that the address may be no multiple of kVectorBytes.
  std::string line() const;
};

// Yes, or the reason why not, in words that help a user: "axis is not the innermost one".
struct Verdict {
  bool yes = true;
  std::string reason;
  static Verdict ok() { return {}; }
  static Verdict no(std::string why) { return {false, std::move(why)}; }
  static Verdict only_if(bool condition, const char* why) { return condition ? Verdict{} : no(why); }
  explicit operator bool() const { return yes; }
};

using Config = std::vector<std::int64_t>;            // tactic-defined numbers: tile sizes, number of parts, ISA ...

// One combination of layouts a tactic accepts: one entry per operand of the problem.
struct Formats { std::vector<Layout> in, out; };

// A bound operand: shapes evaluated, address resolved. Strides in elements; for channels_blocked see layout.h.
struct Bound {
  void* data = nullptr;
  const std::int64_t* dims = nullptr;
  const std::int64_t* strides = nullptr;
  int rank = 0;
  template <class T> T* as() const { return static_cast<T*>(data); }
};
struct RunArgs {
  std::span<const Bound> in, out;
  void* workspace = nullptr;                         // as large as workspace() said, 64-byte aligned
  Parallel* parallel = nullptr;
  void* scratch = nullptr;                           // for each worker what worker_scratch() said, `scratch_stride` bytes apart
  std::int64_t scratch_stride = 0;
  template <class T = void> T* scratch_of(int worker) const {
    return static_cast<T*>(static_cast<void*>(static_cast<char*>(scratch) + worker * scratch_stride));
  }
  void* queue = nullptr;                             // device tactics: what the backend's own tactics launch on
};
// Bytes between the scratch of one worker and the next: their cache lines, which are fetched in pairs, stay apart.
constexpr std::int64_t scratch_stride(std::int64_t bytes) { return (bytes + 127) / 128 * 128; }

enum class Source : std::uint8_t { reference, native, onednn, cublas_lt, cudnn, plugin };
std::string_view name(Source source);

// An operator that a tactic computes.
struct TacticOp {
  std::string op;                                    // OpDef name; "*pointwise": all that have a scalar form, and Region; "*": any
  std::string name;                                  // of the tactic for this operator; empty: Tactic::name
  TacticOp(const char* any_op) : op(any_op) {}                                             // NOLINT: "Conv" is one
  TacticOp(std::string any_op, std::string own_name = "") : op(std::move(any_op)), name(std::move(own_name)) {}  // NOLINT
};

struct Tactic {
  std::string name;                                  // "matmul_packed", unique per backend
  int version = 1;                                   // changes when packing or config change their meaning
  // As a file writes it, all that it computes; in a backend's list one, whose name is then this tactic's: see by_operator().
  std::vector<TacticOp> ops;
  Source source = Source::native;
  // Rounds f32 more coarsely than summing in another order does: only for problems whose numerics allow tf32. Builder and plan see to that.
  bool rounds_f32 = false;
  // On a GPU: what run() enqueues may become a part of a CUDA graph, which is launched again without it.
  bool capturable = true;
  // Of several that can, the one to take where nothing is timed: it stands first.
  bool preferred = false;

  // Asked while building, and again for every step of a loaded plan: must not rely on constant values.
  Verdict (*supports)(const Problem&) = nullptr;
  // Configs worth timing, best guess first; at least one. Deterministic in the problem.
  std::vector<Config> (*configs)(const Problem&) = nullptr;
  // For a config read from a plan: is it one this tactic can run safely? Null: every config equal in length to configs()[0].
  Verdict (*valid)(const Problem&, const Config&) = nullptr;
  // Layout combinations it can run; null: everything plain.
  std::vector<Formats> (*formats)(const Problem&) = nullptr;
  ir::Dim (*workspace)(const Problem&, const Config&) = nullptr;        // bytes, a part of the arena; null: none
  // Bytes that each worker needs for itself while a part runs: a context has them once, for as many workers as it has. Null: none.
  ir::Dim (*worker_scratch)(const Problem&, const Config&) = nullptr;

  // Packing of constant operand `input`. packed_bytes < 0: the operand is used as it is. `constants[i]` is null where in[i] is
  // not constant; pack may look at its neighbors (zero points). unpack gives back what is multiplied: all bits, or rounded f32.
  std::int64_t (*packed_bytes)(const Problem&, const Config&, int input) = nullptr;
  void (*pack)(const Problem&, const Config&, int input, std::span<const Tensor* const> constants, void* packed) = nullptr;
  Tensor (*unpack)(const Problem&, const Config&, int input, const void* packed) = nullptr;

  // At load: parse attributes, choose function pointers and get machine code once. The object must stay immutable.
  std::shared_ptr<const void> (*open)(const Problem&, const Config&, Opening&) = nullptr;
  // No allocation, no lock, no exception. Results must not depend on how many workers `parallel` has.
  Status::Code (*run)(const void* kernel, const RunArgs&) noexcept = nullptr;

  // CPU features this config uses, beyond the backend's least; a plan is refused where they are missing. Null: none.
  std::uint32_t (*needs)(const Problem&, const Config&) = nullptr;
  // May output `out` share memory with input `in`? Null: no.
  bool (*may_alias)(const Problem&, int in, int out) = nullptr;
  // Roofline estimate in floating-point operations, for pruning; null: elements of the output.
  double (*work)(const Problem&) = nullptr;
  // Problems that tests of it need beyond the operators' own cases (OpDef::cases): several parts, long rows, tails, packed weights. Each
  // names its operator, "Softmax f32[37,1003](-30,30)", or is a graph of one node: "(x f32[3,70])\n y = Region(x) body={...}". Every
  // tactic of every backend is run on all of them.
  std::vector<const char*> cases = {};
  std::shared_ptr<const void> self = {};             // a plug-in's object

  bool computes(const ir::OpDef& op) const;
};

// A tactic for each operator of each of them, under the name that it has there, in the order of names. Plans, timing caches and users know
// these names, so that a family shares its code and yet a problem's candidates are told apart.
std::vector<Tactic> by_operator(const std::vector<Tactic>& families);

}  // namespace tenfold::backends
