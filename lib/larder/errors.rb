# frozen_string_literal: true

# The exceptions of Larder: one class per thing a caller would do differently. Which status of the engine raises which
# class is said once, in STATUS_CLASSES (ext/larder/base/errors.c). A miss is no error.

module Larder
  # Everything Larder raises, but TypeError for an argument of the wrong class.
  #
  # @example
  #   begin
  #     cache.get("k" * 5000)
  #   rescue Larder::Error => error
  #     error.class
  #   end #=> Larder::InvalidArgument
  class Error < StandardError; end

  # An argument no cache can take: a key or value that is too long, a number out of range.
  class InvalidArgument < Error; end

  # The cache could not be opened: no cache file, another owner, a network file system, no room on the disk. The
  # message names the path and the remedy.
  class OpenError < Error; end

  # A lock was not had within `lock_timeout`: its owner is alive but stopped or very slow. Raised where there is no
  # other answer (`increment`); methods that store answer false.
  class BusyError < Error; end

  # No room could be made for the item, raised by `increment` and with `pin: true`; methods that store answer false
  # otherwise.
  class FullError < Error; end

  # `increment` or `decrement` of a value that is no decimal 64-bit integer, or beyond what 64 bits hold.
  class NotANumber < Error; end

  # The cache object was closed.
  class ClosedError < Error; end

  # The file was truncated or replaced by one this process cannot use. Reads are misses until it is opened again.
  class DamagedError < Error; end
end
