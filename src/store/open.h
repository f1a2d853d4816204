// Opens a store file, or says in one sentence why it is none. Private to the module; tests give schemas of
// their own.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "store/schema.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace deepgap::store {

Result<std::unique_ptr<Connection>> open_connection(const std::string& path, OpenMode mode,
                                                    const Schema& schema);

}  // namespace deepgap::store
