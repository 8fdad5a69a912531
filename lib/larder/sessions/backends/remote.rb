# frozen_string_literal: true

# Reads and writes bytes in the remote store of a LarderStore, without the copies in its file.

require_relative "store"

module Larder
  module Sessions
    module Backends
      # LarderStore answers an error of its remote store by a miss. These methods raise {UnavailableError} instead.
      class Remote < Direct
        # @param (see Direct#read)
        # @return [String, nil] bytes; nil also if this machine has deleted the entry, and the store does not know yet
        def read(name)
          return catch_up if listed?(name)

          direct { bytes(@store.remote.read(@store.remote.own_key(name), raw: true)&.value) }
        end

        # @param (see Direct#read_multi)
        # @return (see Direct#read_multi)
        def read_multi(names)
          found_of(names).transform_values { |value| bytes(value) }.compact
        end

        # @param (see Direct#read_both)
        # @return [Array(String, String)] bytes, each nil where it is missing; see {#read}
        def read_both(name, other)
          listed?(name) ? [catch_up, nil] : super
        end

        # @return (see Direct#counts?)
        def counts?
          Direct.new(@store.remote.store).counts?
        end

        # A change that the store does not get is not listed for later.
        #
        # @param (see Direct#count)
        # @return [void]
        def count(changes)
          remote = @store.remote
          changes = changes.transform_keys { |name| remote.own_key(name) }
          direct do
            remote.attempt(:increment) do
              next add_to(remote.store, changes, namespace: nil) unless remote.store.respond_to?(:count_all)

              remote.store.count_all(changes.transform_keys { |key| remote.name_of(key) })
            end
          end
        end

        # @param (see Direct#counts)
        # @return (see Direct#counts)
        def counts(names)
          found_of(names).transform_values(&:to_i)
        end

        # @param prefix [String]
        # @yieldparam rest [String] of each name that begins so
        # @return [void]
        # @raise [UnsupportedError]
        def each_name(prefix)
          return super unless @store.remote.store.respond_to?(:scan)

          prefix = @store.remote.name_of(@store.remote.own_key(prefix))
          step = nil
          loop do
            names, step = direct { @store.remote.attempt(:scan) { @store.remote.store.scan(prefix, step) } }
            names.each { |name| yield name.byteslice(prefix.bytesize..) }
            break if step.nil?
          end
        end

        # @param name [String]
        # @return [Boolean] has this machine deleted the entry, and has the store not got that, or gets it once more?
        def listed?(name)
          @store.remote.outbox.unlisted([@store.remote.own_key(name)]).empty?
        rescue ::Larder::Error
          false # a read says why the journal cannot be used
        end

        # @param (see Direct#exist?)
        # @return (see Direct#exist?)
        def exist?(name)
          !read(name).nil?
        end

        # Also for a request that makes no more calls: what the store does not delete is listed.
        #
        # @param (see Direct#delete)
        # @return (see Direct#delete)
        def delete(name)
          @store.delete(name)
        end

        # A delete that the store does not make is not listed: other machines may write the entry in between. It has no
        # copies.
        #
        # @param (see Direct#release)
        # @return [void]
        def release(name)
          direct { @store.remote.delete(@store.remote.own_key(name)) }
        end

        # @return [Boolean] has the store a compare-and-swap?
        def swaps?
          @store.remote.swaps?
        end

        # Compares and swaps.
        #
        # @param name [String]
        # @param expected [String] what was read
        # @param value [String] that no other caller writes
        # @param ttl [Numeric, nil] seconds to live
        # @return [Symbol, nil] :stored, :gone or :changed; nil: the entry was as expected, and may have been replaced
        def swap(name, expected, value, ttl)
          return :gone if listed?(name)

          found = nil
          swapped = direct do
            catch(:changed) do
              @store.cas(name, expires_in: limited(ttl)) do |now|
                found = now.b
                found == expected.b ? value : throw(:changed)
              end.tap { |answer| raise RemoteError, "it could not be asked for a change" if answer == false && !found }
            end
          end
          return :stored if swapped
          return found ? :changed : :gone unless found == expected.b

          after_swap(name, expected, value)
        end

        private

        def found_of(names)
          keys = names.to_h { |name| [@store.remote.own_key(name), name] }
          remote = @store.remote
          direct do
            remote.entries_of(remote.read_whole(keys.keys, raw: true), raw: true)
                  .to_h { |key, entry| [keys.fetch(key), entry.value] }
          end
        end

        # The client may have sent the change twice: then it has found its own value.
        def after_swap(name, expected, value)
          case read(name)
          when nil then :gone
          when value.b then :stored
          when expected.b then nil
          else :changed
          end
        rescue UnavailableError
          nil
        end

        # A change that is refused leaves the entry as it was.
        def put(name, value, **options)
          stored = super(name, value, kept: true, **options)
          stored.nil? ? raise(RemoteError, "it did not take a change") : stored
        end

        # Has the store delete what is listed, if that is due.
        def catch_up
          direct { @store.remote.outbox.ready? }
          nil
        rescue UnavailableError
          nil
        end
      end
    end
  end
end
