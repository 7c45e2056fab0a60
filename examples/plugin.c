/* A plug-in library in C: com.example.Snake, x + sin(alpha x)^2 / alpha (Ziyin et al. 2020), with a plain kernel and
 * one for CPUs; and com.example.Squash, x / (1 + |x|) times a scale, as a graph of known operators.
 *
 *   cc -std=c99 -shared -fPIC $(pkg-config --cflags tenfold) plugin.c -lm -o libsnake.so
 *   tenfold exec --onnx=snake.onnx --plugins=./libsnake.so --shapes=x:2x4 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tenfold/plugin_abi.h"

static int64_t elements(const tenfold_plugin_tensor* t) {
  int64_t n = 1;
  for (int32_t d = 0; d < t->rank; ++d) n *= t->shape[d];
  return n;
}

/* x[first] to x[end - 1]. */
static void snake(float alpha, const float* x, float* y, int64_t first, int64_t end) {
  for (int64_t i = first; i < end; ++i) {
    const float s = sinf(alpha * x[i]);
    y[i] = x[i] + s * s / alpha;
  }
}

static int32_t infer(void* self, tenfold_plugin_infer* call) {
  const tenfold_plugin_type* x = &call->in[0];
  (void)self;
  if (x->dtype != TENFOLD_TYPE_F32) {
    snprintf(call->why, call->why_bytes, "Snake takes f32");
    return 2; /* tenfold_status: the model is invalid */
  }
  return call->set_output(call, 0, x->dtype, x->rank, x->dims);
}

static int32_t compute(void* self, tenfold_plugin_run* call) {
  (void)self;
  snake(call->attributes[0].floats[0], call->in[0].data, call->out[0].data, 0, elements(&call->in[0]));
  return 0;
}

/* The kernel for CPUs. Its parts follow from the size alone, so that the bits do not depend on the number of workers.
 */
enum { PART = 4096 };
typedef struct {
  float alpha;
} snake_state;
typedef struct {
  const snake_state* state;
  const tenfold_plugin_tensor *x, *y;
} snake_work;

static int32_t open_state(void* self, tenfold_plugin_problem* problem, void** state) {
  snake_state* s = malloc(sizeof *s);
  (void)self;
  if (!s) return 4; /* out of memory */
  s->alpha = problem->attributes[0].floats[0];
  *state = s;
  return 0;
}
static void close_state(void* self, void* state) {
  (void)self;
  free(state);
}
static void run_part(void* context, int64_t i) {
  const snake_work* w = context;
  const int64_t n = elements(w->x), first = i * PART, end = first + PART < n ? first + PART : n;
  snake(w->state->alpha, w->x->data, w->y->data, first, end);
}
static int32_t run(void* self, void* state, tenfold_plugin_run* call) {
  snake_work work;
  (void)self;
  work.state = state, work.x = &call->in[0], work.y = &call->out[0];
  call->parallel(call, (elements(work.x) + PART - 1) / PART, run_part, &work);
  return 0;
}
/* y[i] is written after x[i] was read for the last time. */
static int32_t in_place(void* self, tenfold_plugin_problem* problem, int32_t in, int32_t out) {
  (void)self, (void)problem, (void)in, (void)out;
  return 1;
}

static int32_t expand(void* self, tenfold_plugin_expand* call) {
  (void)self;
  return call->set_graph(call,
                         "one = f32[]{1}\n"
                         "scale = f32[]{$scale}\n"
                         "a = Abs(in0)\n"
                         "d = Add(a, one)\n"
                         "q = Div(in0, d)\n"
                         "y = Mul(q, scale)\n"
                         "return y");
}

static const float one = 1;
static const tenfold_plugin_attribute alpha = {"alpha", TENFOLD_PLUGIN_FLOAT, 1, NULL, &one, NULL, NULL, {NULL, NULL}};
static const tenfold_plugin_attribute scale = {"scale", TENFOLD_PLUGIN_FLOAT, 1, NULL, &one, NULL, NULL, {NULL, NULL}};

const TENFOLD_PLUGIN_EXPORT tenfold_plugin_library* tenfold_plugins(const tenfold_plugin_host* host) {
  static tenfold_plugin_tactic parts;
  static tenfold_plugin_operator snake_op, squash_op;
  static const tenfold_plugin_tactic* tactics[] = {&parts};
  static const tenfold_plugin_operator* operators[] = {&snake_op, &squash_op};
  static tenfold_plugin_library library;
  (void)host;
  parts.size = sizeof parts, parts.name = "parts", parts.device = "cpu";
  parts.open = open_state, parts.close = close_state, parts.run = run, parts.in_place = in_place;
  snake_op.size = sizeof snake_op, snake_op.domain = "com.example", snake_op.name = "Snake";
  snake_op.min_inputs = snake_op.max_inputs = snake_op.min_outputs = snake_op.max_outputs = 1;
  snake_op.attributes = &alpha, snake_op.attribute_count = 1;
  snake_op.infer = infer, snake_op.compute = compute, snake_op.tactics = tactics, snake_op.tactic_count = 1;
  squash_op.size = sizeof squash_op, squash_op.domain = "com.example", squash_op.name = "Squash";
  squash_op.min_inputs = squash_op.max_inputs = squash_op.min_outputs = squash_op.max_outputs = 1;
  squash_op.attributes = &scale, squash_op.attribute_count = 1, squash_op.expand = expand;
  library.size = sizeof library, library.abi = TENFOLD_PLUGIN_ABI, library.name = "snake";
  library.operators = operators, library.operator_count = 2;
  return &library;
}
