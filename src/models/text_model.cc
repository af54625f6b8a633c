#include "models/text_model.h"

#include "base/check.h"

namespace lattice {

std::shared_ptr<const SharedPrefix> TextModel::make_prefix(Context&,
                                                           std::span<const std::int32_t>) const {
  raise(ErrorCode::kInternal, "[{}] sequences of this family share no prefix", traits().family);
}

}  // namespace lattice
