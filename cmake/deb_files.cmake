# What CPack runs before it makes packages of the files that it has installed: no paths of libraries, which ld.so knows; manual pages
# compressed; and each package's bill of materials beside its copyright.
file(GLOB_RECURSE files LIST_DIRECTORIES false ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
foreach(file IN LISTS files)
  if(IS_SYMLINK ${file})
    continue()
  elseif(file MATCHES "/man/man1/[^/]*\\.1$")
    execute_process(COMMAND gzip -n9f ${file} COMMAND_ERROR_IS_FATAL ANY)
  elseif(file MATCHES "\\.so[.0-9]*$|/bin/[^/]*$")
    file(RPATH_REMOVE FILE ${file})
  endif()
endforeach()
find_program(python3 python3 REQUIRED)
file(GLOB copyrights ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/doc/*/copyright)
foreach(copyright IN LISTS copyrights)
  cmake_path(GET copyright PARENT_PATH documents)
  cmake_path(GET documents FILENAME package)
  string(REGEX REPLACE "/usr/share/doc/.*" "" folder ${documents})
  execute_process(COMMAND ${python3} ${CMAKE_CURRENT_LIST_DIR}/../tools/sbom.py --build ${CPACK_TENFOLD_BUILD} --name ${package}
    --version ${CPACK_PACKAGE_VERSION} --purl pkg:deb/tenfold/${package}@${CPACK_PACKAGE_VERSION} ${folder} ${documents}/sbom.cdx.json
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
