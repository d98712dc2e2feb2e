// qpscope-live: the commands that speak on a wire. qpscope executes it for them; whoever gives a right to capture and to send gives it to
// this program alone.
#include <cli/live/live_commands.hpp>

int main(int argc, char** argv) { return qps::cli::run_live(argc, argv); }
