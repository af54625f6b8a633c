#include "io/hub/repo_name.h"

#include <gtest/gtest.h>

namespace lattice {
namespace {

TEST(RepoRef, ParsesNamesWithAndWithoutRevision) {
  const auto plain = parse_repo_ref("sentence-transformers/all-MiniLM-L6-v2");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->repo, "sentence-transformers/all-MiniLM-L6-v2");
  EXPECT_EQ(plain->revision, "");
  const auto pinned = parse_repo_ref("Qwen/Qwen3-Embedding-0.6B@refs/pr/1");
  ASSERT_TRUE(pinned) << pinned.error().message;
  EXPECT_EQ(pinned->repo, "Qwen/Qwen3-Embedding-0.6B");
  EXPECT_EQ(pinned->revision, "refs/pr/1");
  EXPECT_EQ(pinned->to_string(), "Qwen/Qwen3-Embedding-0.6B@refs/pr/1");
  EXPECT_TRUE(parse_repo_ref("bert-base-uncased"));
}

TEST(RepoRef, RefusesNamesThatCouldEscapeOrCollide) {
  for (const std::string_view name : {"",
                                      "/",
                                      "a/",
                                      "/a",
                                      "a/b/c",
                                      "..",
                                      "../a",
                                      "a/..",
                                      "a/../b",
                                      ".",
                                      "./a",
                                      ".hidden/a",
                                      "a/.b",
                                      "a--b/c",
                                      "a/b--c",
                                      "a\\b",
                                      "C:/x",
                                      "a b",
                                      "a/b@",
                                      "a/b@..",
                                      "a/b@x y",
                                      "a/b@x\\y",
                                      "-a/b",
                                      "a/b-",
                                      "a/b.",
                                      "a..b/c",
                                      "org/n\xC3\xA9",
                                      "/etc/passwd",
                                      "~/m",
                                      "a/b@../../x"}) {
    const auto ref = parse_repo_ref(name);
    ASSERT_FALSE(ref) << name;
    EXPECT_EQ(ref.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(ref.error().message.find(fmt::format("\"{}\"", name)), std::string::npos)
        << ref.error().message;
  }
  EXPECT_FALSE(parse_repo_ref(std::string_view("a/b\0c", 5)));
  EXPECT_FALSE(parse_repo_ref(std::string(60, 'a') + "/" + std::string(60, 'b')));
  EXPECT_FALSE(parse_repo_ref("a/b@" + std::string(300, 'x')));
}

TEST(RepoRef, DirectoryNameIsReversible) {
  for (const std::string_view repo : {"org/name", "name", "a-b/c-d", "o_/n.x"}) {
    const auto back = repo_of_directory_name(repo_directory_name(repo));
    ASSERT_TRUE(back) << repo;
    EXPECT_EQ(*back, repo);
  }
  for (const std::string_view name : {".incoming", ".trash", "a--b--c", "--", "a--", "..", "a b"}) {
    EXPECT_FALSE(repo_of_directory_name(name)) << name;
  }
}

TEST(SafeRelativePath, AcceptsPlainNamesOnly) {
  for (const std::string_view path : {"config.json", "1_Pooling/config.json", "a/b/c.safetensors",
                                      "..a", "a..", "x.y", ".gitignore"}) {
    EXPECT_TRUE(is_safe_relative_path(path)) << path;
  }
  for (const std::string_view path : {"", "/", "/etc/passwd", "..", "../x", "a/../x", "a/..", "./x",
                                      "a//b", "a/", "a\\b", "..\\x", "C:x", "a\nb", "a\x7f"}) {
    EXPECT_FALSE(is_safe_relative_path(path)) << path;
  }
  EXPECT_FALSE(is_safe_relative_path(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_safe_relative_path(std::string(255, 'a')));
  EXPECT_FALSE(is_safe_relative_path(std::string(256, 'a')));
  std::string deep = "a";
  while (deep.size() <= 1024) deep += "/a";
  EXPECT_FALSE(is_safe_relative_path(deep));
}

TEST(PercentEncoding, RoundTrips) {
  const std::string all = "refs/pr/1 %\x01\xFFz~-_.";
  EXPECT_EQ(percent_encode(all), "refs%2Fpr%2F1%20%25%01%FFz~-_.");
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode_path("a b/c"), "a%20b/c");
  EXPECT_EQ(percent_decode("%4"), "%4");
  EXPECT_EQ(percent_decode("%zz%41"), "%zzA");
}

TEST(CommitHash, IsFullLowerCaseHexadecimal) {
  EXPECT_TRUE(is_commit_hash(std::string(40, 'a')));
  EXPECT_TRUE(is_commit_hash(std::string(64, '0')));
  EXPECT_FALSE(is_commit_hash(std::string(40, 'A')));
  EXPECT_FALSE(is_commit_hash(std::string(39, 'a')));
  EXPECT_FALSE(is_commit_hash(std::string(40, 'g')));
  EXPECT_FALSE(is_commit_hash(""));
}

}  // namespace
}  // namespace lattice
