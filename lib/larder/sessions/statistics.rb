# frozen_string_literal: true

# Owns the questions about sessions and users that {Sessions} answers. Changes nothing but by ending sessions.

require "openssl"
require "securerandom"
require_relative "info"

module Larder
  module Sessions
    # Answers for one Repository.
    class Statistics
      # Where the secret of handles is kept.
      SECRET = "secret"
      # Bytes of a handle's code.
      CODE = 16
      # Seconds back in time for which activity is shown.
      WINDOWS = { active_1m: 60, active_5m: 300, active_1h: 3600, active_1d: 86_400 }.freeze
      # Looks of a logout at the user's sessions, of which more may come meanwhile: those that a renewal moves on.
      PASSES = 10
      private_constant :SECRET, :CODE, :PASSES

      # @param repository [Repository]
      def initialize(repository)
        @repository = repository
        @index = repository.index
      end

      # @return [Hash{Symbol => Integer, Float, nil}] see {Sessions.stats}
      def stats
        activity
        cache = @repository.backend.cache.stats
        signed_in, = count(@repository.lifetimes.idle)
        _, anonymous = count(@repository.lifetimes.anonymous)
        { sessions: signed_in + anonymous, signed_in: signed_in, anonymous: anonymous }
          .merge(WINDOWS.transform_values { |last| active(last: last) })
          .merge(pinned_bytes: cache[:pinned_bytes], pinned_room_bytes: cache[:pinned_room_bytes],
                 full: cache[:pinned_bytes].fdiv(cache[:pinned_room_bytes]).round(4), evictions: cache[:evictions])
      end

      # @param last [Numeric] seconds
      # @param signed_in [Boolean, nil] only of those who are, or are not; nil: all
      # @return [Integer]
      def active(last:, signed_in: nil)
        those, others = count(seconds(last))
        return those + others if signed_in.nil?

        signed_in ? those : others
      end

      # @param last [Numeric] seconds
      # @param limit [Integer, nil] users, nil: all
      # @return [Hash{String => Time}] see {Sessions.online}
      def online(last:, limit: nil)
        since = @repository.now - seconds(last)
        unless limit.nil? || (limit.is_a?(Integer) && limit.positive?)
          raise InvalidArgument, "limit: #{limit.inspect} is no number of users above 0"
        end

        activity
        used = Hash.new(0)
        each_record do |_, record|
          record.users.each { |user| used[user] = [used[user], record.used].max } if record.used >= since
        end
        used.min_by(limit || used.size) { |user, at| [-at, user] }.to_h.transform_values { |at| Time.at(at) }
      end

      # @param user [Object] see {Identity.of}
      # @return [Boolean]
      def logged_in?(user)
        user = Identity.of(user)
        @index.users.any?(user) { |key| record(key, user) }
      end

      # @param user [Object]
      # @return [Time, nil]
      def last_seen(user)
        user = Identity.of(user)
        times = @index.users.keys(user).filter_map { |key| record(key, user)&.used }
        seen = [*times, @index.users.seen(user)].compact.max
        seen && Time.at(seen)
      end

      # @param user [Object]
      # @return [Array<Info>] the one that was used last before the others
      def for(user)
        user = Identity.of(user)
        secret = secret()
        found = @index.users.keys(user).filter_map do |key|
          record = record(key, user)
          record && Info.new(handle: handle(record, key, secret), record: record, format: @repository.format)
        end
        found.sort_by { |info| [-info.used_at.to_i, info.handle] }
      end

      # @param handle [String]
      # @return [Boolean] was there such a session?
      def revoke(handle)
        user, code = split(handle)
        key = user && key_with(code, user)
        !key.nil? && end_one(key, user)
      end

      # @param user [Object]
      # @param except [String, #id, nil] a handle or a session that goes on
      # @return [Integer] how many were ended
      def logout(user, except: nil)
        user = Identity.of(user)
        kept = except && key_of(except, user)
        ended = end_all(user, kept)
        return ended unless @repository.backend.copied?

        @index.log_out(user, except: kept_of(kept))
        ended + end_all(user, kept) # what came back before the note
      end

      # @return [Integer] how many were ended
      def logout_all
        activity
        @index.log_out_all
        each_record.count { |key, record| record.user? && @repository.end(key) }
      end

      # @return [Integer] how many were ended
      def clear_anonymous
        activity
        each_record.count { |key, record| !record.user? && @repository.end_anonymous(key) }
      end

      # Counts activity anew.
      # @return [void]
      def recount
        activity
        @index.recount
      end

      # @param session [#id] of a request
      # @return [String, nil] its handle, nil: nobody is signed in
      def handle_of(session)
        key = key_in(session)
        record = key && @repository.record(key)
        handle(record, key, secret) if record&.user?
      end

      private

      def activity
        @index.activity ||
          raise(UnsupportedError, "sessions are counted in Larder's file, and these are in #{@repository.backend}. " \
                                  "Keep them in file: with backed_by: that store")
      end

      def seconds(last)
        return last.to_f if last.respond_to?(:to_f) && !last.is_a?(String) && last.to_f.positive?

        raise InvalidArgument, "last: #{last.inspect} is no number of seconds above 0"
      end

      # Nobody knows how many would be alive who may idle for ever: all that were counted.
      def count(last)
        activity
        @index.look_after_the_dead
        @index.activity.count(last: last || Float::INFINITY, now: @repository.now)
      end

      def end_all(user, kept)
        ended = 0
        PASSES.times do
          keys = @index.users.keys(user) - kept_of(kept)
          break if keys.empty?

          ended += end_each(keys, user)
        end
        ended
      end

      # Whoever is signing in at this moment either sees that the key has gone, and ends the session, or has stored it
      # before: then it is here by the second look.
      def end_each(keys, user)
        ended = keys.count { |key| record(key, user) && @repository.end(key) }
        keys.each { |key| @index.users.remove(user, key, seen: 0) }
        ended + keys.count { |key| record(key, user) && @repository.end(key) }
      end

      # What is moved on at this moment is ended under its other key.
      def end_one(key, user)
        return @repository.end(key) if record(key, user)

        @repository.successors(key).map { |other| end_one(other, user) }.any?
      end

      def kept_of(key)
        key ? [key, *@repository.successors(key)] : []
      end

      def record(key, user)
        record = @repository.record(key)
        record if record&.users&.include?(user)
      end

      def each_record
        return enum_for(:each_record) unless block_given?

        @repository.each_key do |key|
          record = @repository.record(key)
          yield key, record if record
        end
      end

      # A handle names a user, the first of the session's, so that nothing has to be kept to find a session by it; its
      # code tells nothing about the session's key or id.
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

      def same?(one, other)
        one.bytesize == other.bytesize && OpenSSL.fixed_length_secure_compare(one, other)
      end

      # Kept beside the sessions, so that handles are the same in all processes.
      def secret
        backend = @repository.backend
        backend.read(SECRET) || begin
          backend.add(SECRET, SecureRandom.bytes(32), nil, pin: true)
          backend.read(SECRET) || raise(Error, "#{backend} kept no secret for handles")
        end
      end

      def key_of(except, user)
        return key_in(except) unless except.is_a?(String)

        _, code = split(except)
        (code && key_with(code, user)) || raise(InvalidArgument, "except: is no handle of a session of this user")
      end

      def key_with(code, user)
        secret = secret()
        keys = @index.users.keys(user)
        keys.find { |key| same?(code(key, secret), code) } || keys.find do |key|
          @repository.predecessors(key).any? { |before| same?(code(before, secret), code) }
        end
      end

      def key_in(session)
        id = session.id
        raise InvalidArgument, "#{session.class} has no id of a session" unless id.nil? || id.respond_to?(:public_id)

        id && Digest::SHA256.digest(id.public_id)
      end
    end
  end
end
