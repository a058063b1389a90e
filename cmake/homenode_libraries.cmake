# Libraries that homenode links. With HOMENODE_PORTABLE their archives, so that what is built runs where they are not installed; what is
# linked this way is listed in licenses/README.md.
option(HOMENODE_PORTABLE "Link archives, for a wheel that runs on other hosts" OFF)

# homenode_archive(TARGET NAME): the library libNAME.a as TARGET.
function(homenode_archive target name)
  find_library(HOMENODE_ARCHIVE_${name} lib${name}.a REQUIRED)
  mark_as_advanced(HOMENODE_ARCHIVE_${name})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ${HOMENODE_ARCHIVE_${name}})
endfunction()

# homenode_library(NAME MODULE): the library NAME, which pkg-config calls MODULE, as homenode_with_NAME; once, wherever it is asked for.
function(homenode_library name module)
  if(TARGET homenode_with_${name})
    return()
  endif()
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(${name}_package REQUIRED IMPORTED_TARGET GLOBAL ${module})
  if(HOMENODE_PORTABLE)
    homenode_archive(homenode_with_${name} ${name})
  else()
    add_library(homenode_with_${name} INTERFACE)
    target_link_libraries(homenode_with_${name} INTERFACE PkgConfig::${name}_package)
  endif()
endfunction()
