# TENFOLD_WITH_ONEDNN: whether the tactics of source ONEDNN are compiled in. Only the header is needed; the package's own CMake
# file asks for OpenCL, so it is not used.
if(TENFOLD_ONEDNN)
  find_path(TENFOLD_DNNL_INCLUDE oneapi/dnnl/dnnl.h)
  if(TENFOLD_DNNL_INCLUDE)
    file(STRINGS ${TENFOLD_DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h dnnl_major REGEX "define DNNL_VERSION_MAJOR +2")
  endif()
  if(dnnl_major)
    file(GLOB onednn_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/backends/cpu/onednn/*.cpp)
    set_source_files_properties(${onednn_sources} PROPERTIES
      COMPILE_DEFINITIONS TENFOLD_WITH_ONEDNN=1 INCLUDE_DIRECTORIES ${TENFOLD_DNNL_INCLUDE})
  else()
    message(STATUS "oneDNN: no header of version 2, its kernels are left out")
  endif()
endif()
