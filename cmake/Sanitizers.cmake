# MNISTC_SANITIZE builds everything with ASan and UBSan, and (clang) ready to be
# linked into a fuzzer. Include before adding targets.

option(MNISTC_SANITIZE "Build with the address and undefined sanitizers" OFF)

if(MNISTC_SANITIZE)
  set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Without vptr: it would want the type information of templates that LLVM's
    # libraries instantiate without sanitizers.
    # Checked loops do not become SIMD code, which is no reason for a warning.
    list(APPEND flags -fno-sanitize=vptr,function -fsanitize=fuzzer-no-link
         -Wno-pass-failed)
  endif()
  add_compile_options(${flags} -fno-omit-frame-pointer)
  add_link_options(${flags})

  # LLVM's BumpPtrAllocator poisons memory in code inlined into ours, and its
  # library, built without ASan, never unpoisons it: not an error.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/sanitizer-defaults.cpp CONTENT
[[extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_stack_use_after_return=1";
}
extern "C" const char *__ubsan_default_options() {
  return "print_stacktrace=1";
}
]] @ONLY)
endif()

# Every executable carries the sanitizers' settings, so that nobody has to know
# of environment variables.
function(mn_sanitizer_defaults target)
  if(MNISTC_SANITIZE)
    target_sources(${target} PRIVATE ${PROJECT_BINARY_DIR}/sanitizer-defaults.cpp)
  endif()
endfunction()

# mn_fuzzer(fuzz-name sources...): a libFuzzer program in bin/, which
# scripts/test runs for a few seconds. Nothing without MNISTC_SANITIZE.
function(mn_fuzzer name)
  if(MNISTC_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    mn_executable(${name} ${ARGN})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  endif()
endfunction()
