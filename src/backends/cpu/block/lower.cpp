// Lowers a Body: every instruction becomes a loop of the kernel tables, 16-bit floats are computed as f32 and rounded where the body
// casts or gives them out, constants fold.
#include "backends/cpu/block/lower.h"

#include <cmath>
#include <cstring>

#include "backends/cpu/cpu_info.h"
#include "base/check.h"
#include "base/types/element.h"

namespace tenfold::backends::cpu {
namespace {

using ir::Prim;

static_assert(static_cast<int>(Op::reduce_min) == static_cast<int>(Prim::reduce_min) &&
                  static_cast<int>(Op::select) == static_cast<int>(Prim::select) &&
                  static_cast<int>(Op::add) == static_cast<int>(Prim::add) && static_cast<int>(Op::eq) == static_cast<int>(Prim::eq) &&
                  static_cast<int>(Op::neg) == static_cast<int>(Prim::neg) && static_cast<int>(Op::sin) == static_cast<int>(Prim::sin),
              "Op must list the primitives in the order of ir::Prim");

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }
bool has_lane(DType t) { return has_native_type(t) || is_half(t); }
LaneType lane_of(DType t) {
  switch (t) {
    case DType::f64: return LaneType::f64;
    case DType::i64: return LaneType::i64;
    case DType::i32: return LaneType::i32;
    case DType::i16: return LaneType::i16;
    case DType::i8: return LaneType::i8;
    case DType::u64: return LaneType::u64;
    case DType::u32: return LaneType::u32;
    case DType::u16: return LaneType::u16;
    case DType::u8:
    case DType::boolean: return LaneType::u8;
    default: return LaneType::f32;
  }
}
int bytes_of(DType t) { return bits(t) / 8; }
int lane_bytes(DType t) { return is_half(t) ? 4 : bytes_of(t); }
bool is_logical(Prim p) { return p == Prim::logical_and || p == Prim::logical_or || p == Prim::logical_xor || p == Prim::logical_not; }

PointwiseKernel find(const PointwiseTables& tables, LaneType lane, Op op) {
  const int o = static_cast<int>(op);
  if (lane == LaneType::f32 && tables.f32->op[o]) return tables.f32->op[o];
  return tables.lane->op[static_cast<int>(lane)][o];
}

class Lowering {
 public:
  Lowering(const ir::Body& body, const PointwiseTables& tables, bool first_wide) : body_(body), tables_(tables), first_wide_(first_wide) {}
  Lowered run() {
    const auto wide = [this](std::size_t i) { return i == 0 && first_wide_; };
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) out_.input_bytes.push_back(wide(i) ? 4 : bytes_of(body_.inputs[i]));
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) {
      const int v = static_cast<int>(i);
      value_.push_back(is_half(body_.inputs[i]) && !wide(i)
                           ? conversion(v, body_.inputs[i] == DType::f16 ? tables_.cast->half_to_f32 : tables_.cast->bf16_to_f32, 4)
                           : v);
    }
    for (const ir::Instr& instr : body_.code) value_.push_back(add(instr));
    for (std::uint16_t v : body_.outputs) {
      const DType t = body_.type_of(v);
      out_.output_bytes.push_back(bytes_of(t));
      out_.outputs.push_back(is_half(t) ? conversion(value_[v], t == DType::f16 ? tables_.cast->f32_to_half : tables_.f32_to_bf16, 2)
                                        : value_[v]);
    }
    return std::move(out_);
  }

 private:
  int append(Item item) {
    bool fold = item.op != Op::constant && item.kernel;
    for (int k = 0; k < item.arity; ++k) fold = fold && out_.is_constant(item.in[k]);
    if (fold) {  // the very loop that would run computes the constant
      PointwiseArg args[3] = {};
      for (int k = 0; k < item.arity; ++k) args[k] = {&out_.item(item.in[k]).bits, 0};
      std::uint64_t bits = 0;
      item.kernel(&bits, 1, args, 7, 1, 1);
      item = Item{.lane = item.lane, .bytes = item.bytes, .value = item.value, .bits = bits};
      if (item.lane == LaneType::f32 && item.bytes == 4) {
        float f;
        std::memcpy(&f, &bits, 4);
        item.value = f;
      }
    }
    out_.items.push_back(item);
    return out_.inputs() + static_cast<int>(out_.items.size()) - 1;
  }
  int conversion(int from, PointwiseKernel kernel, int bytes) {
    Item item{.op = Op::cast, .lane = LaneType::f32, .bytes = bytes, .arity = 1, .in = {from}, .kernel = kernel, .rounded = true};
    return append(item);
  }
  int round(int v, DType to) {
    if (!is_half(to)) return v;
    if (!out_.is_input(v)) out_.item(v).rounded = true;
    return conversion(v, to == DType::f16 ? tables_.cast->round_to_half : tables_.round_to_bf16, 4);
  }
  int constant(const ir::Instr& instr) {
    Item item{.lane = lane_of(instr.dtype), .bytes = lane_bytes(instr.dtype)};
    store_double(instr.dtype, &item.bits, 0, instr.imm);
    item.value = load_double(instr.dtype, &item.bits, 0);
    if (is_half(instr.dtype)) {
      item.bits = 0;
      store_double(DType::f32, &item.bits, 0, item.value);
    }
    return append(item);
  }
  int cast(int from, DType from_type, DType to) {
    const int f = static_cast<int>(lane_of(from_type)), t = static_cast<int>(lane_of(to));
    if (from_type == to) return from;
    if (to == DType::boolean) return simple(Op::cast, from_type, tables_.cast->to_boolean[f], 1, from);
    const int v = f == t ? from : simple(Op::cast, from_type, tables_.cast->cast[f][t], lane_bytes(to), from);
    return round(v, to);
  }
  int simple(Op op, DType operand_type, PointwiseKernel kernel, int bytes, int a) {
    Item item{.op = op, .lane = lane_of(operand_type), .bytes = bytes, .arity = 1, .in = {a}, .kernel = kernel};
    return append(item);
  }
  int add(const ir::Instr& instr) {
    if (instr.prim == Prim::constant) return constant(instr);
    const DType type = body_.type_of(instr.a);
    const int a = value_[instr.a];
    if (instr.prim == Prim::cast) return cast(a, type, instr.dtype);
    if (instr.prim == Prim::saturate)
      return simple(Op::saturate, type, tables_.cast->saturate[static_cast<int>(lane_of(type))][static_cast<int>(lane_of(instr.dtype))],
                    bytes_of(instr.dtype), a);
    Item item{.op = static_cast<Op>(instr.prim),
              .lane = lane_of(type),
              .bytes = lane_bytes(instr.dtype),
              .arity = ir::arity(instr.prim),
              .in = {a},
              .half = is_half(instr.dtype)};
    if (item.arity > 1) item.in[1] = value_[instr.b];
    if (item.arity > 2) item.in[2] = value_[instr.c];
    if (instr.prim == Prim::select) item.lane = lane_of(instr.dtype);
    if (ir::is_reduction(instr.prim))
      item.reduce = tables_.row->reduce[static_cast<int>(item.lane)][static_cast<int>(item.op) - static_cast<int>(Op::reduce_sum)];
    else
      item.kernel = find(tables_, item.lane, item.op);
    check(item.kernel || item.reduce, "no loop for ", ir::name(instr.prim), " of ", name(type));
    return append(item);
  }

  const ir::Body& body_;
  const PointwiseTables& tables_;
  const bool first_wide_;
  Lowered out_;
  std::vector<int> value_;  // of the body's values
};

std::string why_not_instr(const ir::Body& body, const ir::Instr& instr, const PointwiseTables& tables) {
  if (!has_lane(instr.dtype)) return cat("no lanes of type ", name(instr.dtype));
  if (instr.prim == Prim::constant || instr.prim == Prim::cast) return "";
  const DType type = body.type_of(instr.prim == Prim::select ? instr.b : instr.a);
  if (instr.prim == Prim::saturate) return is_integer(instr.dtype) ? "" : cat("saturate to ", name(instr.dtype));
  if (is_logical(instr.prim) && type != DType::boolean) return cat(ir::name(instr.prim), " of ", name(type));
  if (ir::is_reduction(instr.prim)) return type == DType::boolean && instr.prim == Prim::reduce_sum ? "a sum of booleans" : "";
  const bool arithmetic = (instr.prim <= Prim::atanh) ||
                          (instr.prim >= Prim::add && instr.prim <= Prim::fmod && instr.prim != Prim::min && instr.prim != Prim::max);
  if (type == DType::boolean && (arithmetic || instr.prim == Prim::shift_left || instr.prim == Prim::shift_right ||
                                 instr.prim == Prim::fma || instr.prim == Prim::bit_not))
    return cat(ir::name(instr.prim), " of booleans");
  if (!find(tables, lane_of(type), static_cast<Op>(instr.prim))) return cat("no loop for ", ir::name(instr.prim), " of ", name(type));
  return "";
}

}  // namespace

PointwiseTables PointwiseTables::of(std::uint32_t features) {
  PointwiseTables t{&tenfold_pointwise_f32_avx2, &tenfold_pointwise_lane_avx2, &tenfold_pointwise_cast_avx2, &tenfold_pointwise_row_avx2,
                    &tenfold_pointwise_quantize_avx2};
  if (features & kAvx512)
    t = {&tenfold_pointwise_f32_avx512, &tenfold_pointwise_lane_avx512, &tenfold_pointwise_cast_avx512, &tenfold_pointwise_row_avx512,
         &tenfold_pointwise_quantize_avx512};
  const bool rounds = has_bf16(features);
  t.bf16 = rounds ? &tenfold_pointwise_bf16_avx512bf16 : nullptr;
  t.f32_to_bf16 = rounds ? t.bf16->f32_to_bf16 : t.cast->f32_to_bf16;
  t.round_to_bf16 = rounds ? t.bf16->round_to_bf16 : t.cast->round_to_bf16;
  return t;
}

std::vector<int> Lowered::use_counts() const {
  std::vector<int> uses(input_bytes.size() + items.size());
  for (const Item& item : items)
    for (int k = 0; k < item.arity; ++k) ++uses[static_cast<std::size_t>(item.in[k])];
  for (int v : outputs) ++uses[static_cast<std::size_t>(v)];
  return uses;
}

void Lowered::sweep() {
  std::vector<bool> needed(input_bytes.size() + items.size());
  for (int v : outputs) needed[static_cast<std::size_t>(v)] = true;
  for (std::size_t i = items.size(); i-- > 0;)
    if (needed[input_bytes.size() + i])
      for (int k = 0; k < items[i].arity; ++k) needed[static_cast<std::size_t>(items[i].in[k])] = true;
  std::vector<int> map(needed.size());
  for (int v = 0; v < inputs(); ++v) map[static_cast<std::size_t>(v)] = v;
  std::vector<Item> kept;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!needed[input_bytes.size() + i]) continue;
    Item item = items[i];
    for (int k = 0; k < item.arity; ++k) item.in[k] = map[static_cast<std::size_t>(item.in[k])];
    map[input_bytes.size() + i] = inputs() + static_cast<int>(kept.size());
    kept.push_back(item);
  }
  items = std::move(kept);
  for (int& v : outputs) v = map[static_cast<std::size_t>(v)];
}

std::string why_not(const ir::Body& body) {
  const PointwiseTables tables = PointwiseTables::of(0);
  for (DType t : body.inputs)
    if (!has_lane(t)) return cat("no lanes of type ", name(t));
  for (const ir::Instr& instr : body.code)
    if (std::string why = why_not_instr(body, instr, tables); !why.empty()) return why;
  return "";
}

Lowered lower(const ir::Body& body, const PointwiseTables& tables, bool first_wide) {
  Lowered out = Lowering(ir::simplify(body), tables, first_wide).run();
  recognize(out, tables);
  fuse_pairs(out, tables);
  fuse_quantize(out, tables);
  fuse_bf16(out, tables);
  out.sweep();
  return out;
}

}  // namespace tenfold::backends::cpu
