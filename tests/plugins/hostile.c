/* A plug-in library that is wrong in the way that TENFOLD_HOSTILE names; with "good" or "longer" it is right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenfold/plugin_abi.h"

static const char* way(void) {
  const char* w = getenv("TENFOLD_HOSTILE");
  return w ? w : "good";
}
static int is(const char* name) { return strcmp(way(), name) == 0; }
static int32_t say(char* why, size_t room, const char* text, int32_t code) {
  snprintf(why, room, "%s", text);
  return code;
}

static int32_t infer(void* self, tenfold_plugin_infer* call) {
  static const char* const bad[] = {"n +"};
  static const char* const negative[] = {"-3"};
  static const char* const stranger[] = {"0 < 1 <= 4"};
  static const char* const null_text[] = {NULL};
  const tenfold_plugin_type* x = &call->in[0];
  (void)self;
  if (is("infer_fails")) return say(call->why, call->why_bytes, "I never liked matrices", 2);
  if (is("infer_silent")) return 77;
  if (is("no_output")) return 0;
  if (is("output_7")) return call->set_output(call, 7, x->dtype, x->rank, x->dims);
  if (is("output_twice")) call->set_output(call, 0, x->dtype, x->rank, x->dims);
  if (is("bad_extent")) return call->set_output(call, 0, x->dtype, 1, bad);
  if (is("negative_extent")) return call->set_output(call, 0, x->dtype, 1, negative);
  if (is("bad_size")) return call->set_output(call, 0, x->dtype, 1, stranger);
  if (is("null_extent")) return call->set_output(call, 0, x->dtype, 1, null_text);
  if (is("rank_1000")) return call->set_output(call, 0, x->dtype, 1000, x->dims);
  if (is("type_99")) return call->set_output(call, 0, 99, x->rank, x->dims);
  if (is("ignored_refusal")) { /* infer() must not hide what set_output() refused */
    call->set_output(call, 0, 99, x->rank, x->dims);
    return 0;
  }
  return call->set_output(call, 0, x->dtype, x->rank, x->dims);
}

static void twice(tenfold_plugin_run* call) {
  int64_t i, n = 1;
  int32_t d;
  for (d = 0; d < call->in[0].rank; ++d) n *= call->in[0].shape[d];
  for (i = 0; i < n; ++i) ((float*)call->out[0].data)[i] = 2 * ((const float*)call->in[0].data)[i];
}
static int32_t compute(void* self, tenfold_plugin_run* call) {
  (void)self;
  if (is("compute_fails")) return say(call->why, call->why_bytes, "out of ink", 9);
  twice(call);
  return 0;
}
static int32_t open_state(void* self, tenfold_plugin_problem* problem, void** state) {
  (void)self, (void)state;
  return is("open_fails") ? say(problem->why, problem->why_bytes, "the door is stuck", 9) : 0;
}
static int32_t run(void* self, void* state, tenfold_plugin_run* call) {
  (void)self, (void)state;
  if (is("run_fails")) return say(call->why, call->why_bytes, "no fuel", 9);
  if (is("run_silent")) return -5;
  twice(call);
  return 0;
}
static int32_t supports(void* self, tenfold_plugin_problem* problem) {
  (void)self, (void)problem;
  return is("compute_fails") ? say(problem->why, problem->why_bytes, "not today", 3) : 0;
}
static int32_t workspace(void* self, tenfold_plugin_problem* problem, char* text, size_t room) {
  (void)self;
  if (is("workspace_fails")) return say(problem->why, problem->why_bytes, "too much to carry", 9);
  snprintf(text, room, "%s", is("workspace_stranger") ? "4*moon" : is("workspace_negative") ? "0 - 8" : "64");
  if (is("workspace_endless")) memset(text, '9', room);
  return 0;
}
static int32_t configs(void* self, tenfold_plugin_problem* problem, int32_t which, int64_t* numbers, int32_t room) {
  (void)self, (void)problem;
  if (is("no_config")) return -1;
  if (is("config_1000")) return 1000;
  numbers[room - 1] = 0;
  return which == 0 ? 0 : -1;
}
static int32_t layouts(void* self, tenfold_plugin_problem* problem, int32_t which, int32_t* in, int32_t* out) {
  (void)self, (void)problem, (void)out;
  if (is("no_layout")) return 0;
  if (is("layout_42")) in[0] = 42;
  if (is("layout_rank")) in[0] = TENFOLD_LAYOUT_CHANNELS_LAST;
  return which == 0;
}
static int32_t expand(void* self, tenfold_plugin_expand* call) {
  (void)self;
  if (is("graph_none")) return 0;
  if (is("graph_null")) return call->set_graph(call, NULL);
  if (is("graph_fails")) return say(call->why, call->why_bytes, "no ideas", 9);
  if (is("graph_syntax")) return call->set_graph(call, "y = Relu(in0");
  if (is("graph_unknown")) return call->set_graph(call, "y = Nonsense(in0)\nreturn y");
  if (is("graph_two")) return call->set_graph(call, "y = Relu(in0)\nreturn y, y");
  if (is("graph_attribute")) return call->set_graph(call, "y = Softmax(in0) axis=$axis\nreturn y");
  return call->set_graph(call, "y = test.Hostile(in0)\nreturn y"); /* itself, for ever */
}

static struct {
  tenfold_plugin_operator table;
  char beyond[64];
} longer;
static tenfold_plugin_tactic tactic, other;
static tenfold_plugin_library library;
static tenfold_plugin_attribute attributes[2];
static const tenfold_plugin_tactic* tactics[2] = {&tactic, &other};
static const tenfold_plugin_operator* operators[1] = {&longer.table};

static void make_tactic(tenfold_plugin_tactic* t) {
  memset(t, 0, sizeof *t);
  t->size = is("tactic_size") ? 16 : is("shorter") ? offsetof(tenfold_plugin_tactic, supports) : sizeof *t;
  t->name = is("tactic_name") ? "no name" : t == &other && !is("tactics_same") ? "other" : "first";
  t->device = is("device") ? "toaster" : "cpu";
  t->open = open_state, t->run = is("no_run") ? NULL : run;
  t->supports = supports, t->workspace = workspace, t->configs = configs, t->layouts = layouts;
}

const TENFOLD_PLUGIN_EXPORT tenfold_plugin_library* tenfold_plugins(const tenfold_plugin_host* host) {
  tenfold_plugin_operator* op = &longer.table;
  const int graph = strncmp(way(), "graph", 5) == 0;
  if (host->abi != TENFOLD_PLUGIN_ABI || is("null")) return NULL;
  memset(&longer, 0, sizeof longer), memset(&library, 0, sizeof library), memset(attributes, 0, sizeof attributes);
  memset(longer.beyond, 0xee, sizeof longer.beyond);
  make_tactic(&tactic), make_tactic(&other);
  op->size = is("operator_size")   ? 8
             : is("operator_huge") ? (size_t)1 << 40
             : is("longer")        ? sizeof longer
                                   : sizeof *op;
  if (is("shorter")) op->size = offsetof(tenfold_plugin_operator, expand);
  op->domain = is("no_domain") ? NULL : "test", op->name = is("no_name") ? "" : "Hostile";
  op->min_inputs = op->max_inputs = op->min_outputs = op->max_outputs = 1;
  if (is("counts")) op->max_inputs = -1;
  if (is("attribute_null")) op->attribute_count = 1;
  if (is("attribute_value")) attributes[0].name = "a", op->attributes = attributes, op->attribute_count = 1;
  if (is("attribute_kind"))
    attributes[0].name = "a", attributes[0].kind = 50, op->attributes = attributes, op->attribute_count = 1;
  if (is("shorter")) op->expand = expand; /* beyond its size: not there */
  if (graph) op->expand = expand;
  if (!graph)
    op->infer = is("no_infer") ? NULL : infer, op->compute = compute, op->tactics = tactics, op->tactic_count = 2;
  if (is("tactics_null")) op->tactics = NULL;
  library.size = is("library_size") ? 4 : sizeof library;
  library.abi = is("version") ? TENFOLD_PLUGIN_ABI + 1 : TENFOLD_PLUGIN_ABI, library.name = "hostile";
  operators[0] = is("operator_null") ? NULL : op;
  tactics[1] = is("tactic_null") ? NULL : &other;
  library.operators = is("operators_null") ? NULL : operators, library.operator_count = is("empty") ? 0 : 1;
  library.error = is("error") ? "the license is missing" : NULL;
  return &library;
}
