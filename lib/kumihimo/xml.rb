# frozen_string_literal: true

# Demand-driven XML: trees of large remote documents whose parts arrive as they are read. docs/XML.md is the guide.
require "monitor"
require "kumihimo/flow"
require "kumihimo/xml/errors"
require "kumihimo/xml/types"
require "kumihimo/xml/field"
require "kumihimo/xml/build"
require "kumihimo/xml/parts"
require "kumihimo/xml/tree"
require "kumihimo/xml/demand"
require "kumihimo/xml/list"
require "kumihimo/xml/source"
require "kumihimo/xml/push"

module Kumihimo
  module XML
    class << self
      # The document as a tree of `klass`, at once: its parts arrive as they are read. `source` is a URL (http, https), a path,
      # the text of a document (it begins with "<"), an IO, or anything with readpartial or read.
      #
      # Options: buffer: (:adaptive, :paper, :small, :large, or a number of rows), timeout:, connect_timeout:, read_timeout: (seconds),
      # headers:, proxy:, redirects:, retries:, backoff:, encoding:, limits: (a Hash), lenient: (a missing field is nil), decompress:,
      # max_ratio:, allow_downgrade:.
      def open(source, klass, **options) = Source.open(source, klass, nil, options)

      # As open, of text whatever it begins with.
      def parse(text, klass, **options)
        text = text.to_str
        raise TypeError, "#{klass.inspect} is no class of trees: give a subclass of Kumihimo::XTree" unless klass.is_a?(Class) && klass < XTree
        Source.text(text, klass.__schema, options)
      end

      # The elements that a path such as "/table/row" or "//row" names, as a list that is kept while it is referred to.
      def list(source, path, klass, **options)
        XList.__wrap(Source.elements(source, klass, path, options), klass)
      end

      # Each of them, kept by nobody but the block; leaving the block, however, closes the document. Without a block the
      # list, which can be read once.
      def each(source, path, klass, **options, &block)
        core = Source.elements(source, klass, path, options)
        __xlist_set_cut(core)
        list = XList.__wrap(core, klass, true)
        return list unless block
        list.each(&block)
        nil
      end

      # Counts: documents that can still be reached, sources open now and since the start, elements, batches, bytes, and more. Of a
      # tree, list or reader: how its document stands (`received` of `total` bytes of the wire, where that is known; `waiting`: how
      # many threads and fibers want something of it that has not come).
      def stat(part = nil)
        return Hash[*__xstat] if part.nil?
        part = part.__core if part.is_a?(XList) || part.is_a?(XList::Reader)
        found = __xdoc_stat(part)
        raise TypeError, "#{part.class} belongs to no open document" unless found
        Hash[*found]
      end
    end

    __xml_setup(self)
  end

  module Flow
    # Parks until a list's reader may have something; handles are what its wait_handle gave.
    def self.wait_native(handles) = __xwait(handles)
  end
end
