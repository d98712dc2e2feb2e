// ObjectTable: what an agent made for its client, by the numbers that the client has of it.
//
// Numbers are given out once per connection. Never more than kMostObjects: who adds asks full() first. Like
// protocol.hpp this needs nothing but the standard library of C++20.
#pragma once

#include <transport-replay/conformance/agent/protocol.hpp>

#include <cstdint>
#include <map>
#include <utility>

namespace qps::transport::conformance::agent {

template <class T> class ObjectTable {
public:
    [[nodiscard]] bool full() const { return all_.size() >= kMostObjects; }
    std::uint64_t add(T object) {
        all_.emplace(++last_, std::move(object));
        return last_;
    }
    [[nodiscard]] T* find(std::uint64_t number) {
        const auto found = all_.find(number);
        return found == all_.end() ? nullptr : &found->second;
    }
    void erase(std::uint64_t number) { all_.erase(number); }
    void clear() { all_.clear(); }
    [[nodiscard]] std::map<std::uint64_t, T>& all() { return all_; }

private:
    std::map<std::uint64_t, T> all_;
    std::uint64_t last_ = 0;
};

}  // namespace qps::transport::conformance::agent
