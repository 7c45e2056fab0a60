/* The C interface from a C program: builds y = relu(x) from the model given and runs it on (-1, 0, 2). */
#include <stdio.h>

#include "tenfold/c_api.h"

static int failed(const char* doing, tenfold_status status) {
  fprintf(stderr, "%s: %s: %s\n", doing, tenfold_status_name(status), tenfold_last_error());
  return 1;
}

int main(int argc, char** argv) {
  tenfold_engine* engine = NULL;
  tenfold_context* context = NULL;
  const float x[3] = {-1, 0, 2};
  float y[3] = {9, 9, 9};
  tenfold_status status;
  if (argc != 2) return 2;
  status = tenfold_build_file("no such model", NULL, &engine);
  if (status != TENFOLD_IO) return failed("a model that is not there", status);
  if ((status = tenfold_build_file(argv[1], NULL, &engine)) != TENFOLD_OK) return failed("building", status);
  if ((status = tenfold_context_create(engine, &context)) != TENFOLD_OK) return failed("making a context", status);
  if ((status = tenfold_context_bind(context, 0, (void*)x, sizeof x)) != TENFOLD_OK) return failed("binding", status);
  if ((status = tenfold_context_bind(context, 1, y, sizeof y)) != TENFOLD_OK) return failed("binding", status);
  if ((status = tenfold_context_run(context)) != TENFOLD_OK) return failed("running", status);
  tenfold_context_free(context);
  tenfold_engine_free(engine);
  puts(y[0] == 0 && y[1] == 0 && y[2] == 2 ? "right" : "wrong");
  return 0;
}
