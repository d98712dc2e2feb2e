// Objects by handle: a handle is never used again, so that one kept from before finds nothing. Addresses do not move.
// Bounded by the number given to add().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace qps::transport::verbs {

template <class Handle, class Object> class Objects {
public:
    // Nothing where `most` exist. `make` gets the handle and returns the object.
    template <class Make> [[nodiscard]] std::optional<Handle> add(std::size_t most, Make&& make) {
        if (rows_.size() >= most) return std::nullopt;
        const Handle handle{next_++};
        rows_.emplace(std::to_underlying(handle), std::make_unique<Object>(make(handle)));
        return handle;
    }
    [[nodiscard]] Object* find(Handle handle) const {
        const auto row = rows_.find(std::to_underlying(handle));
        return row == rows_.end() ? nullptr : row->second.get();
    }
    void erase(Handle handle) { rows_.erase(std::to_underlying(handle)); }

private:
    boost::unordered_flat_map<std::uint32_t, std::unique_ptr<Object>> rows_;
    std::uint32_t next_ = 1;
};

}  // namespace qps::transport::verbs
