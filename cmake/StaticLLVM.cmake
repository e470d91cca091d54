# Debian builds LLVM with libLLVM.so as the one library that every static MLIR
# library asks for. mn_static_llvm() points them at LLVM's static libraries
# instead: one small binary that starts in 3 ms and needs no LLVM installed.
#
# Call once, after find_package(MLIR), in the directory that called it. The
# arguments are the LLVM libraries that our code itself uses:
#
#   mn_static_llvm(LLVMSupport LLVMDemangle)

function(mn_static_llvm)
  add_library(mn_llvm_static INTERFACE)
  target_link_libraries(mn_llvm_static INTERFACE ${ARGN})

  get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS imported)
    if(target MATCHES "^MLIR")
      get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
      if(libraries)
        list(TRANSFORM libraries REPLACE "^LLVM$" "mn_llvm_static")
        list(REMOVE_DUPLICATES libraries)
        set_target_properties(${target} PROPERTIES
          INTERFACE_LINK_LIBRARIES "${libraries}")
      endif()
    endif()
  endforeach()

  # LLVMSupport asks for libz3, libz and libzstd as shared libraries. We use no
  # solver, and want the other two inside.
  find_library(MN_LIBZ NAMES libz.a REQUIRED)
  find_library(MN_LIBZSTD NAMES libzstd.a REQUIRED)
  mark_as_advanced(MN_LIBZ MN_LIBZSTD)
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES
    "rt;dl;m;${MN_LIBZ};${MN_LIBZSTD};LLVMDemangle")
endfunction()
