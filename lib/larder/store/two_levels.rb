# frozen_string_literal: true

# The file of this machine, with a remote store behind it.

require "forwardable"
require "larder/store/two_levels/back_offs"
require "larder/store/two_levels/copies"
require "larder/store/two_levels/machines"
require "larder/store/two_levels/notes"
require "larder/store/two_levels/remote_lease"
require "larder/store/two_levels/roster"
require "larder/store/two_levels/tag_versions"
require "larder/store/two_levels/changes"
require "larder/store/two_levels/expiry"
require "larder/store/two_levels/reads"
require "larder/store/two_levels/swaps"

module Larder
  module Store
    # Has the methods of {LocalLevel}. The file answers for as long as a copy is used; for all else the remote store is
    # asked. Changes are applied to the remote store first, then to the file, and then published.
    # @api private
    class TwoLevels
      extend Forwardable

      # @return [LocalLevel]
      attr_reader :local
      # @return [Records] as of LocalLevel
      attr_reader :records
      # @return [Failsafe] as of LocalLevel
      attr_reader :failsafe
      # @return [Remote::Client]
      attr_reader :remote
      # @return [Machines]
      attr_reader :machines
      # @return [Copies]
      attr_reader :copies
      # @return [TagVersions]
      attr_reader :tags
      # @return [BackOffs]
      attr_reader :back_offs
      # @return [ComputeTimes]
      attr_reader :times
      # @return [Roster]
      attr_reader :roster

      # As of LocalLevel.
      def_delegators :@reads, :read, :read_many, :kept, :kept_many, :remote_many
      def_delegators :@changes, :write, :write_many, :store_again, :delete, :delete_many, :delete_tagged, :clear,
                     :delete_matched, :count
      def_delegators :@expiry, :expire
      def_delegators :@swaps, :swaps?, :swap, :swap_many
      def_delegators :@machines, :trusted?
      # The file's entry, however stale, and the leases of this machine. C stores plain entries as records, which only a
      # file takes.
      def_delegators :@local, :cache, :format, :kept_copy, :used, :early?, :take_lease, :lease_over?, :end_lease,
                     :store_records
      # For the parts of this level.
      def_delegators :@copies, :asked

      # @param local [LocalLevel]
      # @param remote [Remote::Client]
      # @param machines [Machines]
      # @param expires_in [Float] seconds that a copy is used
      # @yieldparam key [String] of the store itself
      # @yieldreturn [String] the same, not longer than a key may be
      def initialize(local, remote, machines, expires_in, &shorten)
        @local = local
        @records = local.records
        @failsafe = local.failsafe
        @remote = remote
        @machines = machines
        notes = Notes.new(local.cache, local.records)
        @tags = TagVersions.new(remote, SeenTags.new(notes))
        @back_offs = BackOffs.new(notes, remote, @failsafe, &shorten)
        @times = ComputeTimes.new(notes, @failsafe)
        @copies = Copies.new(self, expires_in)
        @reads = Reads.new(self)
        @changes = Changes.new(self)
        @expiry = Expiry.new(self)
        @swaps = Swaps.new(self)
        @roster = Roster.new(self)
      end

      # As of LocalLevel.
      def slow?
        true
      end

      # As of LocalLevel. {#read} and {#kept} have counted already: an entry of the remote store is a miss of the file.
      #
      # @return [nil]
      def not_used(_key, _entry = nil); end

      # Other machines are listened to from then on.
      #
      # @return [Boolean] true if the remote store may be asked
      def ready?
        @machines.listen
        @remote.outbox.ready?
      end

      # As of LocalLevel, with the versions that the tags of the call have.
      def stamp(call = nil)
        moment = SeenTags.moment
        names = call && call.options[:tags] ? call.texts.names : []
        versions = @failsafe.guard(:read_multi_entries) { @tags.current(names) if @remote.outbox.ready? } if names.any?
        TagVersions::Stamp.new(@local.stamp, versions || {}, moment)
      end

      # Only copies have expired: the remote store may have others.
      def drop_expired(keys)
        @copies.drop(keys)
      end

      # The file alone is read: a call of the remote store takes and ends a lease of the key itself, so that this caller
      # could never take it over.
      def landed(call)
        @local.landed(call) if trusted?
      end

      # Yields to compute a value, unless another machine has computed it: true, if it is stored.
      #
      # @return [Object] the value; {RemoteLease::AGAIN}: the lease of this machine has ended
      def across(call, flight, deadline, &block)
        RemoteLease.new(self, call, flight).run(deadline, &block)
      end

      # As {#across}, for the values of several keys.
      #
      # @param flights [Hash{Call=>Flight}]
      # @yieldparam flights [Hash{Call=>Flight}] of the values that are to be computed
      # @return [Hash{Object=>Object}] by name, the values that other machines have computed
      def across_many(flights, &block)
        RemoteLease.across_many(self, flights, &block)
      end

      # ---- errors of blocks ----

      # As of LocalLevel. The lease does not make the file's old value fresh, which another machine may have replaced.
      def after_error(call, began)
        back_off(call, began)
        0
      end

      # As of LocalLevel.
      def back_off(call, began, entry = kept(call))
        return unless entry&.expired? && entry.expires_at <= began

        @back_offs.begin(call.key, entry) { ready? }
      end

      # As of LocalLevel.
      def backs_off?(call, entry)
        entry&.expired? ? @back_offs.any?(call.key, entry) : false
      end

      # @return [Hash{Symbol=>Object}] with those of the remote store
      def stats
        figures = nil
        file = @failsafe.guard(:stats, returning: {}) do
          figures = @local.cache.stats
          { trusted: @machines.trusted_now? }
        end
        remote = { store: @remote.store.class.name, **@remote.outbox.stats, trusted: file[:trusted],
                   listener: @machines.listener? }
        { **figures.to_h, remote: remote }
      end
    end
  end
end
