/* The C interface used from C: a network is built, saved, loaded and run. Called by api_test.cpp. Returns the failing line, or 0. */
#include <string.h>

#include "tenfold/c_api.h"

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

int tenfold_use_from_c(const char* plan_path);

/* y = concat(relu(x * w), x) for x[n,2]. */
static int make_network(tenfold_network* net) {
  const int64_t in_dims[2] = {-1, 2}, w_dims[2] = {2, 2}, axis = 1;
  const char* const names[2] = {"n", NULL};
  const float w[4] = {1, -1, 0, 2};
  tenfold_value x, weight, product, relu, y, pair[2];
  tenfold_attribute attribute;
  EXPECT(tenfold_network_input(net, "x", "f32", in_dims, names, 2, &x) == TENFOLD_OK);
  EXPECT(tenfold_network_constant(net, "w", "f32", w_dims, 2, w, sizeof w, &weight) == TENFOLD_OK);
  EXPECT(tenfold_network_constant(net, "w2", "f32", w_dims, 2, w, 3, &weight) == TENFOLD_INVALID_ARGUMENT);
  pair[0] = x, pair[1] = weight;
  EXPECT(tenfold_network_add_node(net, "MatMul", NULL, pair, 2, NULL, 0, &product, 1) == TENFOLD_OK);
  EXPECT(tenfold_network_add_node(net, "Relu", "relu", &product, 1, NULL, 0, &relu, 1) == TENFOLD_OK);
  memset(&attribute, 0, sizeof attribute);
  attribute.struct_size = sizeof attribute;
  attribute.name = "axis";
  attribute.kind = TENFOLD_ATTRIBUTE_INT;
  attribute.ints = &axis;
  pair[0] = relu, pair[1] = x;
  EXPECT(tenfold_network_add_node(net, "Concat", NULL, pair, 2, &attribute, 1, &y, 1) == TENFOLD_OK);
  EXPECT(tenfold_network_add_node(net, "Concat", NULL, pair, 2, NULL, 0, &y, 1) != TENFOLD_OK); /* the axis is missing */
  EXPECT(strstr(tenfold_last_error(), "Concat") != NULL);
  EXPECT(tenfold_network_add_node(net, "Relu", NULL, pair, 1, &attribute, 1, &y, 1) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_network_add_node(net, "Nothing", NULL, pair, 1, NULL, 0, &relu, 1) == TENFOLD_UNSUPPORTED);
  EXPECT(tenfold_network_output(net, 99, "y") == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_network_output(net, y, "y") == TENFOLD_OK);
  return 0;
}

static int build_engine(const tenfold_network* net, tenfold_engine** engine) {
  const int64_t min[2] = {1, 2}, opt[2] = {2, 2}, max[2] = {4, 2};
  tenfold_range range;
  tenfold_build_config config;
  memset(&range, 0, sizeof range);
  memset(&config, 0, sizeof config);
  range.struct_size = sizeof range;
  range.input = "x", range.rank = 2, range.min = min, range.opt = opt, range.max = max;
  config.struct_size = sizeof config;
  config.ranges = &range, config.range_count = 1;
  config.device = "no such device";
  EXPECT(tenfold_build_network(net, &config, engine) == TENFOLD_UNSUPPORTED);
  config.device = NULL;
  config.refittable = 1;
  EXPECT(tenfold_build_network(net, &config, engine) == TENFOLD_OK);
  return 0;
}

static int32_t stop(void* user, const char* phase, int32_t done, int32_t total) {
  *(int32_t*)user += phase[0] != '\0' && done <= total;
  return 0;
}

/* A build that its callback ends, a plan that is no plan, weights copied, a plan tuned again. */
static int build_and_load_with_options(const tenfold_network* net, const char* plan_path) {
  tenfold_build_config config;
  tenfold_load_options options;
  tenfold_engine* engine;
  int32_t calls = 0;
  memset(&config, 0, sizeof config);
  config.struct_size = sizeof config;
  config.optimization_level = 1, config.progress = stop, config.progress_user = &calls;
  EXPECT(tenfold_build_network(net, &config, &engine) == TENFOLD_CANCELLED && calls == 1);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.threads = 1, options.pin_threads = 1, options.weights = TENFOLD_WEIGHTS_COPY, options.skip_verification = 1;
  EXPECT(tenfold_engine_load_with(plan_path, &options, &engine) == TENFOLD_OK);
  tenfold_engine_free(engine);
  EXPECT(tenfold_engine_load_bytes("no plan", 7, &options, &engine) == TENFOLD_PLAN_REFUSED);
  options.weights = 4;
  EXPECT(tenfold_engine_load_with(plan_path, &options, &engine) == TENFOLD_INVALID_ARGUMENT);
  memset(&config, 0, sizeof config);
  config.struct_size = sizeof config;
  EXPECT(tenfold_retune_file(plan_path, &config, &engine) == TENFOLD_OK);
  tenfold_engine_free(engine);
  return 0;
}

static int run_engine(const tenfold_engine* engine) {
  const float x[6] = {1, 2, -3, 4, 5, -6}, expected[12] = {1, 3, 1, 2, 0, 11, -3, 4, 5, 0, 5, -6};
  const float x8[8] = {1, 2, -3, 4, 5, -6, 7, 8};
  float small[12] = {0}, large[16];
  const int64_t shape[2] = {3, 2}, more[2] = {4, 2}, too_large[2] = {5, 2};
  int64_t got[4];
  int32_t rank = 4, i;
  void* y;
  tenfold_binding_info info;
  tenfold_context* context;
  info.struct_size = sizeof info;
  EXPECT(tenfold_engine_bindings(engine) == 2);
  EXPECT(tenfold_engine_binding(engine, 0, &info) == TENFOLD_OK);
  EXPECT(strcmp(info.name, "x") == 0 && strcmp(info.dtype, "f32") == 0 && info.rank == 2 && info.shape[0] == -1 && info.is_input);
  EXPECT(tenfold_engine_binding(engine, 2, &info) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_context_create(engine, &context) == TENFOLD_OK);
  EXPECT(tenfold_context_run(context) == TENFOLD_RUN_NOT_READY);
  EXPECT(strcmp(tenfold_status_name(TENFOLD_RUN_NOT_READY), "not_ready") == 0);
  EXPECT(tenfold_last_error()[0] != '\0');
  EXPECT(tenfold_context_set_shape(context, 0, shape, 2) == TENFOLD_OK);
  EXPECT(tenfold_context_shape(context, 1, got, &rank) == TENFOLD_OK && rank == 2 && got[0] == 3 && got[1] == 4);
  EXPECT(tenfold_context_bind(context, 0, (void*)x, sizeof x) == TENFOLD_OK);
  EXPECT(tenfold_context_memory(context, 1, &y) == TENFOLD_OK);
  EXPECT(tenfold_context_bind(context, 1, y, sizeof expected) == TENFOLD_OK);
  EXPECT(tenfold_context_prepare(context) == TENFOLD_OK);
  EXPECT(tenfold_context_run(context) == TENFOLD_OK);
  for (i = 0; i < 12; ++i) EXPECT(((float*)y)[i] == expected[i]);
  memset(y, 0, sizeof expected);
  EXPECT(tenfold_context_enqueue(context, NULL) == TENFOLD_OK && tenfold_context_wait(context) == TENFOLD_OK); /* a CPU: a plain run */
  for (i = 0; i < 12; ++i) EXPECT(((float*)y)[i] == expected[i]);
  /* More rows than the memory bound for the output holds: its shape tells how much that needs, and a run refuses until it is there. */
  EXPECT(tenfold_context_set_shape(context, 0, more, 2) == TENFOLD_OK);
  EXPECT(tenfold_context_bind(context, 0, (void*)x8, sizeof x8) == TENFOLD_OK);
  EXPECT(tenfold_context_bind(context, 1, small, sizeof small) == TENFOLD_OK);
  EXPECT(tenfold_context_shape(context, 1, got, &rank) == TENFOLD_OK && rank == 2 && got[0] == 4 && got[1] == 4);
  EXPECT(tenfold_context_run(context) == TENFOLD_RUN_INVALID_BINDING);
  EXPECT(strstr(tenfold_last_error(), "48 bytes are bound, the shapes set need 64") != NULL);
  EXPECT(small[11] == 0);
  EXPECT(tenfold_context_bind(context, 1, large, sizeof large) == TENFOLD_OK);
  EXPECT(tenfold_context_run(context) == TENFOLD_OK);
  for (i = 0; i < 12; ++i) EXPECT(large[i] == expected[i]);
  EXPECT(tenfold_context_set_shape(context, 0, too_large, 2) == TENFOLD_RUN_INVALID_SHAPE ||
         tenfold_context_run(context) == TENFOLD_RUN_INVALID_SHAPE);
  tenfold_context_free(context);
  return 0;
}

/* w becomes all ones: y = concat(relu(x0 + x1, x0 + x1), x). */
static int refit_engine(const tenfold_engine* engine) {
  const float ones[4] = {1, 1, 1, 1}, x[2] = {3, 4}, expected[4] = {7, 7, 3, 4};
  const int64_t dims[2] = {2, 2}, shape[2] = {1, 2};
  int32_t i;
  void* y;
  tenfold_weight weight;
  tenfold_weight_info info;
  tenfold_engine* other;
  tenfold_context* context;
  info.struct_size = sizeof info;
  EXPECT(tenfold_engine_weights(engine) == 1);
  EXPECT(tenfold_engine_weight(engine, 0, &info) == TENFOLD_OK);
  EXPECT(strcmp(info.name, "w") == 0 && strcmp(info.dtype, "f32") == 0 && info.rank == 2 && info.shape[1] == 2 && info.fixed[0] == '\0');
  EXPECT(tenfold_engine_weight(engine, 1, &info) == TENFOLD_INVALID_ARGUMENT);
  memset(&weight, 0, sizeof weight);
  weight.struct_size = sizeof weight;
  weight.name = "W", weight.dtype = "f32", weight.shape = dims, weight.rank = 2, weight.data = ones, weight.bytes = sizeof ones;
  EXPECT(tenfold_engine_refit(engine, &weight, 1, &other) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(strstr(tenfold_last_error(), "did you mean 'w'") != NULL);
  weight.name = "w";
  EXPECT(tenfold_engine_refit(engine, &weight, 1, &other) == TENFOLD_OK);
  EXPECT(tenfold_context_create(other, &context) == TENFOLD_OK);
  EXPECT(tenfold_context_set_shape(context, 0, shape, 2) == TENFOLD_OK);
  EXPECT(tenfold_context_bind(context, 0, (void*)x, sizeof x) == TENFOLD_OK);
  EXPECT(tenfold_context_memory(context, 1, &y) == TENFOLD_OK);
  EXPECT(tenfold_context_run(context) == TENFOLD_OK);
  for (i = 0; i < 4; ++i) EXPECT(((float*)y)[i] == expected[i]);
  tenfold_context_free(context);
  tenfold_engine_free(other);
  return 0;
}

int tenfold_use_from_c(const char* plan_path) {
  tenfold_network* net;
  tenfold_engine *engine, *loaded;
  int line;
  EXPECT(tenfold_network_create("from C", &net) == TENFOLD_OK);
  if ((line = make_network(net)) != 0) return line;
  if ((line = build_engine(net, &engine)) != 0) return line;
  if ((line = run_engine(engine)) != 0) return line;
  EXPECT(tenfold_engine_save(engine, plan_path) == TENFOLD_OK);
  if ((line = build_and_load_with_options(net, plan_path)) != 0) return line;
  tenfold_network_free(net);
  tenfold_engine_free(engine);
  EXPECT(tenfold_engine_load(plan_path, &loaded) == TENFOLD_OK);
  if ((line = run_engine(loaded)) != 0) return line;
  if ((line = refit_engine(loaded)) != 0) return line;
  if ((line = run_engine(loaded)) != 0) return line; /* the old one is as it was */
  tenfold_engine_free(loaded);
  EXPECT(tenfold_engine_load("no/such.plan", &loaded) == TENFOLD_IO);
  EXPECT(tenfold_engine_load(NULL, &loaded) == TENFOLD_INVALID_ARGUMENT);
  return 0;
}
