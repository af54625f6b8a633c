#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace lattice {

/// Small tokenizer.json texts that between them use every kind of model, for tests of properties.
struct SmallTokenizer {
  const char* name;
  std::string json;
  bool is_lossless;  ///< decode(encode(text)) == text for every text without added tokens
};

/// {"a": 0, ...} in the order given.
inline std::string vocab_json(std::span<const std::string> tokens) {
  std::string out = "{";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    out += i == 0 ? "\"" : ",\"";
    for (const char c : tokens[i]) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += fmt::format("\":{}", i);
  }
  return out + "}";
}

inline SmallTokenizer small_wordpiece() {
  return {"wordpiece", R"({"version":"1.0","added_tokens":[
    {"id":1,"content":"[UNK]","special":true,"normalized":false},
    {"id":2,"content":"[CLS]","special":true,"normalized":false},
    {"id":3,"content":"[SEP]","special":true,"normalized":false},
    {"id":4,"content":"[MASK]","special":true,"normalized":false,"lstrip":true}],
  "normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
    "strip_accents":null,"lowercase":true},
  "pre_tokenizer":{"type":"BertPreTokenizer"},
  "post_processor":{"type":"TemplateProcessing",
    "single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
              {"SpecialToken":{"id":"[SEP]","type_id":0}}],
    "pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
            {"SpecialToken":{"id":"[SEP]","type_id":0}},{"Sequence":{"id":"B","type_id":1}},
            {"SpecialToken":{"id":"[SEP]","type_id":1}}],
    "special_tokens":{"[CLS]":{"id":"[CLS]","ids":[2],"tokens":["[CLS]"]},
                      "[SEP]":{"id":"[SEP]","ids":[3],"tokens":["[SEP]"]}}},
  "decoder":{"type":"WordPiece","prefix":"##","cleanup":true},
  "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##",
    "max_input_chars_per_word":20,"vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4,
    "a":5,"##a":6,"b":7,"##b":8,"ab":9,"##ab":10,"c":11,"##c":12,".":13,",":14,"!":15,"日":16,
    "e":17,"##e":18,"##abc":19,"the":20,"##s":21,"1":22,"##1":23}}})",
          false};
}

/// Byte-level BPE over all 256 bytes with a few merges.
inline SmallTokenizer small_byte_level_bpe() {
  std::vector<std::string> tokens;
  for (const char16_t character : kByteLevelAlphabet) {
    append_utf8(tokens.emplace_back(), character);
  }
  const std::vector<std::pair<std::string, std::string>> merges = {
      {"a", "a"},       {"aa", "aa"}, {"a", "b"}, {"Ġ", "a"}, {"Ġa", "b"},
      {"t", "h"},       {"th", "e"},  {"Ã", "©"}, {"Ġ", "Ġ"}, {"ab", "ab"},
      {"aaaa", "aaaa"}, {"Ċ", "Ċ"},   {"ð", "Ł"}};
  std::string list;
  for (const auto& [left, right] : merges) {
    tokens.push_back(left + right);
    list += fmt::format("{}[\"{}\",\"{}\"]", list.empty() ? "" : ",", left, right);
  }
  return {"byte_level_bpe",
          fmt::format(R"({{"version":"1.0","added_tokens":[
    {{"id":{},"content":"<|end|>","special":true,"normalized":false}},
    {{"id":{},"content":"<think>","special":false,"normalized":false}}],
  "pre_tokenizer":{{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,
    "use_regex":true}},
  "post_processor":{{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,
    "use_regex":true}},
  "decoder":{{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true}},
  "model":{{"type":"BPE","vocab":{},"merges":[{}]}}}})",
                      tokens.size(), tokens.size() + 1, vocab_json(tokens), list),
          true};
}

/// Llama's way: spaces as U+2581, unknown characters as bytes, no pre-tokenizer.
inline SmallTokenizer small_fallback_bpe() {
  std::vector<std::string> tokens = {"<unk>", "<s>"};
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(fmt::format("<0x{:02X}>", byte));
  for (const char* token :
       {"▁", "a", "b", "t", "h", "e", "é", "th", "the", "▁the", "▁▁", "aa", "aaaa", "▁a"}) {
    tokens.emplace_back(token);
  }
  return {"fallback_bpe",
          fmt::format(R"({{"version":"1.0","added_tokens":[
    {{"id":0,"content":"<unk>","special":true,"normalized":false}},
    {{"id":1,"content":"<s>","special":true,"normalized":false}}],
  "normalizer":{{"type":"Sequence","normalizers":[{{"type":"Prepend","prepend":"▁"}},
    {{"type":"Replace","pattern":{{"String":" "}},"content":"▁"}}]}},
  "decoder":{{"type":"Sequence","decoders":[
    {{"type":"Replace","pattern":{{"String":"▁"}},"content":" "}},{{"type":"ByteFallback"}},
    {{"type":"Fuse"}},{{"type":"Strip","content":" ","start":1,"stop":0}}]}},
  "model":{{"type":"BPE","unk_token":"<unk>","fuse_unk":true,"byte_fallback":true,"vocab":{},
    "merges":["t h","th e","▁ the","▁ ▁","a a","aa aa","▁ a"]}}}})",
                      vocab_json(tokens)),
          false};
}

inline SmallTokenizer small_unigram() {
  return {"unigram", R"({"version":"1.0","added_tokens":[
    {"id":0,"content":"<s>","special":true,"normalized":false},
    {"id":3,"content":"<mask>","special":true,"normalized":false,"lstrip":true,"rstrip":true}],
  "normalizer":{"type":"NFKC"},
  "pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},
  "post_processor":{"type":"RobertaProcessing","sep":["</s>",1],"cls":["<s>",0],
    "trim_offsets":true,"add_prefix_space":true},
  "decoder":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},
  "model":{"type":"Unigram","unk_id":2,"vocab":[["<s>",0],["</s>",0],["<unk>",0],["<mask>",0],
    ["▁",-2.5],["a",-3],["b",-3.5],["ab",-4],["▁a",-4.5],["e",-5],["the",-4.25],["▁the",-4.125],
    ["é",-6],["aa",-5.75],["日本",-7],["x",-8],["bx",-30]]}})",
          false};
}

inline SmallTokenizer small_word_level() {
  return {"word_level", R"({"version":"1.0","added_tokens":[
    {"id":9,"content":"The end","special":false,"normalized":true,"single_word":true},
    {"id":10,"content":"<<","special":false,"normalized":false,"rstrip":true},
    {"id":11,"content":"<<<","special":true,"normalized":false,"lstrip":true},
    {"id":12,"content":" ","special":false,"normalized":false,"rstrip":true,"lstrip":true}],
  "normalizer":{"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"Lowercase"}]},
  "pre_tokenizer":{"type":"Whitespace"},
  "post_processor":{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]},
  "model":{"type":"WordLevel","unk_token":"[UNK]",
    "vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"b":4,"the":5,"end":6,"!":7,"<":8}}})",
          false};
}

inline std::vector<SmallTokenizer> small_tokenizers() {
  return {small_wordpiece(), small_byte_level_bpe(), small_fallback_bpe(), small_unigram(),
          small_word_level()};
}

}  // namespace lattice
