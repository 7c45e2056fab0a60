// Text encoders on packed tokens: as the padded graph run by the interpreter, for every way to write a mask; and what must not be packed.
#include <gtest/gtest.h>

#include "builder/builder.h"
#include "builder/plan_maker.h"
#include "ir/text.h"
#include "ops/cases.h"
#include "ops/interpret.h"
#include "runtime/far_backend.h"

namespace tenfold {
namespace {

ir::Graph parse(const std::string& text) {
  return ir::parse_graph(text, ir::Registry::builtin(), {.random_constant = [](DType d, const Shape& s, std::uint64_t n) {
                           return ops::random_tensor(d, s, n, -0.5, 0.5);
                         }});
}

// One layer with embeddings of words and places, attention of two heads under a mask `a` that `mask` makes of m, and a residual.
std::string encoder(const std::string& mask, const std::string& end) {
  return R"(symbol batch [1 .. 6] input_dim
symbol sequence [1 .. 9] input_dim
(ids i64[batch,sequence], m i64[batch,sequence], words f32[20,8]!, places f32[9,8]!, g f32[8]!, b f32[8]!, w f32[8,8]!, u f32[8,8]!)
    heads = i64[4]{0,0,2,4}
    rows = i64[3]{0,0,8}
    one = i64[]{1}
    zero_i = i64[]{0}
    last = i64[1]{-1}
    keys = i64[2]{1,2}
    to4b = i64[4]{-1,1,1,1}
    to4s = i64[4]{1,1,1,-1}
    to4q = i64[4]{1,1,-1,1}
    lead = i64[4]{0,1,1,-1}
    zero = f32[]{0.0}
    ones = f32[]{1.0}
    low = f32[]{-inf}
    big = f32[]{-10000.0}
    least = f32[]{0.000001}
    shape = Shape(ids)
    length = Gather(shape, one)
    places_used = Range(zero_i, length, one)
    pe = Gather(places, places_used)
    we = Gather(words, ids)
    s0 = Add(we, pe)
    x = LayerNormalization(s0, g, b) axis=-1
    p = MatMul(x, w)
    ph = Reshape(p, heads)
    q = Transpose(ph) perm=[0,2,1,3]
    qt = Transpose(ph) perm=[0,2,3,1]
    sc = MatMul(q, qt)
)" + mask + R"(
    pr = Softmax(sm) axis=-1
    c = MatMul(pr, q)
    ct = Transpose(c) perm=[0,2,1,3]
    cr = Reshape(ct, rows)
    o = MatMul(cr, u)
    h = Add(o, x)
)" + end;
}
// True or false of the mask decides.
const std::string kWhere = R"(    mb = Cast(m) to="bool"
    mk = Unsqueeze(mb, keys)
    a = Where(mk, zero, low)
    sm = Add(sc, a))";
// The mask as a number.
const std::string kTimes = R"(    mf = Cast(m) to="f32"
    mk = Unsqueeze(mf, keys)
    mn = Sub(ones, mk)
    a = Mul(mn, big)
    sm = Add(sc, a))";
// By place in the flattened mask, as torch exports its mask functions.
const std::string kGathered = R"(    mb = Cast(m) to="bool"
    flat = Flatten(mb) axis=2
    count = Gather(shape, zero_i)
    rb = Range(zero_i, count, one)
    b4 = Reshape(rb, to4b)
    s4 = Reshape(places_used, to4s)
    bs = Mul(b4, length)
    at = Add(s4, bs)
    picked = Gather(flat, at)
    mk = Reshape(picked, lead)
    a = Where(mk, zero, low)
    sm = Add(sc, a))";
// Keys behind the query are hidden too.
const std::string kCausal = R"(    mb = Cast(m) to="bool"
    mk = Unsqueeze(mb, keys)
    ks = Reshape(places_used, to4s)
    qs = Reshape(places_used, to4q)
    before = LessOrEqual(ks, qs)
    both = And(mk, before)
    a = Where(both, zero, low)
    sm = Add(sc, a))";
const std::string kMean = R"(    mu = Unsqueeze(m, last)
    mw = Cast(mu) to="f32"
    hw = Mul(h, mw)
    sum = ReduceSum(hw) axes=[1] keepdims=0
    n = ReduceSum(mw) axes=[1] keepdims=0
    nc = Max(n, least)
    y = Div(sum, nc)
    return y
)";

BuildConfig config(PackTokens pack) {
  BuildConfig c;
  c.threads = 1, c.optimization_level = 0, c.pack_tokens = pack;
  c.profiles = {{{"ids", {{1, 1}, {4, 6}, {6, 9}}}, {"m", {{1, 1}, {4, 6}, {6, 9}}}}};
  return c;
}
bool packs(const std::string& text, PackTokens how = PackTokens::where_equal) {
  BuildConfig c = config(how);
  bool found = false;
  c.dump = [&](std::string_view, std::string_view graph) { found = found || graph.find("TokenPositions") != std::string_view::npos; };
  builder::build_graph(parse(text), c);
  return found;
}
Tensor numbers(const Shape& shape, const std::vector<std::int64_t>& values) {
  Tensor t(DType::i64, shape);
  std::copy(values.begin(), values.end(), t.mutable_data<std::int64_t>());
  return t;
}
Tensor words(const Shape& shape) { return ops::random_tensor(DType::i64, shape, 5, 0, 19); }

// Masks to the right, to the left, with holes, all ones, with an empty sentence, and all empty: sizes go up and down in one context.
std::vector<Tensor> masks() {
  return {numbers({2, 3}, {1, 1, 0, 1, 0, 0}),
          numbers({3, 4}, {0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1}),
          numbers({2, 9}, std::vector<std::int64_t>(18, 1)),
          numbers({3, 2}, {1, 0, 0, 0, 1, 1}),
          numbers({2, 2}, {0, 0, 0, 0}),
          numbers({1, 5}, {1, 1, 1, 0, 0})};
}
void expect_as_padded(const std::string& text, PackTokens how, bool masked_rows_are_zero = false) {
  ASSERT_TRUE(packs(text, how)) << text;
  const ir::Graph graph = parse(text);
  const auto context = builder::build_graph(graph, config(how)).create_context();
  const auto padded = builder::build_graph(graph, config(PackTokens::no)).create_context();
  for (const Tensor& mask : masks()) {
    const Tensor ids = words(mask.shape());
    const Tensor want = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0));
    const Tensor got = context->run({ids, mask}).at(0), other = padded->run({ids, mask}).at(0);
    ASSERT_EQ(got.shape(), want.shape());
    for (std::int64_t i = 0; i < want.size(); ++i) {
      const bool hidden = masked_rows_are_zero && mask.as_double(i / want.shape().back()) == 0;
      const bool empty = std::isnan(want.as_double(i));   // a sentence without tokens behind -inf: plans give zeros
      const double expected = hidden ? 0 : empty ? other.as_double(i) : want.as_double(i);
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
  const Tensor want = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0));
  const Tensor got = builder::build_graph(graph, config(PackTokens::where_equal)).create_context()->run({ids, mask}).at(0);
  for (std::int64_t i = 0; i < want.size() / 2; ++i) EXPECT_NEAR(got.as_double(i), want.as_double(i), 1e-5);
  const auto strict = builder::build_graph(parse(encoder(kTimes, kMean)), config(PackTokens::where_equal)).create_context();
  try {
    strict->run({ids, mask});
    FAIL() << "a mask of 3 was taken";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("the attention mask holds 3 at [0, 0]"), std::string::npos) << e.what();
  }
}

// On a device the host counts the tokens; what follows runs step by step at a new number of them, then is recorded, then replayed.
TEST(PackedTokens, RecordedForEachNumberOfTokens) {
  const ir::Graph graph = parse(encoder(kWhere, kMean));
  BuildConfig c = config(PackTokens::where_equal);
  c.profiles = {{{"ids", {{3, 4}, {3, 4}, {3, 4}}}, {"m", {{3, 4}, {3, 4}, {3, 4}}}}};
  BuildReport report;
  const auto backend = std::make_shared<runtime::FarBackend>();
  const Engine engine = builder::open_built(builder::build_plan(graph, c, "", backend, report), c, backend);
  const auto context = engine.create_context();
  const std::vector<Tensor> of_six = {numbers({3, 4}, {1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0}),
                                      numbers({3, 4}, {1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0})};
  const Tensor of_eleven = numbers({3, 4}, {1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1});
  const int before = runtime::FarStream::replays;
  std::vector<int> replays;
  for (const Tensor& mask : {of_six[0], of_six[1], of_eleven, of_six[0], of_eleven, of_six[1], of_eleven}) {
    const Tensor ids = words(mask.shape());
    const Tensor want = std::get<Tensor>(ops::run_graph(graph, {ids, mask}).at(0)), got = context->run({ids, mask}).at(0);
    for (std::int64_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got.as_double(i), want.as_double(i), 1e-5) << i;
    replays.push_back(runtime::FarStream::replays - before);
  }
  EXPECT_EQ(replays, (std::vector<int>{0, 1, 1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace tenfold
