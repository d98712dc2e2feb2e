// A position in the capture and an interface are not to be added.
// error: (no match for 'operator\+'|invalid operands to binary expression)
#include <dissect/base/types.hpp>

auto sum(qps::dissect::FrameIndex frame, qps::dissect::InterfaceId interface) { return frame + interface; }
