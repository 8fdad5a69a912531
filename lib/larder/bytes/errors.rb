# frozen_string_literal: true

# The exceptions of Larder: one class for each case that callers handle differently. STATUS_CLASSES in
# ext/larder/base/errors.c maps the engine's status codes to them. A miss is not an error.

module Larder
  # The base of all exceptions of Larder, except Ruby's own for wrong arguments: TypeError for one of the wrong class,
  # and ArgumentError for an unknown option or a value that an option does not take.
  #
  # @example
  #   begin
  #     cache.get("k" * 5000)
  #   rescue Larder::Error => error
  #     error.class
  #   end #=> Larder::InvalidArgument
  class Error < StandardError; end

  # An invalid argument: a key or value that is too long, a number out of range.
  class InvalidArgument < Error; end

  # The cache could not be opened: not a cache file, another owner, a network file system, a full disk. The
  # message names the path and the remedy.
  class OpenError < Error; end

  # Lock timeout: the owner of the lock is alive, but stopped or very slow. Raised by `increment`, `prune` and `verify`,
  # which have no other result for this; methods that store return false.
  class BusyError < Error; end

  # Eviction found no room for the item, or pinned items take all the room that they may. Raised by `increment` and with
  # `pin: true`; other stores return false. The message names the remedy.
  class FullError < Error; end

  # `increment` or `decrement` of a value that is not a decimal 64-bit integer, or an overflow of 64 bits.
  class NotANumber < Error; end

  # The cache object was closed.
  class ClosedError < Error; end

  # The store behind the file, which several machines share, could not serve: see `remote:` of LarderStore.
  class RemoteError < Error; end

  # The file was truncated or replaced by one this process cannot use. Reads are misses until it is opened again.
  class DamagedError < Error; end
end
