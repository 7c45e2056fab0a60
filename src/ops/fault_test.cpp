// What no shapes would mend is a Fault in every operator: only what contradicts shapes may be put off in a branch of an If.
#include <gtest/gtest.h>

#include "ir/fault.h"
#include "ops/cases.h"

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
