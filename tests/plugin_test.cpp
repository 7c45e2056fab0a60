// Plug-ins: an operator from outside through building, tuning, saving, loading and refitting.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "mirror_plugin.h"
#include "plan/write.h"
#include "runtime/engine/opened.h"

namespace tenfold {
namespace {

using tests::expect_right;
using tests::Mirror;
using tests::with;

Engine make(const std::shared_ptr<const Plugins>& plugins, bool refittable = false) {
  BuildConfig config;
  config.plugins = plugins, config.optimization_level = 1, config.refittable = refittable;
  config.profiles = {{{"x", {{1, 3}, {2, 3}, {4, 3}}}}};
  return builder::build_graph(tests::mirror_graph(*plugins), config);
}

TEST(Plugin, FastAndPlainKernelsAndAPlan) {
  for (const bool has_fast : {true, false}) {
    const auto op = std::make_shared<Mirror>(1, has_fast);
    const auto plugins = with(op);
    const Engine engine = make(plugins);
    op->runs = 0;
    expect_right(engine);
    EXPECT_EQ(op->runs > 0, has_fast);
    const std::string plan = plan::serialize(runtime::state_of(engine)->plan);
    expect_right(Engine::load(std::as_bytes(std::span(plan)), {.plugins = plugins}));
  }
}

void refused(const std::string& plan, const std::shared_ptr<const Plugins>& plugins, const char* part) {
  try {
    Engine::load(std::as_bytes(std::span(plan)), {.plugins = plugins});
    ADD_FAILURE() << "nothing was refused, expected: " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::plan_refused) << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(Plugin, LoadingNamesWhatIsMissing) {
  const std::string plan = plan::serialize(runtime::state_of(make(with(std::make_shared<Mirror>())))->plan);
  refused(plan, nullptr, "'test.Mirror', which a plug-in has to give");
  refused(plan, with(std::make_shared<Mirror>(2)), "plug-in 'test.Mirror' is version 2 here, version 1");
}

TEST(Plugin, TheEngineKeepsItAlive) {
  std::weak_ptr<const Mirror> seen;
  {
    auto op = std::make_shared<Mirror>();
    seen = op;
    const Engine engine = make(with(std::move(op)));
    EXPECT_FALSE(seen.expired());
    expect_right(engine);
  }
  EXPECT_TRUE(seen.expired());
}

TEST(Plugin, RefitAndRetuneGoOn) {
  const auto plugins = with(std::make_shared<Mirror>());
  const Engine engine = make(plugins, true);
  ASSERT_EQ(engine.refittable_weights().size(), 1u);
  const Engine zero = engine.refit({{"w", Tensor(DType::f32, {6, 2})}});
  EXPECT_EQ(zero.create_context()->run({ops::random_tensor(DType::f32, {1, 3}, 5)})[0].as_double(0), 0);
  BuildConfig config;
  config.plugins = plugins;
  expect_right(retune(engine, config));
}

TEST(Plugin, Refusals) {
  Plugins plugins;
  plugins.add(std::make_shared<Mirror>());
  EXPECT_THROW(plugins.add(std::make_shared<Mirror>()), Error);
  EXPECT_THROW(plugins.add(nullptr), Error);
}

}  // namespace
}  // namespace tenfold
