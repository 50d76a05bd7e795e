# frozen_string_literal: true

raise LoadError, "SortedSet is a gem of its own: sorted_set"
