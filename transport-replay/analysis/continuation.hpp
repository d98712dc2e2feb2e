// Whether a file is a piece of the same recording as what was read before it: it begins as soon as a recorder that goes
// from one file to the next does, or one of its first packets goes on where its connection was. Else nobody recorded in
// between, silence there means nothing, and the same queue pair number may be another queue pair.
#pragma once

#include <dissect/capture/capture_file.hpp>

#include <functional>

namespace qps::transport {

class ShardedAnalysis;

// `read`: the next frames of the file, from its beginning; false at the end. They are looked at, and taken by nobody.
[[nodiscard]] bool continues(const ShardedAnalysis& analysis, const std::function<bool(dissect::Batch& batch)>& read);

}  // namespace qps::transport
