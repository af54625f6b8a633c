// Semantic search over a file of passages, with the public library only.
//
//   search MODEL_DIR passages.jsonl [QUERY...]
//
// Embeds the "text" of every row, then prints the passages nearest to each query (a few questions
// about the example corpus if none is given), with their scores and how long everything took.
#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "lattice/model.h"

namespace {

constexpr std::size_t kNumShown = 3;
constexpr std::size_t kExcerptBytes = 100;

struct Passages {
  std::vector<std::string> ids;
  std::vector<std::string> titles;
  std::vector<std::string> texts;
};

const std::vector<std::string> kDefaultQueries = {
    "water keeps trickling into the toilet bowl",
    "my dog ate a bar of dark chocolate",
    "I committed by mistake and want to take it back without losing my work",
    "why did that coral turn white",
    "cheap way to invest in the whole stock market",
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string field(const simdjson::dom::element& row, const char* key) {
  return std::string(row[key].get_string().value());  // throws, naming the key's error
}

Passages read_passages(const std::string& path) {
  Passages passages;
  simdjson::dom::parser parser;
  for (simdjson::dom::element row : parser.load_many(path)) {
    passages.ids.push_back(field(row, "id"));
    passages.titles.push_back(field(row, "title"));
    passages.texts.push_back(field(row, "text"));
  }
  return passages;
}

// The model's vectors are normalised, so their dot product is the cosine of the angle between them.
float dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
}

std::size_t count_tokens(const lattice::Embeddings& embeddings) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < embeddings.size(); ++i) total += embeddings.report(i).num_tokens;
  return total;
}

// At most kExcerptBytes of `text`, cut between words.
std::string excerpt(const std::string& text) {
  if (text.size() <= kExcerptBytes) return text;
  return text.substr(0, text.rfind(' ', kExcerptBytes)) + " ...";
}

void print_best(const Passages& passages, const lattice::Embeddings& vectors,
                std::span<const float> query) {
  std::vector<float> scores(vectors.size());
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = dot(vectors[i], query);
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t num_shown = std::min(kNumShown, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(num_shown),
                    order.end(),
                    [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  for (std::size_t rank = 0; rank < num_shown; ++rank) {
    const std::size_t i = order[rank];
    std::printf("  %zu. %.3f  %s  (%s)\n            %s\n", rank + 1, static_cast<double>(scores[i]),
                passages.titles[i].c_str(), passages.ids[i].c_str(),
                excerpt(passages.texts[i]).c_str());
  }
}

int run_search(const std::string& model_dir, const std::string& corpus_path,
               const std::vector<std::string>& queries) {
  auto start = std::chrono::steady_clock::now();
  const auto model = lattice::Model::from_directory(model_dir);
  const double load_seconds = seconds_since(start);
  const Passages passages = read_passages(corpus_path);

  start = std::chrono::steady_clock::now();
  const auto vectors = model.embed(passages.texts);
  const double embed_seconds = seconds_since(start);

  start = std::chrono::steady_clock::now();
  const auto query_vectors = model.embed(queries);
  const double query_seconds = seconds_since(start);

  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::printf("\n%s\n", queries[q].c_str());
    print_best(passages, vectors, query_vectors[q]);
  }
  const std::size_t num_tokens = count_tokens(vectors);
  std::printf("\nmodel loaded in %.0f ms (%s, %zu threads)\n", load_seconds * 1e3,
              model.info().device_target.c_str(), model.info().num_threads);
  std::printf("%zu passages, %zu tokens embedded in %.2f s: %.0f tokens/s, %.0f passages/s\n",
              passages.texts.size(), num_tokens, embed_seconds,
              static_cast<double>(num_tokens) / embed_seconds,
              static_cast<double>(passages.texts.size()) / embed_seconds);
  std::printf("%zu queries embedded in %.1f ms\n", queries.size(), query_seconds * 1e3);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: search MODEL_DIR passages.jsonl [QUERY...]\n");
    return 2;
  }
  try {
    std::vector<std::string> queries(argv + 3, argv + argc);
    return run_search(argv[1], argv[2], queries.empty() ? kDefaultQueries : queries);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "search: %s\n", error.what());
    return 1;
  }
}
