# tenfold_embed_kernels(OUT ROOT FOLDER HEADER NAMESPACE FUNCTION ROW): a C++ source with the texts of all CUDA files in ROOT/FOLDER, by
# their names below ROOT: HEADER declares FUNCTION and ROW. NVRTC is given those of the backend by these names. A new file is found at
# the next build.
function(tenfold_embed_kernels out root folder header namespace function row)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${root}/${folder}/*.cu ${root}/${folder}/*.cuh ${root}/${folder}/*.h)
  list(SORT files)
  set(script ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake)
  add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${root} "-DFILES=${files}" -DROW=${row}
      -DHEADER=${header} -DNAMESPACE=${namespace} -DFUNCTION=${function} -P ${script}
    DEPENDS ${files} ${script} VERBATIM COMMENT "Embedding CUDA kernels of ${folder}")
endfunction()
