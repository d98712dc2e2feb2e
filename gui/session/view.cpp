#include <gui/session/view.hpp>
#include <transport-replay/index/extract.hpp>

namespace qps::gui {

View::~View() = default;

std::vector<transport::FrameRange> View::selectedFrames() const { return {}; }

}  // namespace qps::gui
