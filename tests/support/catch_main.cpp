// The main of Catch2 2.x, compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
