# A table of rows for tests of streams, and what a block gives or raises.
require "kumihimo/xml"

class Row < Kumihimo::XTree
  field :k, Integer
end
class Table < Kumihimo::XTree
  list :rows, Row, element: "r"
end

def told
  yield
rescue StandardError => error
  "#{error.class}: #{error.message}"
end
