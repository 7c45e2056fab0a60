// Every pass's picture is run: `before:` must become `after:`, `kept:` must stay as it is, and the rewritten graph must compute what
// the original does, on random data, by the reference kernels. A pass without a picture fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "ir/text.h"
#include "passes/pipeline.h"
#include "passes/precision/numerics.h"
#include "pictures.h"

namespace tenfold {
namespace {

using tests::expect_same_meaning, tests::parse_picture, tests::Picture, tests::pictures_of, tests::results;

// Writes a graph from its outputs inwards: free of names and of the order of independent nodes.
class Structure {
 public:
  explicit Structure(const ir::Graph& graph) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) seen_[graph.inputs[i]] = cat("input", i);
    for (const ir::Value* v : graph.outputs) {
      const std::string name = value(v);
      text_ += cat("return ", name, " ", ir::text(v->type), "\n");
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string value(const ir::Value* v) {
    if (!v) return "_";
    if (v->is_constant()) return constant(v->constant->tensor);
    if (const auto it = seen_.find(v); it != seen_.end()) return it->second;
    const ir::Node& node = *v->producer;
    std::string operands;
    for (const ir::Value* input : node.inputs) operands += " " + value(input);
    for (const ir::Value* output : node.outputs) seen_[output] = cat("v", seen_.size());
    text_ += cat(seen_[v], " = ", node.op(), operands, " ", ir::text(node.attributes), node.body ? " " + ir::text(*node.body) : "", "\n");
    return seen_[v];
  }

  // Values that a picture writes out (few binary digits, or indices) count; random ones only by their type.
  static std::string constant(const Tensor& t) {
    std::string values;
    for (std::int64_t i = 0; i < t.size(); ++i) {
      const double x = t.as_double(i) * 1024;
      if (t.size() > 16 || bits(t.dtype()) < 32 || x != std::floor(x))
        return cat("constant ", name(t.dtype()), "[", tenfold::text(t.shape()), "]");
      values += cat(i ? "," : "", t.as_double(i));
    }
    return cat("constant ", name(t.dtype()), "[", tenfold::text(t.shape()), "]{", values, "}");
  }

  std::map<const ir::Value*, std::string> seen_;
  std::string text_;
};

void check_pass(const passes::Pass& pass, double tolerance = 1e-5) {
  SCOPED_TRACE(pass.name);
  const std::filesystem::path rules = std::filesystem::path(TENFOLD_SOURCE_DIR) / "src/compiler/passes/rules";
  const std::vector<Picture> pictures = pictures_of(rules / (pass.name + ".cpp"));
  EXPECT_FALSE(pictures.empty() || pictures.front().after.empty()) << "its file opens without a before: and after: picture";
  for (const Picture& picture : pictures) {
    ir::Graph graph = parse_picture(picture.before);
    const std::string original = Structure(graph).text();
    const std::vector<Tensor> before = results(graph);
    passes::run(graph, {pass});
    const std::string expected = picture.after.empty() ? original : Structure(parse_picture(picture.after)).text();
    EXPECT_EQ(Structure(graph).text(), expected);
    if (!picture.after.empty()) {
      EXPECT_NE(original, expected) << "the picture shows no change";
    }
    expect_same_meaning(before, results(graph), tolerance);
  }
}

TEST(Pictures, OfEveryPassHold) {
  ASSERT_GE(passes::all_passes().size(), 10u);
  for (const passes::Pass& pass : passes::all_passes())
    if (pass.name == "remove_qdq") check_pass(pass, 0.1);   // drops a rounding to steps of 0.05
    else if (pass.name.starts_with("quantize_rows") || pass.name.ends_with("_to_float8") || pass.name == "fuse_float8_attention")
      check_pass(pass, 0.05);   // rounds
    else check_pass(pass);
}

bool needs_permission(const ir::Node& n) {
  static constexpr std::string_view kOps[] = {"MatMul", "Conv", "ConvTranspose", "ConvMaxPool", "FusedAttention", "GemmLayerNorm",
                                              "ExpandDepthwise", "Softmax", "LogSoftmax"};
  return std::find(std::begin(kOps), std::end(kOps), n.op()) != std::end(kOps);
}

// What may run once the user's leave stands at the nodes (passes/precision/numerics.h) hands it on: nothing is
// rounded more, or less, than before.
TEST(Pictures, KeepThePermissionToRound) {
  std::map<std::string, passes::Pass> all;
  for (const char* kind : {"cpu", "cuda"})
    for (const passes::Pass& pass : passes::pipeline_for({.kind = kind, .arch = 90}, {}).fuse) all.emplace(pass.name, pass);
  for (const char* name : {"defer_norms", "norm_at_reader", "sink_transpose", "transpose_gemms"})
    all.emplace(name, passes::find_pass(name));
  int anchors = 0;
  for (const auto& [name, pass] : all)
    for (const Picture& picture : pictures_of(std::filesystem::path(TENFOLD_SOURCE_DIR) / "src/compiler/passes/rules" / (name + ".cpp")))
      for (const ir::Rounding to : {ir::Rounding::tf32, ir::Rounding::none}) {
        if (name == "read_wide_images" && to == ir::Rounding::none) continue;   // writes down what a Cast that it takes in rounds anyway
        const bool algorithms = to != ir::Rounding::none;
        const ir::Numerics leave{to, algorithms, algorithms, algorithms};
        ir::Graph graph = parse_picture(picture.before);
        for (const auto& n : graph.nodes()) n->numerics = leave;
        passes::run(graph, {pass});
        for (const auto& n : graph.nodes())
          if (needs_permission(*n)) {
            ++anchors;
            EXPECT_EQ(ir::text(n->numerics), ir::text(leave)) << name << ": " << n->op() << " of\n" << picture.before;
          }
      }
  EXPECT_GT(anchors, 40);
}

constexpr const char* kEncoder = R"((x f32[2,9,32], q f32[32,32]!, k f32[32,32]!, v f32[32,32]!, o f32[32,32]!, b f32[32]!)
  heads = i64[4]{2,9,4,8}
  tokens = i64[3]{2,9,32}
  xq = MatMul(x, q)
  xk = MatMul(x, k)
  xv = MatMul(x, v)
  rq = Reshape(xq, heads)
  rk = Reshape(xk, heads)
  rv = Reshape(xv, heads)
  tq = Transpose(rq) perm=[0,2,1,3]
  tk = Transpose(rk) perm=[0,2,3,1]
  tv = Transpose(rv) perm=[0,2,1,3]
  s = MatMul(tq, tk)
  p = Softmax(s)
  e = Exp(p)
  a = MatMul(e, tv)
  ta = Transpose(a) perm=[0,2,1,3]
  ra = Reshape(ta, tokens)
  y = MatMul(ra, o)
  yb = Add(y, b)
  z = Add(yb, x)
  r = Relu(z)
  l = LogSoftmax(r) axis=1
)";
constexpr const char* kConvolutions =
    R"((x f32[1,3,16,16], w f32[8,3,3,3]!, v f32[8,8,3,3]!, g f32[8]!, h f32[8]!, m f32[8]!, t f32[8,4,2,2]!)
  d = f32[8]{1,1,1,1,1,1,1,1}
  c = Conv(x, w) pads=[1,1,1,1]
  n = BatchNormalization(c, g, h, m, d)
  r = Relu(n)
  e = Conv(r, v) pads=[1,1,1,1]
  f = Add(e, r)
  p = MaxPool(f) kernel_shape=[2,2] strides=[2,2]
  u = ConvTranspose(p, t) strides=[2,2]
  y = Softmax(u) axis=1
)";

// The leave that the flags give to what a node is; of Numerics, what no tactic asks this operator for is left out.
std::string needed_permission(const ir::Node& n) {
  ir::Numerics leave = n.numerics;
  leave.winograd &= n.op() == "Conv", leave.strassen &= n.op() == "MatMul", leave.fast_exp &= n.op().ends_with("Softmax");
  return needs_permission(n) ? ir::text(leave) : "";
}

// Whatever runs between quantization and the tuner: the user's leave stands at the same nodes as if it were written at the end.
int check_permission(const std::string& text, const BuildConfig& config, const backends::DeviceInfo& device) {
  ir::Graph graph = parse_picture(text);
  for (const auto& n : graph.nodes()) n->numerics.type.reset();   // of single layers, which no flag gives
  passes::run(graph, passes::pipeline_for(device, config).in_order());
  ir::Graph again = graph.clone();
  passes::run(again, {passes::pass_permit_rounding(config, backends::traits_of(device))});
  int permissions = 0;
  auto fresh_node = again.nodes().begin();
  for (const auto& node : graph.nodes()) {
    const ir::Node &n = *node, &fresh = **fresh_node++;
    EXPECT_EQ(needed_permission(n), needed_permission(fresh)) << n.op() << " on " << device.kind << " of\n"
                                                                    << text << ir::print(graph);
    const std::string given = needed_permission(fresh);  // 16 bits may be the types' own rounding, which a rule wrote down
    permissions += given.empty() || given == "round_to=f16" || given == "round_to=bf16" ? 0 : 1;
  }
  return permissions;
}

TEST(Pictures, EveryNodeKeepsTheUsersLeave) {
  const backends::DeviceInfo cpu{.kind = "cpu", .features = backends::kAvx2}, amx{.kind = "cpu", .features = ~0u},
      gpu{.kind = "cuda", .arch = 90};
  BuildConfig usual, exact, bf16;
  exact.tf32 = exact.winograd = exact.strassen = exact.fast_exp = false, bf16.bf16 = true;
  std::vector<std::string> texts{kEncoder, kConvolutions};
  for (const char* folder : {"src/compiler/passes/rules", "src/compiler/passes/precision"})
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(TENFOLD_SOURCE_DIR) / folder))
      for (const Picture& picture : pictures_of(file.path())) texts.push_back(picture.before);
  int permissions = 0;
  for (const std::string& text : texts) {
    for (const backends::DeviceInfo* device : {&cpu, &amx, &gpu}) {
      permissions += check_permission(text, usual, *device) + check_permission(text, bf16, *device);
      EXPECT_EQ(check_permission(text, exact, *device), 0) << "leave that nobody gave";
    }
  }
  EXPECT_GT(permissions, 300);
}

}  // namespace
}  // namespace tenfold
