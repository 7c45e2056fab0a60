// What no shapes would mend is a Fault in every operator: only what contradicts shapes may be put off in a branch of an If.
#include <gtest/gtest.h>

#include "ir/fault.h"
#include "ops/cases.h"
#include "ops/expect_case_for_tests.h"
#include "ops/interpret.h"

namespace tenfold::ops {
namespace {

// Adds the node; whatever inference has against it has to be a Fault, or something Tenfold cannot do.
void expect_fault_or_fine(const ir::OpDef& op, const Case& c, const std::string& what) {
  try {
    case_graph(ir::Registry::builtin(), op, c);
  } catch (const ir::Fault&) {
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported) << what << ": " << e.what();
  }
}

Tensor of_type(const Tensor& like, DType type) {
  if (type == DType::string) return Tensor::strings(like.shape(), std::vector<std::string>(static_cast<std::size_t>(like.size())));
  return random_tensor(type, like.shape(), 1);
}

TEST(Fault, AnOperandOfAnotherTypeIsOne) {
  int tried = 0;
  for (const ir::OpDef* op : ir::Registry::builtin().all()) {
    for (const std::string& problem : op->cases) {
      const Case good = parse_case(*op, problem);
      for (std::size_t i = 0; i < good.operands.size(); ++i) {
        for (DType type : {DType::string, DType::boolean, DType::i64, DType::f32}) {
          if (good.operands[i].missing || good.operands[i].data.dtype() == type) continue;
          Case bad = good;
          bad.operands[i].data = of_type(good.operands[i].data, type);
          bad.operands[i].constant = false;   // its elements mean nothing now
          expect_fault_or_fine(*op, bad, cat(op->name, " ", problem, " with operand ", i, " as ", name(type)));
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 1000);
}

// What would mend each: other shapes, nothing, an engine that does more, other values of the run.
TEST(Fault, EachRefusalHasItsName) {
  const struct { const char *op, *problem, *part, *refusal; } cases[] = {
      {"Transpose", "f32[2,3] perm=[0,2]", "perm has 2, the input has rank 2", "need"},
      {"Transpose", "f32[2,3] perm=[0,0]", "perm has 0 twice", "sound"},
      {"GroupNormalization", "f32[2,6,4] f32[6] f32[6] num_groups=4", "6 channels do not divide into 4 groups", "need"},
      {"GroupNormalization", "f32[2,6,4] f32[6] f32[6] num_groups=-2", "num_groups is -2", "sound"},
      {"Range", "f32[]{0} f32[]{4} f32[]{0}", "delta is 0", "need"},
      {"DeformConv", "f32[1,3,2,2] f32[1,3,1,1] f32[1,4,2,2] offset_group=2", "3 channels do not divide into 2 offset groups", "need"},
      {"DeformConv", "f32[1,3,2] f32[1,3,1] f32[1,2,2]", "two are supported", "supported"},
      {"QuantizeLinear", "f32[2] f32[]{1} output_dtype=\"f8e8m0\" saturate=0", "without saturation", "supported"},
      {"ScatterND", "string[2]{\"a\",\"b\"} i64[1,1]{0} string[1]{\"c\"} reduction=\"add\"", "strings cannot be reduced", "sound"},
      {"Gather", "f32[2]{1,2} i64[1]{2}", "Gather node '", "run"},
      {"RotaryEmbedding", "f32[1,2,2,4]! f32[3,2]! f32[3,2]! i64[1,2]{0,3}", "position 3 is outside a table of 3", "run"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(cat(c.op, " ", c.problem));
    try {
      const ir::OpDef& op = ir::Registry::builtin().get(c.op);
      run_graph(case_graph(ir::Registry::builtin(), op, parse_case(op, c.problem)), {});
      ADD_FAILURE() << "is not refused";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(c.part), std::string::npos) << e.what();
      EXPECT_EQ(refusal_of(e), c.refusal) << e.what();
    }
  }
}

TEST(Fault, AWordThatAnAttributeDoesNotKnowIsOne) {
  int tried = 0;
  for (const ir::OpDef* op : ir::Registry::builtin().all()) {
    for (const std::string& problem : op->cases) {
      const Case good = parse_case(*op, problem);
      for (const auto& [key, value] : op->attributes) {
        if (!std::holds_alternative<std::string>(value)) continue;
        Case bad = good;
        bad.attributes.set(key, std::string("frobnicate"));
        expect_fault_or_fine(*op, bad, cat(op->name, " ", problem, " with ", key, "=frobnicate"));
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 50);
}

}  // namespace
}  // namespace tenfold::ops
