# What an installation has beside the compiler and the runtime, and the packages
# that CPack makes of it (scripts/package): a tarball and Debian's.

install(FILES LICENSE README.md SECURITY.md DESTINATION share/doc/mnistc)
install(DIRECTORY docs examples DESTINATION share/doc/mnistc)
install(FILES LICENSE DESTINATION share/doc/mnistc RENAME copyright)

configure_file(cmake/mnistc.pc.in mnistc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/mnistc.pc DESTINATION lib/pkgconfig)

# The runtime's archives need the C library that they were compiled with.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE MN_LIBC
                OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "glibc " "" MN_LIBC "${MN_LIBC}")

set(CPACK_PACKAGE_VENDOR "mnistc")
set(CPACK_PACKAGE_CONTACT "The mnistc authors <mnistc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "compiler of ONNX models into native programs that infer and train")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME
  "${PROJECT_NAME}-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What it runs to compile.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${MN_LIBC}), g++ | c++-compiler, binutils")
# What its steps for the CPU call.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libdnnl-dev")
include(CPack)
