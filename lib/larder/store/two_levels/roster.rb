# frozen_string_literal: true

# Publishes the status of this machine in the remote store, and reads those of all machines.

require "digest"
require "etc"
require "json"
require "larder/bytes/application"
require "larder/bytes/monotonic_clock"
require "larder/bytes/usage"
require "larder/remote/backplane/errand"
require "larder/store/machine_status"

module Larder
  module Store
    class TwoLevels
      # Each machine has an entry of its own, which it writes once a minute, and there is one entry with the ids of all.
      # Two machines that write that one at the same moment may lose an id; its machine enters it again a minute later.
      # The entries are texts, so that reading them loads nothing, and they expire an hour after the last write.
      #
      # A thread writes, so no request waits for it. A remote store that does not answer is reported by the calls that
      # need it, and not by this one.
      # @api private
      class Roster
        include MonotonicClock

        # Seconds between two writes of a machine, and the life of its entry.
        EVERY = 60
        KEPT = 3600
        # Seconds after which a machine renews its id in the list, so that the others do not drop it.
        RENEWED = 600
        # Machines that are read.
        MOST = 200
        # Keys, within the namespace.
        LIST = "larder/machines"
        HOUR = 3600
        RAW = { raw: true }.freeze
        private_constant :KEPT, :RENEWED, :MOST, :LIST, :HOUR, :RAW

        # @param levels [TwoLevels]
        def initialize(levels)
          @remote = levels.remote
          @machines = levels.machines
          @cache = levels.cache
          @due_at = 0
          @errand = Remote::Backplane::Errand.new { Application.in_executor { publish } }
        end

        # Has a thread publish the status, if no process of the machine has done so within a minute. A cache that the
        # application has not used yet has no file, and none is created.
        #
        # @return [void]
        def publish_if_due
          now = monotonic_now
          return if now < @due_at || !File.exist?(@cache.path)

          @due_at = now + EVERY
          @errand.start if @remote.outbox.turn?(LIST, EVERY)
        rescue ThreadError
          nil # a process that has no room for a thread
        end

        # @return [void]
        def publish
          return if @remote.pauses?

          status = own
          write(key_of(status.id), status.text)
          enter(status)
        rescue RemoteError, *Failsafe::ERRORS
          nil # the machine has no new status, and the next is due in a minute
        end

        # @return [Array<MachineStatus>] this machine, as it is now, and then the others by name
        # @raise [RemoteError] the remote store does not answer
        def all
          mine = own
          others = listed.keys.first(MOST) - [mine.id]
          found = others.filter_map { |id| MachineStatus.parse(@remote.read_listed(key_of(id))) }
          [mine, *found.sort_by { |status| [status.host, status.id] }]
        end

        # @return [MachineStatus] of this machine now
        def own
          waits = @remote.outbox.stats
          since = @remote.outbox.journal.since if waits[:waiting]
          MachineStatus.new(id: id, host: host, path: readable(@cache.path), larder: VERSION, seen_at: Time.now.to_f,
                            **file, backplane: @machines.any?, listener: @machines.listener?, unsent: @machines.unsent?,
                            **waits, waiting_since: since&.to_f, paused: @remote.pauses?, here: true)
        end

        private

        # Where the journal cannot be opened, it has no id.
        def id
          @remote.outbox.known_machine || Digest::SHA256.hexdigest("#{host}\0#{@cache.path}")[0, 16]
        end

        def host
          @host ||= readable(Etc.uname[:nodename])
        end

        def file
          stats = @cache.stats
          { processes: stats[:processes], items: stats[:items], size_bytes: stats[:size_bytes],
            fullness: stats[:fullness].round(4), hit_ratio: hit_ratio&.round(4), trusted: @machines.trusted_now? }
        rescue Larder::Error
          { processes: nil, items: nil, size_bytes: nil, fullness: nil, hit_ratio: nil, trusted: nil }
        end

        def hit_ratio
          Usage.read(@cache.path)&.last(HOUR)&.whole&.hit_ratio
        end

        # Drops ids whose machines have not renewed them.
        def enter(status)
          now = status.seen_at
          ids = listed
          kept = ids.select { |_, at| (now - at).abs < KEPT + RENEWED }
          return if kept.size == ids.size && kept[status.id] && (now - kept[status.id]).abs < RENEWED

          write(key_of, JSON.generate(kept.merge(status.id => now.to_i)))
        end

        # @return [Hash{String=>Integer}] ids, and the Unix seconds at which each was entered
        def listed
          found = JSON.parse(@remote.read_listed(key_of) || "{}", max_nesting: 1)
          return {} unless found.is_a?(Hash)

          found.select { |id, at| id.match?(/\A\h{16}\z/) && at.is_a?(Integer) }
        rescue JSON::ParserError, EncodingError, TypeError
          {}
        end

        def write(key, text)
          @remote.write(key, ActiveSupport::Cache::Entry.new(text, expires_in: KEPT), KEPT, RAW)
        end

        def key_of(*id)
          @remote.lasting_key([LIST, *id].join("/"))
        end

        def readable(text)
          text.dup.force_encoding(Encoding::UTF_8).scrub[0, 255]
        end
      end
    end
  end
end
