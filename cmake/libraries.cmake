# The libraries that more than one room links, looked up once: an imported target is seen only below the folder that found it.
find_package(PkgConfig REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(PCAP REQUIRED IMPORTED_TARGET libpcap)
pkg_check_modules(XDP REQUIRED IMPORTED_TARGET libxdp)
pkg_check_modules(BPF REQUIRED IMPORTED_TARGET libbpf)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
if(POLICY CMP0167)
  cmake_policy(SET CMP0167 NEW)  # CMake 3.30 and later leave it to Boost to say where it is
endif()
find_package(Boost 1.81 REQUIRED)  # headers alone
