// One thing about a node made wrong.
#include <limits>

#include "base/types/element.h"
#include "hostile_node.h"

namespace tenfold {
namespace {

namespace onnx = onnx_import::onnx;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();
// Sizes are small or beyond any memory: what could just be held takes long.
const std::int64_t kIntegers[] = {kMin, kMin + 1, -(std::int64_t{1} << 62), -(std::int64_t{1} << 31), -65, -3, -2, -1, 0, 1, 2, 3, 7, 65,
                                  std::int64_t{1} << 31, std::int64_t{1} << 62, kMax - 1, kMax};
const DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u8, DType::boolean,
                        DType::u64, DType::i4, DType::string};

class Mutation {
 public:
  Mutation(HostileNode& node, std::mt19937& random) : node_(node), random_(random) {}

  void apply() {
    using Change = void (Mutation::*)();
    static constexpr Change kChanges[] = {&Mutation::fewer_operands,  &Mutation::more_operands, &Mutation::leave_out,
                                          &Mutation::drop_attribute,  &Mutation::retype_attribute, &Mutation::extreme_attribute,
                                          &Mutation::extreme_attribute, &Mutation::odd_text,    &Mutation::other_rank,
                                          &Mutation::other_rank,      &Mutation::empty_operand, &Mutation::other_type,
                                          &Mutation::extreme_data,    &Mutation::extreme_data,  &Mutation::huge_dims,
                                          &Mutation::other_outputs,   &Mutation::other_opset,   &Mutation::turn_constant};
    (this->*kChanges[random_() % std::size(kChanges)])();
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  std::int64_t integer() { return kIntegers[below(std::size(kIntegers))]; }
  template <class... Args> void say(const Args&... args) { node_.mutation += cat(node_.mutation.empty() ? "" : "; ", args...); }
  HostileOperand* operand() {
    if (node_.operands.empty()) return nullptr;
    HostileOperand& o = node_.operands[below(node_.operands.size())];
    return o.missing ? nullptr : &o;
  }
  std::size_t number(const HostileOperand* o) const { return static_cast<std::size_t>(o - node_.operands.data()); }

  void fewer_operands() {
    node_.operands.resize(below(node_.operands.size() + 1));
    say("only ", node_.operands.size(), " operands");
  }
  void more_operands() {
    const std::size_t more = 1 + below(3);
    for (std::size_t i = 0; i < more; ++i)
      node_.operands.push_back({false, random_() % 2 == 0, ops::random_tensor(DType::f32, {2}, 1), {}});
    say(more, " more operands");
  }
  void leave_out() {
    if (HostileOperand* o = operand()) o->missing = true, say("operand ", number(o), " left out");
  }
  void drop_attribute() {
    if (node_.attributes.empty()) return;
    const std::size_t i = below(node_.attributes.size());
    say("without ", node_.attributes[i].name);
    node_.attributes.erase(node_.attributes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void retype_attribute() {
    if (node_.attributes.empty()) return;
    onnx::AttributeProto& a = node_.attributes[below(node_.attributes.size())];
    onnx::AttributeProto other;
    other.name = a.name, other.type = static_cast<std::int64_t>(below(15));   // with the fields that it had, or none
    if (random_() % 2) other.i = integer(), other.f = 1.0f, other.s = "a", other.ints = {1};
    say(a.name, " as type ", other.type);
    a = std::move(other);
  }
  void extreme_attribute() {
    if (node_.attributes.empty()) return;
    onnx::AttributeProto& a = node_.attributes[below(node_.attributes.size())];
    static const float kFloats[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e-30f, 3e9f, 3e38f};
    if (a.type == 2) a.i = integer(), say(a.name, "=", *a.i);
    if (a.type == 1) a.f = kFloats[below(std::size(kFloats))], say(a.name, "=", *a.f);
    if (a.type == 7) {
      if (random_() % 3 == 0) a.ints.assign(below(9), integer());
      else if (!a.ints.empty()) a.ints[below(a.ints.size())] = integer();
      say(a.name, "=", ir::text(ir::Attribute(a.ints)));
    }
    if (a.type == 6) a.floats.assign(below(9), kFloats[below(std::size(kFloats))]), say(a.name, " of ", a.floats.size(), " floats");
    if (a.type == 8) a.strings.assign(below(9), "\xff odd"), say(a.name, " of ", a.strings.size(), " odd strings");
  }
  void odd_text() {
    for (onnx::AttributeProto& a : node_.attributes)
      if (a.type == 3) {
        a.s = random_() % 2 ? std::string("no such word") : std::string("\0\xff(", 3);
        say(a.name, " odd");
      }
  }
  void other_rank() {
    HostileOperand* const o = operand();
    if (!o) return;
    Shape shape = o->data.shape();
    switch (random_() % 4) {
      case 0: shape.clear(); break;
      case 1: shape.insert(shape.begin(), 1); break;
      case 2: shape.push_back(2); break;
      default: if (!shape.empty()) shape.pop_back();
    }
    replace(*o, o->data.dtype(), shape, "operand ");
  }
  void empty_operand() {
    HostileOperand* const o = operand();
    if (!o || o->data.shape().empty()) return;
    Shape shape = o->data.shape();
    shape[below(shape.size())] = 0;
    replace(*o, o->data.dtype(), shape, "operand ");
  }
  void other_type() {
    if (HostileOperand* o = operand()) replace(*o, kTypes[below(std::size(kTypes))], o->data.shape(), "operand ");
  }
  void replace(HostileOperand& o, DType type, const Shape& shape, const char* what) {
    o.data = ops::random_tensor(type, shape, random_());
    say(what, number(&o), " is ", name(type), "[", text(shape), "]");
  }
  void extreme_data() {
    HostileOperand* const o = operand();
    if (!o || o->data.size() == 0 || o->data.dtype() == DType::string || o->data.size() > 64) return;
    o->data = o->data.clone();
    const std::int64_t value = integer(), only = static_cast<std::int64_t>(below(static_cast<std::size_t>(o->data.size())));
    const bool all = random_() % 3 == 0;
    for (std::int64_t i = 0; i < o->data.size(); ++i) {
      if (!all && i != only) continue;
      if (is_float(o->data.dtype())) store_double(o->data.dtype(), o->data.mutable_raw(), i, static_cast<double>(value));
      else store_int(o->data.dtype(), o->data.mutable_raw(), i, value);
    }
    say("operand ", number(o), all ? " is all " : " has ", value, o->constant ? ", constant" : "");
  }
  // Of an input, which no run gives then.
  void huge_dims() {
    HostileOperand* const o = operand();
    if (!o) return;
    static const char* const kDims[] = {"2147483648", "4611686018427387904", "9223372036854775807", "-1", "-9223372036854775808", "0", "n",
                                        ""};
    o->constant = false;
    o->declared.clear();
    for (const std::int64_t extent : o->data.shape()) o->declared.push_back(std::to_string(extent));
    if (o->declared.empty()) o->declared.push_back("1");
    o->declared[below(o->declared.size())] = kDims[below(std::size(kDims))];
    say("operand ", number(o), " has dim ", o->declared[0], "...");
  }
  void other_outputs() {
    node_.outputs = static_cast<int>(below(6));
    say(node_.outputs, " results");
  }
  void other_opset() {
    node_.opset = static_cast<int>(below(28));
    say("opset ", node_.opset);
  }
  void turn_constant() {
    if (HostileOperand* o = operand()) o->constant = !o->constant, say("operand ", number(o), o->constant ? " constant" : " an input");
  }

  HostileNode& node_;
  std::mt19937& random_;
};

}  // namespace

HostileNode mutated(const HostileNode& node, std::mt19937& random) {
  HostileNode bad = node;
  const int changes = 1 + static_cast<int>(random() % 5 == 0);
  for (int i = 0; i < changes; ++i) Mutation(bad, random).apply();
  return bad;
}

}  // namespace tenfold
