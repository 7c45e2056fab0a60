/* Runtimes, options of runs and bindings used from C. Called by c_runtime_test.cpp. Returns the failing line, or 0. */
#include <stdlib.h>
#include <string.h>

#include "tenfold/c_api.h"

#define EXPECT(condition) do { if (!(condition)) return __LINE__; } while (0)

int tenfold_use_runtime_from_c(const char* plan_path);

/* y = s + x; the plan's bindings are s, x, y. */
static int make_plan(const char* path) {
  const int64_t dims[1] = {4};
  tenfold_network* net;
  tenfold_engine* engine;
  tenfold_value pair[2], y;
  EXPECT(tenfold_network_create("sum", &net) == TENFOLD_OK);
  EXPECT(tenfold_network_input(net, "s", "f32", dims, NULL, 1, &pair[0]) == TENFOLD_OK);
  EXPECT(tenfold_network_input(net, "x", "f32", dims, NULL, 1, &pair[1]) == TENFOLD_OK);
  EXPECT(tenfold_network_add_node(net, "Add", NULL, pair, 2, NULL, 0, &y, 1) == TENFOLD_OK);
  EXPECT(tenfold_network_output(net, y, "y") == TENFOLD_OK);
  EXPECT(tenfold_build_network(net, NULL, &engine) == TENFOLD_OK);
  EXPECT(tenfold_engine_save(engine, path) == TENFOLD_OK);
  tenfold_engine_free(engine);
  tenfold_network_free(net);
  return 0;
}

static int use_state(tenfold_context* context) {
  float array[8] = {1, 0, 2, 0, 3, 0, 4, 0}, sum[4];
  const int64_t stride = 2, wrong = -2;
  int i;
  EXPECT(tenfold_context_bind_strided(context, 1, array, sizeof array, &wrong, 1) == TENFOLD_RUN_INVALID_BINDING);
  EXPECT(tenfold_context_bind_strided(context, 1, array, sizeof array, &stride, 1) == TENFOLD_OK);
  EXPECT(tenfold_context_bind_state(context, 2, 0, 1) == TENFOLD_OK);
  for (i = 0; i < 3; ++i) EXPECT(tenfold_context_run(context) == TENFOLD_OK);
  EXPECT(tenfold_context_copied_at_border(context, 1) == 1);
  EXPECT(tenfold_context_read_state(context, 0, sum, sizeof sum) == TENFOLD_OK);
  EXPECT(sum[0] == 3 && sum[3] == 12);
  EXPECT(tenfold_context_clear_state(context, 0) == TENFOLD_OK);
  EXPECT(tenfold_context_write_state(context, 0, sum, 3) == TENFOLD_RUN_INVALID_BINDING);
  return 0;
}

static void add_one(void* user, tenfold_status outcome) { *(int*)user += outcome == TENFOLD_OK; }

static int use_options(tenfold_context* context) {
  tenfold_cancel_token* token;
  tenfold_run_options options;
  int reported = 0;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  EXPECT(tenfold_cancel_token_create(&token) == TENFOLD_OK);
  options.token = token;
  options.nanoseconds = (int64_t)3600 * 1000000000;
  EXPECT(tenfold_context_run_with(context, &options) == TENFOLD_OK);
  EXPECT(tenfold_context_enqueue_then(context, NULL, &options, add_one, &reported) == TENFOLD_OK);
  EXPECT(tenfold_context_wait(context) == TENFOLD_OK);
  EXPECT(reported == 1);
  options.nanoseconds = -1;
  EXPECT(tenfold_context_run_with(context, &options) == TENFOLD_RUN_DEADLINE);
  options.nanoseconds = 0;
  tenfold_cancel_token_trip(token);
  EXPECT(tenfold_context_run_with(context, &options) == TENFOLD_RUN_CANCELLED);
  EXPECT(tenfold_context_run(context) == TENFOLD_OK);
  tenfold_cancel_token_free(token);
  return 0;
}

static int use_dlpack(tenfold_context* context) {
  DLManagedTensorVersioned *s, *y;
  EXPECT(tenfold_context_dlpack(context, 0, 0, &s) == TENFOLD_OK);
  EXPECT(s->dl_tensor.ndim == 1 && s->dl_tensor.shape[0] == 4 && s->dl_tensor.dtype.code == kDLFloat);
  EXPECT(tenfold_context_bind_dlpack(context, 0, s) == TENFOLD_OK);
  EXPECT(tenfold_context_dlpack(context, 2, 0, &y) == TENFOLD_OK);
  EXPECT(tenfold_context_bind_dlpack(context, 2, y) == TENFOLD_OK);
  ((float*)s->dl_tensor.data)[1] = 10;
  EXPECT(tenfold_context_run(context) == TENFOLD_OK);
  EXPECT(((float*)y->dl_tensor.data)[1] == 12);
  EXPECT(tenfold_context_bind_dlpack_tensor(context, 0, NULL) == TENFOLD_INVALID_ARGUMENT);
  EXPECT(tenfold_context_bind_dlpack_tensor(context, 0, &s->dl_tensor) == TENFOLD_OK);
  ((float*)s->dl_tensor.data)[1] = 20;
  EXPECT(tenfold_context_run(context) == TENFOLD_OK);
  EXPECT(((float*)y->dl_tensor.data)[1] == 22);
  s->deleter(s);
  y->deleter(y);
  return 0;
}

static int use_memory(const tenfold_engine* engine) {
  tenfold_binding_memory info;
  tenfold_context* context;
  size_t bytes = 0, exact = 0;
  const int64_t shapes[2] = {4, 4};
  char *block, *memory;
  info.struct_size = sizeof info;
  EXPECT(tenfold_engine_binding_memory(engine, 2, &info) == TENFOLD_OK);
  EXPECT(info.bytes == 16 && info.location == TENFOLD_LOCATION_HOST && info.kind == TENFOLD_VALUE_TENSOR);
  EXPECT(tenfold_engine_arena_bytes(engine, -1, NULL, 0, &bytes) == TENFOLD_OK);
  EXPECT(tenfold_engine_arena_bytes(engine, -1, shapes, 2, &exact) == TENFOLD_OK && exact <= bytes);
  EXPECT(tenfold_engine_arena_bytes(engine, -1, shapes, 1, &exact) == TENFOLD_INVALID_ARGUMENT);
  block = malloc(bytes + 512);
  memory = block + (256 - (uintptr_t)block % 256);
  EXPECT(tenfold_context_create_in(engine, memory, bytes + 256, &context) == TENFOLD_OK);
  tenfold_context_free(context);
  free(block);
  return 0;
}

static int use_slot(const tenfold_engine* engine) {
  tenfold_engine_slot* slot;
  tenfold_engine* user;
  int32_t drained = -1;
  EXPECT(tenfold_engine_slot_create(engine, &slot) == TENFOLD_OK);
  EXPECT(tenfold_engine_slot_get(slot, &user) == TENFOLD_OK);
  EXPECT(tenfold_engine_slot_replace(slot, engine, 1, &drained) == TENFOLD_OK && drained == 0);
  tenfold_engine_free(user);
  EXPECT(tenfold_engine_slot_replace(slot, engine, -1, &drained) == TENFOLD_OK && drained == 1);
  tenfold_engine_slot_free(slot);
  return 0;
}

/* On a CPU there is none; tests/gpu_runtime_test.cpp has what there is on a GPU. */
static int use_gpu_memory(const tenfold_runtime* runtime, const tenfold_engine* engine) {
  tenfold_runtime* limited;
  tenfold_runtime_options options;
  tenfold_gpu_memory memory;
  int64_t bytes = -1;
  int32_t lost = -1;
  const char* reason = NULL;
  memory.struct_size = sizeof memory;
  memory.used_bytes = memory.held_bytes = -1;
  EXPECT(tenfold_runtime_gpu_memory(runtime, "cuda:0", &memory) == TENFOLD_OK && memory.used_bytes == 0 && memory.held_bytes == 0);
  EXPECT(tenfold_runtime_trim_gpu_memory(runtime, 0, &bytes) == TENFOLD_OK && bytes == 0);
  EXPECT(tenfold_runtime_trim_gpu_memory(runtime, 0, NULL) == TENFOLD_OK);
  EXPECT(tenfold_engine_gpu_bytes(engine, &bytes) == TENFOLD_OK && bytes == 0);
  EXPECT(tenfold_device_health("cuda:0", &lost, &reason) == TENFOLD_OK && lost == 0 && reason[0] == 0);
  EXPECT(tenfold_device_health("gpu", &lost, NULL) == TENFOLD_INVALID_ARGUMENT);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.gpu_memory_limit = -1;
  EXPECT(tenfold_runtime_create(&options, &limited) == TENFOLD_INVALID_ARGUMENT);
  options.gpu_memory_limit = 1 << 20, options.gpu_memory_kept = -1;
  EXPECT(tenfold_runtime_create(&options, &limited) == TENFOLD_OK);
  tenfold_runtime_free(limited);
  return 0;
}

/* What the plan keeps of its build, which had no file. */
static int use_built(const tenfold_engine* engine) {
  tenfold_inspection* inspection;
  tenfold_plan_info info;
  tenfold_clock_info clock;
  info.struct_size = sizeof info, clock.struct_size = sizeof clock;
  EXPECT(tenfold_inspect(engine, &inspection) == TENFOLD_OK);
  EXPECT(tenfold_inspection_plan(inspection, &info) == TENFOLD_OK);
  EXPECT(info.model_hash[0] == 0 && strstr(info.build_options, "level=") != NULL);
  if (info.clocks > 0) {
    EXPECT(tenfold_inspection_clock(inspection, 0, &clock) == TENFOLD_OK);
    EXPECT(strcmp(clock.of, "processor") == 0 && clock.khz > 0);
  }
  EXPECT(tenfold_inspection_clock(inspection, info.clocks, &clock) == TENFOLD_INVALID_ARGUMENT);
  tenfold_inspection_free(inspection);
  return 0;
}

int tenfold_use_runtime_from_c(const char* plan_path) {
  tenfold_runtime* runtime;
  tenfold_runtime_use use;
  tenfold_engine *engine, *second;
  tenfold_context* context;
  int line = make_plan(plan_path);
  if (line) return line;
  use.struct_size = sizeof use;
  EXPECT(tenfold_runtime_create(NULL, &runtime) == TENFOLD_OK);
  EXPECT(tenfold_runtime_load(runtime, plan_path, NULL, &engine) == TENFOLD_OK);
  EXPECT(tenfold_runtime_load(runtime, plan_path, NULL, &second) == TENFOLD_OK);
  EXPECT(tenfold_runtime_get_use(runtime, &use) == TENFOLD_OK && use.engines == 2);
  tenfold_engine_free(second);
  if ((line = use_gpu_memory(runtime, engine))) return line;
  tenfold_runtime_free(runtime);
  EXPECT(tenfold_context_create(engine, &context) == TENFOLD_OK);
  if ((line = use_state(context)) || (line = use_options(context)) || (line = use_memory(engine)) || (line = use_slot(engine)) ||
      (line = use_built(engine)))
    return line;
  tenfold_context_free(context);
  EXPECT(tenfold_context_create(engine, &context) == TENFOLD_OK);
  {
    float x[4] = {1, 2, 3, 4};
    EXPECT(tenfold_context_bind(context, 1, x, sizeof x) == TENFOLD_OK);
    if ((line = use_dlpack(context))) return line;
  }
  tenfold_context_free(context);
  tenfold_engine_free(engine);
  return 0;
}
