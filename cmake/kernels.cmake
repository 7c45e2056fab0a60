# tenfold_embed_kernels(OUT ROOT FOLDER): a C++ source with the texts of all CUDA files in ROOT/FOLDER, which NVRTC is given by their names
# below ROOT (src/backends/cuda/codegen/kernel_files.h). A new file is found at the next build.
function(tenfold_embed_kernels out root folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${root}/${folder}/*.cu ${root}/${folder}/*.cuh ${root}/${folder}/*.h)
  list(SORT files)
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake)
  add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${root} "-DFILES=${files}" -DROW=KernelFile
      -DHEADER=backends/cuda/codegen/kernel_files.h -DNAMESPACE=tenfold::backends::cuda -DFUNCTION=embedded_kernel_files -P ${script}
    DEPENDS ${files} ${script} VERBATIM COMMENT "Embedding CUDA kernels")
endfunction()
