# mn_warnings(target): what every target of ours is compiled and linked with.
#
# LLVM's, MLIR's and ONNX's headers must be SYSTEM includes to get through.

include(${CMAKE_CURRENT_LIST_DIR}/Sanitizers.cmake)

option(MNISTC_WERROR "Warnings are errors" OFF)
option(MNISTC_PORTABLE "Link libstdc++ and libgcc statically, so that a binary \
built on Debian runs on other distributions" ON)

function(mn_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -ffunction-sections -fdata-sections
    $<$<BOOL:${MNISTC_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Wrong about LLVM's SmallVector and std::optional at -O3.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()

  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # Of the static libraries only what is reached; of the shared ones only
    # what is used. A static libstdc++ stays out of sight: a shared library that
    # brings its own would call ours for what is a template in both.
    target_link_options(${target} PRIVATE
      -Wl,--gc-sections -Wl,--as-needed
      $<$<BOOL:${MNISTC_PORTABLE}>:-Wl,--exclude-libs,ALL>
      $<$<BOOL:${MNISTC_PORTABLE}>:-static-libstdc++>
      $<$<BOOL:${MNISTC_PORTABLE}>:-static-libgcc>)
    mn_sanitizer_defaults(${target})
  endif()
endfunction()
