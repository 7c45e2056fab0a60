// Declared element types: the form of a declaration, and that every operator refuses what it does not declare and takes what it does.
#include <gtest/gtest.h>

#include "base/types/element.h"
#include "ir/op_types.h"
#include "ir/signature.h"
#include "ops/cases.h"
#include "ops/interpret.h"

namespace tenfold::ops {
namespace {

using namespace ir;

constexpr int kTypes = static_cast<int>(DType::count_);

TEST(OpTypes, ReadADeclaration) {
  const OpTypes types("T, int, bool... -> T, i64; T: f32|i8");
  EXPECT_TRUE(types.operand(0)->types.has(DType::i8) && !types.operand(0)->types.has(DType::f64));
  EXPECT_EQ(types.operand(0)->letter, "T");
  EXPECT_TRUE(types.operand(1)->types.has(DType::u8) && types.operand(1)->letter.empty());
  EXPECT_TRUE(types.operand(7)->types.has(DType::boolean));
  EXPECT_EQ(types.result(2), nullptr);
  EXPECT_EQ(types.operand(1)->types.text(), "integers of 8 bits or more");
  EXPECT_EQ(types.operand(0)->types.text(), "f32 or i8");
  EXPECT_EQ(OpTypes("T?, int? -> T; T: any").operand(0)->letter, "T");
  EXPECT_FALSE(OpTypes().declared());
  EXPECT_TRUE(OpTypes("-> *").result(0)->free);
  for (const char* wrong : {"T, T", "T -> T; T", "T -> T; T: real32", "U -> U; T: any"}) EXPECT_THROW(OpTypes{wrong}, Error) << wrong;
}

// A number that may only fall: operators of which nothing is declared.
TEST(OpTypes, EveryOperatorDeclaresThem) {
  std::string without;
  for (const OpDef* def : Registry::builtin().all())
    if (!def->types.declared()) without += def->name + " ";
  EXPECT_EQ(without, "");
}

TEST(OpTypes, CoverAllOperandsAndResults) {
  for (const OpDef* def : Registry::builtin().all()) {
    const OpTypes& types = def->types;
    for (int i = 0; i < (def->max_inputs < 0 ? 9 : def->max_inputs); ++i) EXPECT_TRUE(types.operand(i)) << def->name << ", operand " << i;
    for (int i = 0; i < (def->max_outputs < 0 ? 9 : def->max_outputs); ++i) EXPECT_TRUE(types.result(i)) << def->name << ", result " << i;
    EXPECT_FALSE(def->max_inputs >= 0 && types.operand(def->max_inputs)) << def->name;
    EXPECT_FALSE(def->max_outputs >= 0 && types.result(def->max_outputs)) << def->name;
  }
}

// The node of a case; operand `changed` is an input of the type given, with the same extents.
void make(const OpDef& def, const Case& c, int changed, DType type) {
  Graph graph(Registry::builtin());
  std::vector<Value*> operands;
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    const Tensor& data = c.operands[i].data;
    if (c.operands[i].missing) operands.push_back(nullptr);
    else if (static_cast<int>(i) == changed) operands.push_back(graph.add_input(cat("x", i), {.tensor = {type, to_dims(data.shape())}}));
    else operands.push_back(graph.add_constant(data, cat("x", i)));
  }
  Node node;
  node.def = &def, node.name = "node", node.inputs = std::move(operands), node.attributes = c.attributes, node.numerics = c.numerics;
  graph.add(std::move(node), c.outputs);
}

void expect_refused(const OpDef& def, const Case& c, int i, DType type) {
  try {
    make(def, c, i, type);
    ADD_FAILURE() << def.name << " takes " << name(type) << " as operand " << i;
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_TRUE(dynamic_cast<const Fault*>(&e) || (type == DType::string && e.kind() == ErrorKind::unsupported)) << message;
    for (const std::string& part : {cat("operand ", i, " ('x", i, "') of ", def.name), cat(" is ", name(type)), std::string("expected ")})
      EXPECT_NE(message.find(part), std::string::npos) << message << ", without " << part;
  }
}

// Each operand of each case with each type that is not declared, and with each that is where another operand has its letter.
TEST(OpTypes, WhatIsNotDeclaredIsRefusedByName) {
  int refused = 0;
  for (const OpDef* def : Registry::builtin().all()) {
    if (def->cases.empty()) continue;
    const Case c = parse_case(*def, def->cases.front());
    for (int i = 0; i < static_cast<int>(c.operands.size()); ++i) {
      const OpTypes::Slot& slot = *def->types.operand(i);
      if (c.operands[static_cast<std::size_t>(i)].missing || slot.free) continue;
      const DType own = c.operands[static_cast<std::size_t>(i)].data.dtype();
      const auto shares = [&](int before) {
        return !c.operands[static_cast<std::size_t>(before)].missing && !slot.letter.empty() &&
               def->types.operand(before)->letter == slot.letter;
      };
      bool shared = false;
      for (int before = 0; before < i; ++before) shared |= shares(before);
      for (int t = 0; t < kTypes; ++t) {
        const auto type = static_cast<DType>(t);
        if (slot.types.has(type) && !(shared && type != own)) continue;
        expect_refused(*def, c, i, type);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 1000);
}

// Each operand of each case left out: one that the operator needs is named, and without another one nothing of ours goes wrong.
TEST(OpTypes, WhatIsMissingIsNamed) {
  int refused = 0;
  for (const OpDef* def : Registry::builtin().all())
    for (const std::string& text : def->cases) {
      const Case given = parse_case(*def, text);
      for (int i = 0; i < static_cast<int>(given.operands.size()); ++i) {
        Case c = given;
        c.operands[static_cast<std::size_t>(i)].missing = true;
        const bool needed = is_required(*def, i);
        EXPECT_FALSE(needed && given.operands[static_cast<std::size_t>(i)].missing) << def->name << " " << text;
        try {
          make(*def, c, -1, DType::f32);
          EXPECT_FALSE(needed) << def->name << " " << text << ", operand " << i;
        } catch (const Error& e) {
          EXPECT_NE(e.kind(), ErrorKind::internal) << e.what();
          const std::string expected = cat("operand ", i, " of ", def->name, " is missing");
          EXPECT_TRUE(!needed || std::string(e.what()).find(expected) != std::string::npos) << e.what();
          refused += needed;
        }
      }
    }
  EXPECT_GT(refused, 1000);
}

Tensor converted_to(DType type, const Tensor& from) {
  if (type == DType::string) return Tensor::strings(from.shape(), std::vector<std::string>(static_cast<std::size_t>(from.size()), "a"));
  Tensor to(type, from.shape());
  for (std::int64_t i = 0; i < from.size(); ++i) {
    if (is_float(type)) store_double(type, to.mutable_raw(), i, from.as_double(i));
    else store_int(type, to.mutable_raw(), i, static_cast<std::int64_t>(from.as_double(i)));
  }
  return to;
}

// What is declared is computed: the first case with each type of each letter.
TEST(OpTypes, WhatIsDeclaredIsComputed) {
  for (const OpDef* def : Registry::builtin().all()) {
    if (def->cases.empty() || !def->reference) continue;
    const Case given = parse_case(*def, def->cases.front());
    for (int first = 0; first < static_cast<int>(given.operands.size()); ++first) {
      const OpTypes::Slot& slot = *def->types.operand(first);
      if (slot.letter.empty()) continue;
      for (int t = 0; t < kTypes; ++t) {
        const auto type = static_cast<DType>(t);
        if (!slot.types.has(type)) continue;
        Case c = given;
        for (int i = 0; i < static_cast<int>(c.operands.size()); ++i) {
          CaseOperand& operand = c.operands[static_cast<std::size_t>(i)];
          if (!operand.missing && def->types.operand(i)->letter == slot.letter) operand.data = converted_to(type, operand.data);
        }
        try {
          const Graph graph = case_graph(Registry::builtin(), *def, c);
          std::vector<Tensor> inputs;
          for (const CaseOperand& operand : c.operands)
            if (!operand.missing && !operand.constant) inputs.push_back(operand.data);
          run_graph(graph, {inputs.begin(), inputs.end()});
        } catch (const std::exception& e) {
          ADD_FAILURE() << def->name << " of " << name(type) << ": " << e.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenfold::ops
