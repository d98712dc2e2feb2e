// ByteShare: a share of the memory budget that is counted in bytes; Charge: what one thing took of it, until it goes;
// HeldBytes: bytes that are kept as far as the share allows. They are values: a copy takes as much again, and may,
// since its copy is made.
#pragma once

#include <dissect/base/bytes.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace qps::transport {

class ByteShare {
public:
    explicit ByteShare(std::size_t most) : state_(std::make_shared<State>()) { state_->most = most; }
    [[nodiscard]] std::size_t used() const { return state_->used.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t most_used() const { return state_->most_used.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t most() const { return state_->most; }
    [[nodiscard]] std::uint64_t refused() const { return state_->refused.load(std::memory_order_relaxed); }  // requests
    void refuse() { state_->refused.fetch_add(1, std::memory_order_relaxed); }

private:
    friend class Charge;
    struct State {
        std::size_t most = 0;
        std::atomic<std::size_t> most_used = 0;
        std::atomic<std::size_t> used = 0;
        std::atomic<std::uint64_t> refused = 0;
    };
    std::shared_ptr<State> state_;  // as long as anybody has something of it
};

class Charge {
public:
    Charge() = default;
    Charge(const Charge& other) : state_(other.state_), bytes_(other.bytes_) { add(bytes_); }
    Charge(Charge&& other) noexcept : state_(std::move(other.state_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Charge& operator=(Charge other) noexcept {
        std::swap(state_, other.state_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Charge() { add(-bytes_); }

    // Holds so many of the share from now on, always the same one; false, and nothing changes, where it has not so many
    // left.
    [[nodiscard]] bool hold(const ByteShare& share, std::size_t bytes) {
        const std::size_t used = share.state_->used.load(std::memory_order_relaxed);
        if (bytes > bytes_ && used + (bytes - bytes_) > share.state_->most) return false;
        if (!state_) state_ = share.state_;
        add(bytes - bytes_);
        bytes_ = bytes;
        const std::size_t now = state_->used.load(std::memory_order_relaxed);
        if (now > state_->most_used.load(std::memory_order_relaxed))
            state_->most_used.store(now, std::memory_order_relaxed);
        return true;
    }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    void release() { *this = {}; }

private:
    void add(std::size_t bytes) const {
        if (state_) state_->used.fetch_add(bytes, std::memory_order_relaxed);
    }
    std::shared_ptr<ByteShare::State> state_;
    std::size_t bytes_ = 0;
};

class HeldBytes {
public:
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    [[nodiscard]] dissect::Bytes bytes() const { return bytes_; }
    // False, and nothing is kept of them, where there is no room.
    bool append(ByteShare& share, dissect::Bytes more) {
        if (!charge_.hold(share, bytes_.size() + more.size())) return share.refuse(), false;
        bytes_.insert(bytes_.end(), more.begin(), more.end());
        return true;
    }
    // Forgets them; what is small is kept as room for the next.
    void clear() {
        constexpr std::size_t kSmall = 4096;
        bytes_.clear();
        if (bytes_.capacity() > kSmall) std::vector<std::byte>().swap(bytes_);  // assigning {} keeps the memory
        charge_.release();
    }

private:
    std::vector<std::byte> bytes_;
    Charge charge_;
};

}  // namespace qps::transport
