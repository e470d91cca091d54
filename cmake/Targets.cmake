# mn_library and mn_executable: a target of ours, with our warnings.
# mn_read_once(target header...): what takes longer to read than the files that
# include it.
#
# With CMAKE_UNITY_BUILD several files of a target are compiled as one: a build
# from nothing takes about half the time, and an include that is missing stays unseen.
# Two files of a target can then not define the same name, static or not.

function(mn_target target)
  mn_warnings(${target})
  # Generated op classes have parameters that some ops do not need.
  target_compile_options(${target} PRIVATE -Wno-unused-parameter)
endfunction()

function(mn_library name)
  add_library(${name} STATIC ${ARGN})
  mn_target(${name})
endfunction()

function(mn_executable name)
  add_executable(${name} ${ARGN})
  mn_target(${name})
endfunction()

function(mn_read_once target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # So that ccache knows what is in them, and by content.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()
