# What CPack runs before it makes packages of the files that it has installed: no paths of libraries, which ld.so knows; manual pages
# compressed; and no file younger than the source, so that the same source makes the same bytes.
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
