// Text encoders on packed tokens: as the padded graph run by the interpreter, for every way to write a mask; and what must not be packed.
#include <gtest/gtest.h>

#include <set>

#include "builder/builder.h"
#include "builder/open_built.h"
#include "ops/interpret.h"
#include "packed_encoder.h"
#include "runtime/device/far_backend_for_tests.h"

namespace tenfold::packed {
namespace {

void expect_as_padded(const std::string& text, PackTokens how, bool masked_rows_are_zero = false) {
  ASSERT_TRUE(packs(text, how)) << text;
  const ir::Graph graph = parse(text);
  const auto context = builder::build_graph(graph, config(how)).create_context();
  const auto padded = builder::build_graph(graph, config(PackTokens::no)).create_context();
  for (const Tensor& mask : masks()) {
    const Tensor ids = words(mask.shape());
    const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0));
    const Tensor got = context->run({ids, mask}).at(0), other = padded->run({ids, mask}).at(0);
    ASSERT_EQ(got.shape(), reference.shape());
    for (std::int64_t i = 0; i < reference.size(); ++i) {
      const bool hidden = masked_rows_are_zero && mask.as_double(i / reference.shape().back()) == 0;
      const bool empty = std::isnan(reference.as_double(i));   // -inf hides the whole sentence: packed it has no rows, and the mean 0
      const double expected = hidden || empty ? 0 : reference.as_double(i);
      EXPECT_EQ(std::isnan(other.as_double(i)), empty) << "padded, mask " << tenfold::text(mask.shape()) << ", element " << i;
      EXPECT_NEAR(got.as_double(i), expected, 1e-5) << "mask " << tenfold::text(mask.shape()) << ", element " << i;
    }
  }
}

TEST(PackedTokens, MeansUnderTheMaskAreEqual) {
  for (const std::string& mask : {kWhere, kTimes, kGathered}) expect_as_padded(encoder(mask, kMean), PackTokens::where_equal);
}

TEST(PackedTokens, RowsForEachTokenOnlyWithLeave) {
  const std::string text = encoder(kWhere, "    return h\n");
  EXPECT_FALSE(packs(text));
  expect_as_padded(text, PackTokens::with_zeros, true);
  // Who reads masked rows as they were must not find zeros there, also beside a result or the first token's row.
  EXPECT_FALSE(packs(encoder(kWhere, "    y = ReduceMean(h) axes=[1] keepdims=0\n    return h, y\n"), PackTokens::with_zeros));
}

TEST(PackedTokens, NotUnderOtherMasks) {
  EXPECT_FALSE(packs(encoder(kCausal, kMean)));
  EXPECT_FALSE(packs(encoder("    sm = Identity(sc)", kMean)));                       // masked tokens are seen
  EXPECT_FALSE(packs(encoder(kWhere, "    y = ReduceMean(h) axes=[1] keepdims=0\n    return y\n")));
  EXPECT_FALSE(packs(encoder(kWhere, kMean), PackTokens::no));
}

// Numbers other than 0 and 1 mean what they mean in the model, or are refused.
TEST(PackedTokens, OtherNumbersInTheMask) {
  const Tensor mask = numbers({2, 3}, {3, 1, 0, 1, 0, -2}), ids = words(mask.shape());
  const ir::Graph graph = parse(encoder(kWhere, kMean));
  const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0));
  const Tensor got = builder::build_graph(graph, config(PackTokens::where_equal)).create_context()->run({ids, mask}).at(0);
  for (std::int64_t i = 0; i < reference.size() / 2; ++i) EXPECT_NEAR(got.as_double(i), reference.as_double(i), 1e-5);
  const auto strict = builder::build_graph(parse(encoder(kTimes, kMean)), config(PackTokens::where_equal)).create_context();
  try {
    strict->run({ids, mask});
    FAIL() << "a mask of 3 was taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the attention mask holds 3 at [0, 0]"), std::string::npos) << e.what();
  }
}

// Encoders with masks of their own are each packed by theirs.
TEST(PackedTokens, TwoEncodersWithTwoMasks) {
  std::string text =
      "(x f32[2,3,8], m bool[2,3], n bool[2,3])\n"
      "heads = i64[4]{2,3,2,4}\nkeys = i64[4]{2,1,1,3}\nrows = i64[3]{2,3,8}\nzero = f32[]{0.0}\nlow = f32[]{-inf}\n";
  for (const std::string mask : {"m", "n"}) {
    for (const char* line : {"h_ = Reshape(x, heads)", "q_ = Transpose(h_) perm=[0,2,1,3]", "k_ = Reshape(_, keys)",
                             "a_ = Where(k_, zero, low)", "c_ = FusedAttention(q_, q_, q_, a_) scale=0.5",
                             "t_ = Transpose(c_) perm=[0,2,1,3]", "e_ = Reshape(t_, rows)", "y_ = MaskedMean(e_, _)"})
      for (const char* c = line;; ++c) {
        text += *c == '_' ? (c > line && std::isalpha(c[-1]) ? "_" + mask : mask) : std::string(1, *c ? *c : '\n');
        if (!*c) break;
      }
  }
  text += "return y_m, y_n\n";
  const ir::Graph graph = parse(text);
  BuildConfig c = config(PackTokens::where_equal);
  c.profiles.clear();
  std::string last;
  c.dump = [&](std::string_view, std::string_view now) { last = now; };
  const Engine engine = builder::build_graph(graph, c);
  std::size_t counts = 0;
  for (std::size_t at = 0; (at = last.find("= TokenPositions(", at)) != std::string::npos; ++at) ++counts;
  EXPECT_EQ(counts, 2u) << last;
  const Tensor x = ops::random_tensor(DType::f32, {2, 3, 8}, 3);
  const auto mask = [](std::initializer_list<int> values) {
    Tensor t(DType::boolean, {2, 3});
    std::copy(values.begin(), values.end(), static_cast<std::uint8_t*>(t.mutable_raw()));
    return t;
  };
  const std::vector<Tensor> inputs = {x, mask({1, 1, 0, 1, 0, 0}), mask({1, 1, 1, 0, 1, 1})};
  const std::vector<Tensor> got = engine.create_context()->run(inputs);
  const auto reference = ops::run_graph(graph, {inputs[0], inputs[1], inputs[2]});
  for (std::size_t o = 0; o < 2; ++o)
    for (std::int64_t i = 0; i < got[o].size(); ++i) EXPECT_NEAR(got[o].as_double(i), std::get<Tensor>(reference[o]).as_double(i), 1e-5);
}

// GPUs record what they run for each number of tokens: there must be few numbers, none much larger than what was counted.
TEST(PackedTokens, FewNumbersOfTokens) {
  ir::Graph graph = parse("(m i64[128,128])\n o, p = TokenPositions(m) multiple=64\n return p\n");
  std::set<std::int64_t> numbers_of_tokens;
  Tensor mask = numbers({128, 128}, std::vector<std::int64_t>(16384, 0));
  for (std::int64_t kept = 0; kept <= 16384; kept += 61) {
    std::fill_n(mask.mutable_data<std::int64_t>(), kept, 1);
    const std::int64_t tokens = std::get<Tensor>(ops::run_graph(graph, {mask}).at(0)).size();
    EXPECT_GE(tokens, std::max<std::int64_t>(kept, 1));
    EXPECT_LE(tokens, kept + std::max<std::int64_t>(64, kept / 32));
    EXPECT_EQ(tokens % 64, 0);
    numbers_of_tokens.insert(tokens);
  }
  EXPECT_LE(numbers_of_tokens.size(), 129u);  // 64 up to 4096, 32 each up to 8192 and 16384, and what none is rounded to
}

class OnADevice {  // whose memory the host cannot read
 public:
  explicit OnADevice(const ir::Graph& graph) {
    BuildConfig c = config(PackTokens::where_equal);
    c.profiles = {{{"ids", {{3, 4}, {3, 4}, {3, 4}}}, {"m", {{3, 4}, {3, 4}, {3, 4}}}}};
    BuildReport report;
    engine_ = std::make_unique<Engine>(builder::open_built(builder::build_plan(graph, c, "", backend_, report), c, backend_));
    context = engine_->create_context();
  }
  std::shared_ptr<runtime::FarBackend> backend_ = std::make_shared<runtime::FarBackend>();
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ExecutionContext> context;
};
const std::vector<std::int64_t> kSix = {1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0}, kOtherSix = {1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0},
                                kEleven = {1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1};

// The host counts the tokens. What follows runs step by step at a new number of them; the first number is recorded then, others when they
// come again, and later replayed.
TEST(PackedTokens, RecordedForEachNumberOfTokens) {
  const ir::Graph graph = parse(encoder(kWhere, kMean));
  const OnADevice device(graph);
  const int before = runtime::FarStream::replays;
  std::vector<int> replays;
  for (const auto* kept : {&kSix, &kOtherSix, &kEleven, &kSix, &kEleven, &kOtherSix, &kEleven}) {
    const Tensor mask = numbers({3, 4}, *kept), ids = words(mask.shape());
    const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0)), got = device.context->run({ids, mask}).at(0);
    for (std::int64_t i = 0; i < reference.size(); ++i) EXPECT_NEAR(got.as_double(i), reference.as_double(i), 1e-5) << i;
    replays.push_back(runtime::FarStream::replays - before);
  }
  EXPECT_EQ(replays, (std::vector<int>{0, 1, 1, 2, 2, 3, 4}));
}

// A mask that lies on the host is read there; only one on the device has to be fetched and waited for.
TEST(PackedTokens, MasksAreReadWhereTheyLie) {
  const ir::Graph graph = parse(encoder(kWhere, kMean));
  const OnADevice device(graph);
  ExecutionContext& context = *device.context;
  Tensor ids = words({3, 4});
  const auto far = device.backend_->memory().allocate(96);
  const auto* y = static_cast<const float*>(context.own_memory(2));
  for (const bool on_device : {false, true})
    for (const auto* kept : {&kSix, &kEleven, &kSix, &kOtherSix}) {
      Tensor mask = numbers({3, 4}, *kept);
      void* const at = on_device ? far.get() : mask.mutable_raw();
      if (on_device) std::memcpy(runtime::near(at), mask.raw(), 96);
      ASSERT_TRUE(context.bind(0, ids.mutable_raw(), 96));
      ASSERT_TRUE(context.bind(1, at, 96));
      ASSERT_TRUE(context.prepare());
      const int copies = runtime::FarStream::copies_to_host, waits = runtime::FarStream::waits;
      ASSERT_TRUE(context.run());
      EXPECT_EQ(runtime::FarStream::copies_to_host - copies, on_device ? 2 : 1);  // the result, and the mask
      EXPECT_EQ(runtime::FarStream::waits - waits, on_device ? 2 : 1);
      const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0));
      for (std::int64_t i = 0; i < reference.size(); ++i) EXPECT_NEAR(y[i], reference.as_double(i), 1e-5) << i;
    }
}

// A run that fails at the count leaves the context good for the next, at whatever number of tokens.
TEST(PackedTokens, AMaskThatIsRefusedLeavesTheContextUsable) {
  const ir::Graph graph = parse(encoder(kTimes, kMean));
  const OnADevice device(graph);
  const Tensor ids = words({3, 4});
  for (const auto* kept : {&kSix, &kEleven, &kSix}) {
    std::vector<std::int64_t> wrong = *kept;
    wrong[5] = 3;
    EXPECT_THROW(device.context->run({ids, numbers({3, 4}, wrong)}), Error);
    const Tensor mask = numbers({3, 4}, *kept);
    const Tensor reference = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0)), got = device.context->run({ids, mask}).at(0);
    for (std::int64_t i = 0; i < reference.size(); ++i) EXPECT_NEAR(got.as_double(i), reference.as_double(i), 1e-5) << i;
  }
}

}  // namespace
}  // namespace tenfold::packed
