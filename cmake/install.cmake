# How the libraries are installed: archives, headers, a package for CMake, files for pkg-config. All of it is the component
# "library" (cmake --install DIR --component library); programs are "programs" and "window". Users find the same targets that we
# use: qpscope::dissect, qpscope::analysis, qpscope::live, qpscope::conformance.
include(CMakePackageConfigHelpers)
set(qpscope_libraries dissect analysis live conformance)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/qpscope)

foreach(library IN LISTS qpscope_libraries)
  set_target_properties(qpscope_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS qpscope_${library} EXPORT qpscope-targets ARCHIVE COMPONENT library)
endforeach()
install(EXPORT qpscope-targets NAMESPACE qpscope:: DESTINATION ${package_folder} COMPONENT library)
configure_package_config_file(cmake/package/qpscope-config.cmake.in ${PROJECT_BINARY_DIR}/package/qpscope-config.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
# Version 0 promises nothing from one minor version to the next (docs/library.md).
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/qpscope-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/qpscope-config.cmake ${PROJECT_BINARY_DIR}/package/qpscope-config-version.cmake
  DESTINATION ${package_folder} COMPONENT library)

# Which headers those are is found out when they are installed: an include more needs no new configuration.
install(CODE "include(\"${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake\")
qpscope_install_headers(\"${PROJECT_SOURCE_DIR}\" \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/qpscope\")" COMPONENT library)

# pkg-config finds the prefix by its own place, so an installed tree may be moved. The libraries are archives: what they need is
# needed to link, so it stands in Requires, and --static is not asked for.
file(RELATIVE_PATH way_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
function(qpscope_pkg_config library description requires flags)
  set(pc_library ${library})
  set(pc_description ${description})
  set(pc_requires ${requires})
  set(pc_flags ${flags})
  set(pc_prefix "\${pcfiledir}/${way_up}")
  configure_file(cmake/package/qpscope.pc.in ${PROJECT_BINARY_DIR}/package/qpscope-${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/qpscope-${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endfunction()
qpscope_pkg_config(dissect "Decodes, filters and builds RDMA packets" "fmt libisal libzstd libpcap re2 zlib" "-pthread")
qpscope_pkg_config(analysis "Reconstructs what RDMA packets did: connections, messages, findings" "qpscope-dissect libpcap libcrypto" "")
qpscope_pkg_config(live "Speaks RDMA on a wire: endpoints, peers, devices, simulated links" "qpscope-analysis libpcap libxdp libbpf" "")
qpscope_pkg_config(conformance "Tests RDMA devices by scripts" "qpscope-live libcrypto" "")
