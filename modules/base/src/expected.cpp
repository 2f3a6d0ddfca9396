#include <ouro/base/expected.hpp>

namespace ouro::detail {

void value_of_failure(Status status) {
    assert_failed("has_value()", "the value of a failed Expected was asked for", status_name(status),
                  __FILE__, __LINE__);
}

}  // namespace ouro::detail
