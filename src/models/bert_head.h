#pragma once

#include "models/model_family.h"

namespace lattice {

/// The head of {Bert,Roberta,XLMRoberta,Camembert}ForSequenceClassification. BERT: classifier on
/// tanh(pooler) of [CLS]; the others: classifier.out_proj on tanh(classifier.dense) of <s>. Throws
/// kNotFound naming the tensor that is missing: half a head is never a head.
std::unique_ptr<SequenceHead> load_bert_head(const HeadSource& source);

}  // namespace lattice
