#include "base/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "lattice/error.h"

namespace lattice {
namespace {

using ::testing::HasSubstr;

// Sets a variable for one test, and puts back what was there.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      old_ = old;
      had_ = true;
    }
    setenv(name, value, 1);
  }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;
  ~ScopedEnv() {
    if (had_) {
      setenv(name_, old_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

class ThreadPoolSizes : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolSizes, ::testing::Values(1, 2, 3, 8));

TEST_P(ThreadPoolSizes, RunsEveryTaskOnceInTheDocumentedPartition) {
  ThreadPool pool(GetParam());
  ASSERT_EQ(pool.num_threads(), GetParam());
  for (const std::size_t num_tasks : {0u, 1u, 2u, 3u, 7u, 8u, 100u, 1001u}) {
    std::vector<std::size_t> ran_by(num_tasks, 99);
    std::vector<std::atomic<int>> runs(num_tasks);
    pool.parallel_for(num_tasks, [&](std::size_t i, std::size_t t) {
      ran_by[i] = t;
      ++runs[i];
    });
    const std::size_t sharers = std::min(GetParam(), num_tasks);
    for (std::size_t t = 0; t < sharers; ++t) {
      for (std::size_t i = num_tasks * t / sharers; i < num_tasks * (t + 1) / sharers; ++i) {
        ASSERT_EQ(ran_by[i], t) << "task " << i << " of " << num_tasks;
      }
    }
    for (const auto& count : runs) ASSERT_EQ(count.load(), 1);
  }
}

TEST_P(ThreadPoolSizes, WorksAfterItsThreadsWentToSleep) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> sum{0};
    pool.parallel_for(10, [&](std::size_t i, std::size_t) { sum += static_cast<int>(i); });
    EXPECT_EQ(sum.load(), 45);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_P(ThreadPoolSizes, SurvivesManyShortJobs) {
  ThreadPool pool(GetParam());
  std::atomic<std::size_t> sum{0};
  for (int round = 0; round < 5000; ++round) {
    pool.parallel_for(3, [&](std::size_t i, std::size_t) { sum += i; });
  }
  EXPECT_EQ(sum.load(), 15000u);
}

TEST_P(ThreadPoolSizes, RethrowsTheExceptionOfTheLowestThread) {
  ThreadPool pool(GetParam());
  const std::size_t n = 2 * GetParam();
  std::vector<std::atomic<bool>> started(n);
  try {
    pool.parallel_for(n, [&](std::size_t i, std::size_t) {
      started[i] = true;
      throw std::runtime_error(std::to_string(i));
    });
    FAIL() << "expected an exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "0");
  }
  // Each thread's range holds two tasks and ended at its first.
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(started[i].load(), i % 2 == 0);
  // The pool is usable afterwards.
  std::atomic<int> count{0};
  pool.parallel_for(n, [&](std::size_t, std::size_t) { ++count; });
  EXPECT_EQ(count.load(), static_cast<int>(n));
}

TEST_P(ThreadPoolSizes, AnExceptionOfAWorkerReachesTheCaller) {
  ThreadPool pool(GetParam());
  const std::size_t last = 31;
  EXPECT_THROW(pool.parallel_for(last + 1,
                                 [&](std::size_t i, std::size_t) {
                                   if (i == last) throw std::invalid_argument("last");
                                 }),
               std::invalid_argument);
}

TEST_P(ThreadPoolSizes, NestedCallsRunInline) {
  ThreadPool pool(GetParam());
  std::atomic<int> count{0};
  pool.parallel_for(8, [&](std::size_t, std::size_t) {
    const auto self = std::this_thread::get_id();
    pool.parallel_for(8, [&](std::size_t, std::size_t t) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(t, 0u);
      ++count;
    });
  });
  EXPECT_EQ(count.load(), 64);
}

TEST(ThreadPool, ConcurrentCallersAllGetTheirWorkDone) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::vector<std::size_t> sums(4);
  for (std::size_t c = 0; c < sums.size(); ++c) {
    callers.emplace_back([&pool, &sum = sums[c]] {
      for (int round = 0; round < 300; ++round) {
        std::vector<std::size_t> values(50);
        pool.parallel_for(50, [&](std::size_t i, std::size_t) { values[i] = i; });
        for (const std::size_t value : values) sum += value;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::size_t sum : sums) EXPECT_EQ(sum, 300u * 1225u);
}

TEST(ThreadPool, ASecondCallerDoesNotWaitForTheFirst) {
  ThreadPool pool(2);
  std::atomic<bool> first_is_inside{false};
  std::atomic<bool> second_is_done{false};
  std::thread first([&] {
    pool.parallel_for(2, [&](std::size_t, std::size_t) {
      first_is_inside = true;
      while (!second_is_done) std::this_thread::yield();
    });
  });
  while (!first_is_inside) std::this_thread::yield();
  const auto self = std::this_thread::get_id();
  pool.parallel_for(5, [&](std::size_t, std::size_t t) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(t, 0u);
  });
  second_is_done = true;
  first.join();
}

TEST(ThreadPool, ZeroMeansTheUsableCores) {
  const ScopedEnv env("LATTICE_NUM_THREADS", "3");
  EXPECT_EQ(ThreadPool(0).num_threads(), 3u);
}

TEST(UsableNumThreads, EnvironmentOverrides) {
  const ScopedEnv env("LATTICE_NUM_THREADS", "17");
  EXPECT_EQ(usable_num_threads(), 17u);
}

TEST(UsableNumThreads, RefusesNonsenseByName) {
  for (const char* value : {"", "0", "-1", "two", "2x", " 2", "1025", "99999999999999999999"}) {
    const ScopedEnv env("LATTICE_NUM_THREADS", value);
    try {
      usable_num_threads();
      FAIL() << "accepted \"" << value << '"';
    } catch (const LatticeError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), HasSubstr("LATTICE_NUM_THREADS"));
    }
  }
}

TEST(UsableNumThreads, IsAtLeastOneAndAtMostTheCores) {
  const char* old = std::getenv("LATTICE_NUM_THREADS");
  const ScopedEnv keep("LATTICE_NUM_THREADS", old == nullptr ? "1" : old);
  unsetenv("LATTICE_NUM_THREADS");
  EXPECT_GE(usable_num_threads(), 1u);
  EXPECT_LE(usable_num_threads(), std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace lattice
