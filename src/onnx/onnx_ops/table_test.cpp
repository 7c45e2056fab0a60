// The table of ONNX operators: what stands in it once, and which form of an operator an opset gets.
#include <gtest/gtest.h>

#include <set>

#include "onnx_ops/table.h"

namespace tenfold::onnx_ops {
namespace {

TEST(OnnxTable, FormsAreToldInOnePlace) {
  std::set<std::string> graph;   // names of ai.onnx that operators of the graph have themselves
  for (const OpDef* def : Registry::builtin().all())
    if (def->onnx_since > 0) graph.insert(def->onnx_name);
  for (const OnnxOp& op : builtin()) {
    EXPECT_FALSE(op.domain.empty() && graph.contains(op.name)) << op.name << " has a file and a number in its OpDef";
    EXPECT_FALSE(op.forms.empty()) << op.name;
    std::set<int> opsets;
    bool own = false;
    for (const OnnxForm& form : op.forms) {
      EXPECT_TRUE(opsets.insert(form.since).second) << op.name << " has two forms of opset " << form.since;
      const bool plain = !form.convert && !form.definition;
      EXPECT_TRUE(!plain || Registry::builtin().find(op.name)) << op.name << " is no operator of the graph";
      own |= !plain;
    }
    EXPECT_TRUE(own) << op.name << " needs no file: onnx_since of its OpDef tells as much";
  }
}

TEST(OnnxTable, DomainsMayHaveOneName) {
  const Registry& registry = Registry::builtin();
  const auto ours = find(registry, "", "Attention", 23), other = find(registry, "com.microsoft", "Attention", 1);
  ASSERT_TRUE(ours && other);
  EXPECT_NE(ours->form.convert, other->form.convert);
  EXPECT_FALSE(find(registry, "ai.onnx.ml", "Attention", 1));
}

TEST(OnnxTable, AnOpsetGetsTheLastFormBeforeIt) {
  const Registry& registry = Registry::builtin();
  EXPECT_EQ(find(registry, "", "Split", 12)->form.since, 1);
  EXPECT_EQ(find(registry, "", "Split", 17)->form.since, 13);
  EXPECT_EQ(find(registry, "", "Split", 21)->form.since, 18);
  EXPECT_FALSE(find(registry, "", "Gelu", 19));
  EXPECT_EQ(find(registry, "", "Gelu", 20)->def, registry.find("Gelu"));
}

// As plug-ins do: a registry's own form of a name stands before a file's of the same opset, and a newer one of a file before it.
TEST(OnnxTable, ARegistryAddsToIt) {
  Registry registry;
  for (const OpDef* def : Registry::builtin().all()) registry.add(*def);
  const auto infer = [](InferCall& call) { call.out(0, call.dtype(0), call.dims(0)); };
  registry.add({.name = "any.Snake", .infer = infer, .onnx_since = 1, .onnx_domain = kAnyDomain, .onnx_name = "Snake"});
  registry.add({.name = "com.microsoft.QuickGelu",
                .infer = infer,
                .onnx_since = 1,
                .onnx_domain = "com.microsoft",
                .onnx_name = "QuickGelu"});
  EXPECT_TRUE(find(registry, kAnyDomain, "Snake", 1)->any_domain);
  EXPECT_FALSE(find(registry, "com.acme", "Snake", 1));
  EXPECT_EQ(find(registry, "com.microsoft", "QuickGelu", 1)->def->name, "com.microsoft.QuickGelu");
  EXPECT_FALSE(find(Registry::builtin(), "com.microsoft", "QuickGelu", 1)->def);
}

TEST(OnnxTable, KnowsEachNameOnceWithItsFirstOpset) {
  const std::vector<Known> all = known(Registry::builtin());
  std::set<std::pair<std::string, std::string>> names;
  for (const Known& k : all) EXPECT_TRUE(names.insert({k.domain, k.name}).second) << k.name;
  const auto since = [&](const char* domain, const char* name) {
    for (const Known& k : all)
      if (k.domain == domain && k.name == name) return k.since;
    return 0;
  };
  EXPECT_EQ(since("", "Softsign"), 1);
  EXPECT_EQ(since("", "Upsample"), 1);
  EXPECT_EQ(since("com.microsoft", "QGemm"), 1);
  EXPECT_EQ(since("", "RandomFill"), 0);   // the graph's alone
}

TEST(OnnxTable, AFolderStandsForADomain) {
  EXPECT_EQ(in_folder("ml", {.name = "A"}).domain, "ai.onnx.ml");
  EXPECT_THROW(in_folder("elsewhere", {.name = "A"}), Error);
}

}  // namespace
}  // namespace tenfold::onnx_ops
