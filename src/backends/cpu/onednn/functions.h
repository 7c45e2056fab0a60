// The oneDNN functions we call, as pointers; included only where its header was found.
#pragma once

#include <oneapi/dnnl/dnnl.h>

namespace tenfold::backends::cpu::onednn {

#define TENFOLD_DNNL_FUNCTIONS(F)                                                                                              \
  F(dnnl_version) F(dnnl_get_effective_cpu_isa) F(dnnl_engine_create) F(dnnl_engine_destroy) F(dnnl_stream_create)             \
  F(dnnl_stream_destroy) F(dnnl_memory_desc_init_by_strides) F(dnnl_memory_desc_get_size) F(dnnl_memory_create)                \
  F(dnnl_memory_destroy) F(dnnl_primitive_attr_create) F(dnnl_primitive_attr_destroy)                                          \
  F(dnnl_primitive_attr_set_scratchpad_mode) F(dnnl_primitive_attr_set_post_ops) F(dnnl_post_ops_create)                       \
  F(dnnl_post_ops_destroy) F(dnnl_post_ops_append_eltwise) F(dnnl_matmul_desc_init)                                            \
  F(dnnl_dilated_convolution_forward_desc_init) F(dnnl_primitive_desc_create) F(dnnl_primitive_desc_destroy)                   \
  F(dnnl_primitive_desc_query_md) F(dnnl_primitive_create) F(dnnl_primitive_destroy) F(dnnl_primitive_execute)                 \
  F(dnnl_reorder_primitive_desc_create)

struct Functions {
#define F(name) decltype(&::name) name = nullptr;
  TENFOLD_DNNL_FUNCTIONS(F)
#undef F
  void (*omp_set_num_threads)(int) = nullptr;
  int (*omp_get_max_threads)() = nullptr;
  dnnl_engine_t engine = nullptr;
};
const Functions& functions();   // only after found() says that the library is usable

// One OpenMP thread for the calls of this scope, in this thread; the caller's number is restored.
class OneThread {
 public:
  OneThread() : before_(functions().omp_get_max_threads()) { functions().omp_set_num_threads(1); }
  ~OneThread() { functions().omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;

 private:
  int before_;
};

}  // namespace tenfold::backends::cpu::onednn
