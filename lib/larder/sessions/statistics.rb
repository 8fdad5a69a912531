# frozen_string_literal: true

# Answers the questions of {Sessions} about sessions and users, and ends sessions.

require "openssl"
require "securerandom"
require "time"
require "larder/bytes/monotonic_clock"

module Larder
  module Sessions
    # For the sessions of one Repository. What the methods take and answer is described in {Sessions}.
    class Statistics
      include MonotonicClock

      # The key of the secret that handles are made with.
      SECRET = "secret"
      # Bytes of a handle's code.
      CODE = 16
      # Seconds back in time for which activity is shown.
      WINDOWS = { active_1m: 60, active_5m: 300, active_1h: 3600, active_1d: 86_400 }.freeze
      # The default of `of:`, any user. nil is not a user: `of: current_user` without a current user must not end the
      # sessions of others.
      ANYBODY = Object.new.freeze
      # The most times that a logout looks again for sessions of the user: a renewal moves them.
      PASSES = 10
      private_constant :SECRET, :CODE, :PASSES

      # @param repository [Repository]
      def initialize(repository)
        @repository = repository
        @index = repository.index
      end

      # @return [String] where the sessions are, for people
      def place
        @repository.backend.to_s
      end

      # @return [String, nil] the path of the file that has them; nil: a store has them
      def file
        @repository.backend.cache.path if @repository.backend.respond_to?(:cache)
      end

      # @return [Hash{Symbol=>Object}, nil] of the store behind the file, or of `cache:`: `:store`, its class;
      #   `:waiting`, `:listed` and `:overflown`, of changes that it has not got; with copies `:trusted`; nil: there
      #   is none
      def remote
        @repository.backend.remote_stats
      end

      # @return [Lifetimes]
      def lifetimes
        @repository.lifetimes
      end

      # @return [Hash{Symbol => Integer, Float, nil}] see {Sessions.stats}
      def stats
        used = WINDOWS.transform_values { |last| active(last: last) }
        return used unless @repository.backend.respond_to?(:cache)

        signed_in, anonymous = activity.alive(@repository.now)
        cache = @repository.backend.cache.stats
        { sessions: signed_in + anonymous, signed_in: signed_in, anonymous: anonymous }
          .merge(used, pinned_bytes: cache[:pinned_bytes], pinned_room_bytes: cache[:pinned_room_bytes],
                 full: cache[:pinned_bytes].fdiv(cache[:pinned_room_bytes]).round(4), evictions: cache[:evictions])
      end

      # @return [Integer] see {Sessions.active}
      def active(last:, signed_in: nil)
        both = activity.count(last: seconds(last), now: @repository.now)
        return both.sum if signed_in.nil?

        signed_in ? both.first : both.last
      end

      # @return [Hash{String => Time}] see {Sessions.online}
      def online(last:, limit: nil)
        recently(last, limit).first
      end

      # As {#online}, and stops when the time is over.
      #
      # @param seconds [Numeric] that reading may take
      # @return [Array(Hash{String => Time}, Integer, Boolean)] users, how many sessions were read, and whether these
      #   are all
      def online_within(seconds, last:, limit: nil)
        deadline = monotonic_now + seconds
        recently(last, limit) { monotonic_now < deadline }
      end

      # @return [Boolean] see {Sessions.logged_in?}
      def logged_in?(user)
        user = Identity.of(user)
        keys_of(user).reverse_each.any? { |key| record(key, user) }
      end

      # @return [Time, nil] see {Sessions.last_seen}
      def last_seen(user)
        user = Identity.of(user)
        times = keys_of(user).filter_map { |key| record(key, user)&.used }
        seen = [*times, @index.users.seen(user)].max
        Time.at(seen) if seen.positive?
      end

      # @return [Array<Info>] see {Sessions.for}
      def for(user)
        user = Identity.of(user)
        keys = keys_of(user)
        secret = secret()
        found = keys.filter_map do |key|
          record = record(key, user)
          record && Info.new(handle: handle(record, key, secret), record: record, format: @repository.format)
        end
        found.sort_by { |info| [-info.used_at.to_i, info.handle] }
      end

      # @return [Boolean] see {Sessions.revoke}
      def revoke(handle, of: ANYBODY)
        of = Identity.of(of) unless ANYBODY.equal?(of)
        user, code = split(handle)
        key = user && key_with(code, user)
        !key.nil? && end_one(key, ANYBODY.equal?(of) ? user : of)
      end

      # @return [Integer] see {Sessions.logout}
      def logout(user, except: nil)
        user = Identity.of(user)
        kept = except && key_of(except, user)
        ended = end_all(user, kept)
        return ended unless @repository.backend.copied? || @repository.migrating

        @index.log_out(user, except: kept_of(kept))
        ended + end_all(user, kept) # what was reloaded before the note
      end

      # @return [Integer, nil] see {Sessions.logout_all}
      def logout_all
        @index.log_out_all
        return if @repository.backend.checks_epochs?

        @repository.sessions.count { |key, record| record.user? && @repository.end(key) }
      end

      # @return [Integer] see {Sessions.clear_anonymous}
      def clear_anonymous
        @repository.sessions.count { |key, record| !record.user? && @repository.end_anonymous(key) }
      end

      # @return [void]
      def recount
        @repository.recount
      end

      # @return [String, nil] see {Sessions.handle_of}
      def handle_of(session)
        key, record = signed_in(key_in(session))
        handle(record, key, secret) if key
      end

      private

      def activity
        @repository.repair_counts
        @index.activity || raise(UnsupportedError, "#{@repository.backend} has no counters (increment), so active " \
                                                   "and stats do not work with it: they do with the stores of " \
                                                   "Rails, and with sessions in a file")
      end

      def seconds(last)
        return last.to_f if last.respond_to?(:to_f) && !last.is_a?(String) && last.to_f.positive?

        raise InvalidArgument, "last: #{last.inspect} is no number of seconds above 0"
      end

      # Asks the block before each session, if there is one, whether to go on.
      def recently(last, limit)
        since = @repository.now - seconds(last)
        unless limit.nil? || (limit.is_a?(Integer) && limit.positive?)
          raise InvalidArgument, "limit: #{limit.inspect} is no number of users above 0"
        end

        used = Hash.new(0)
        count, whole = 0, true
        @repository.sessions.map(&:last).each do |record|
          whole = !block_given? || yield
          break unless whole

          count += 1
          record.users.each { |user| used[user] = [used[user], record.used].max } if record.used >= since
        end
        newest = used.min_by(limit || used.size) { |user, at| [-at, user] }
        [newest.to_h.transform_values { |at| Time.at(at) }, count, whole]
      end

      def end_all(user, kept)
        ended = 0
        PASSES.times do
          keys = keys_of(user) - kept_of(kept)
          break if keys.empty?

          ended += end_each(keys, user)
        end
        ended
      end

      # A request that signs in meanwhile either finds its key removed, and ends its session, or stored it before: then
      # the second look finds it.
      def end_each(keys, user)
        ended = keys.count { |key| record(key, user) && @repository.end(key) }
        keys.each { |key| @index.users.remove(user, key, seen: 0) }
        ended + keys.count { |key| record(key, user) && @repository.end(key) }
      end

      # A session that is renewed meanwhile is ended under its other key.
      def end_one(key, user)
        return @repository.end(key) if record(key, user)

        @repository.successors(key).map { |other| end_one(other, user) }.any?
      end

      # The session may have been renewed, also several times, since the request found it.
      #
      # @return [Array(String, Record), nil] its key now; nil: no user is signed in
      def signed_in(key)
        record = key && @repository.record(key)
        return ([key, record] if record.user?) if record

        followers = key ? @repository.successors(key) : []
        followers = followers.select { |other| @repository.predecessors(other).include?(key) } # of the same user
        followers.lazy.filter_map { |other| signed_in(other) }.first
      end

      def kept_of(key)
        key ? [key, *@repository.successors(key).flat_map { |other| kept_of(other) }] : []
      end

      # @raise [UnavailableError] they are not known
      def keys_of(user)
        @index.users.keys(user)
      end

      def record(key, user)
        record = @repository.record(key)
        record if record&.users&.include?(user)
      end

      # It names the first user of the session, by whom the session is found, and an HMAC of its key.
      def handle(record, key, secret)
        "#{[record.users.first].pack("m0").tr("+/", "-_").delete("=")}.#{code(key, secret)}"
      end

      def code(key, secret)
        OpenSSL::HMAC.digest("SHA256", secret, key).byteslice(0, CODE).unpack1("H*")
      end

      def split(handle)
        name, code = handle.to_s.b.split(".", 2)
        return unless code&.match?(/\A\h{#{CODE * 2}}\z/o) && name.match?(/\A[\w-]+\z/)

        user = name.tr("-_", "+/").unpack1("m").force_encoding(Encoding::UTF_8)
        [user, code] if user.bytesize <= Identity::MAX
      end

      # In the file, so that handles are the same in all processes.
      def secret
        backend = @repository.backend
        backend.read(SECRET) || begin
          backend.add(SECRET, backend.reload(SECRET) || SecureRandom.bytes(32), nil, pin: true)
          backend.read(SECRET) || backend.refused("the secret of handles")
        end
      end

      def key_of(except, user)
        return key_in(except) unless except.is_a?(String)

        _, code = split(except)
        (code && key_with(code, user)) || raise(InvalidArgument, "except: is no handle of a session of this user")
      end

      # By its code, or by that of a key that the session had before.
      def key_with(code, user)
        secret = secret()
        same = ->(key) { OpenSSL.fixed_length_secure_compare(code(key, secret), code) }
        keys = keys_of(user)
        keys.find(&same) || keys.find { |key| @repository.predecessors(key).any?(&same) }
      end

      def key_in(session)
        id = session.id if (known = session.respond_to?(:id))
        unless known && (id.nil? || id.respond_to?(:public_id))
          raise InvalidArgument, "#{session.class} has no id of a session: give the session of a request"
        end

        id && Digest::SHA256.digest(id.public_id)
      end
    end

    # A session in which somebody is signed in. Its key and its id stay hidden.
    class Info
      # @return [String] names it for {Sessions.revoke}; safe to show to its user
      attr_reader :handle

      # @param handle [String]
      # @param record [Record]
      # @param format [#load] of its values
      def initialize(handle:, record:, format:)
        @handle = handle
        @record = record
        @format = format
      end

      # @return [String] see {Identity}; of several the first
      def user
        users.first
      end

      # @return [Array<String>] all who are signed in in it
      def users
        @record.users
      end

      # @return [Time] when it began
      def began_at
        Time.at(@record.began)
      end

      # @return [Time] when it was last used, to a minute
      def used_at
        Time.at(@record.used)
      end

      # @param key [String, Symbol]
      # @return [Object, nil] what the session has under that key
      # @raise [UnreadableError]
      def [](key)
        (@values ||= @format.load(@record.values))[key.to_s]
      end

      # @return [Hash{Symbol => String, Array<String>}]
      def to_h
        { handle: handle, user: user, users: users, began_at: began_at.utc.iso8601, used_at: used_at.utc.iso8601 }
      end

      # @return [String] without its values
      def inspect
        "#<#{self.class} #{handle} began #{began_at} used #{used_at}>"
      end
    end
  end
end
