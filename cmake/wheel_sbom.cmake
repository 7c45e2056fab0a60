# tenfold_wheel_sbom(ninja build...): what the wheel is made of, by the build folders that made its files, goes beside its metadata, where
# tools look for it (PEP 770). A machine where that cannot be told gets its wheel all the same, and a warning.
function(tenfold_wheel_sbom ninja)
  if(NOT SKBUILD_METADATA_DIR)
    return()
  endif()
  list(TRANSFORM ARGN PREPEND "--build=")
  install(CODE "
    execute_process(COMMAND \"${Python_EXECUTABLE}\" \"${CMAKE_SOURCE_DIR}/tools/sbom.py\" --ninja=${ninja} ${ARGN} --name=tenfold
      --version=${SKBUILD_PROJECT_VERSION} --purl=pkg:pypi/tenfold@${SKBUILD_PROJECT_VERSION} \"\${CMAKE_INSTALL_PREFIX}/tenfold\"
      \"${SKBUILD_METADATA_DIR}/sboms/tenfold.cdx.json\" RESULT_VARIABLE failed)
    if(failed)
      message(WARNING \"The wheel has no bill of materials\")
    endif()" COMPONENT python)
endfunction()
