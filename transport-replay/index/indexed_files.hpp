// The files that an index is made of: which can be read again, how large they are, which are read together and in what
// order (dissect/capture/reading_order.hpp), and whether they continue what was read before.
#pragma once

#include <dissect/capture/capture_file.hpp>
#include <transport-replay/index/indexer.hpp>

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace qps::transport {

class ShardedAnalysis;

[[nodiscard]] bool is_there_again(const std::string& file);
// Of all files together, in bytes, where all of them are files.
[[nodiscard]] std::optional<std::uint64_t> size_of(const std::vector<std::string>& files);
// What is added to the times of the file at that place.
[[nodiscard]] dissect::Duration offset_of(const Indexing& indexing, std::size_t file);
void move_times(dissect::Batch& batch, dissect::Duration by);

// Files that are read as one, by their places among those of the indexing, and when the first packet of each was
// recorded, where that was looked up.
struct ReadTogether {
    std::vector<std::size_t> files;
    std::vector<std::optional<dissect::Instant>> first;
};
// Fails where too many would be open at the same time.
[[nodiscard]] std::expected<std::vector<ReadTogether>, dissect::InputProblem> groups_of(const Indexing& indexing,
                                                                                        const dissect::Stop& stop);
// Whether any of them is a piece of the same recording as what was analysed.
[[nodiscard]] bool goes_on(const Indexing& indexing, const ReadTogether& group, const ShardedAnalysis& analysis);

}  // namespace qps::transport
