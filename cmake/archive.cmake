# Archives of what is installed: cpack in a build folder, or cmake --build FOLDER --target package. They unpack anywhere.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR qpscope)
set(CPACK_PACKAGE_FILE_NAME "qpscope-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)  # one for each: programs, window, library
include(CPack)
