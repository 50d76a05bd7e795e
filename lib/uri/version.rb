# frozen_string_literal: true

module URI
  VERSION = "1.1.1"
  VERSION_CODE = "010101"
end
