# frozen_string_literal: true

# A PStore whose file is YAML.
require "yaml"
require "pstore"

class YAML::Store < PStore
  # Options are those of `YAML.dump`. The second argument may be left out.
  def initialize(file, thread_safe = nil, options = {}, **more)
    thread_safe, options = nil, thread_safe if thread_safe.is_a?(Hash)
    @options = options.merge(more)
    super(file, thread_safe || false)
  end

  private

  def dump(table) = table.to_yaml(@options)
  # As text of strangers: what is not plain is refused.
  def load(text) = YAML.safe_load(text, permitted_classes: [Symbol]) || {}
end
