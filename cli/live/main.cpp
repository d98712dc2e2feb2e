// qpscope-live: the commands that speak on a wire. qpscope executes it for them, and rights to capture and to send can
// be given to this program alone.
#include <cli/live/live_commands.hpp>

int main(int argc, char** argv) { return qps::cli::run_live(argc, argv); }
