# frozen_string_literal: true

# The naive model: which sessions a group of users should have. Knows nothing of Larder's file.

require_relative "subject"

module SessionProof
  # What one request of an operation does. kind: :begin, :commit, :renew, :end, :revoke or :logout. id: the number of
  # the session that it is about; to: of the one that it makes; set, removed: what it changes in the values; user and
  # except: of a logout. result, started and finished are known once it has been played; result is nil if its process
  # died, or the answer was that the store cannot tell. machine: where it is made, if there are several.
  Request = Struct.new(:kind, :id, :to, :set, :removed, :user, :except, :result, :started, :finished, :machine) do
    # @return [Boolean] does it change that key?
    def touches?(key)
      set.key?(key) || removed.include?(key)
    end

    # @return [Boolean] may it end a session, by what it does itself?
    def ends?(number)
      %i[end revoke renew].include?(kind) && id == number
    end

    # @return [String]
    def to_s
      what = [kind, id, ("-> #{to}" if to), ("user #{user}" if user), ("except #{except}" if except), set, removed,
              ("on machine #{machine}" if machine)]
      "#{what.reject { |part| part.nil? || part == {} || part == [] }.join(" ")} = #{result.inspect}"
    end
  end

  # A session as it is known. values: numbers, or [stamp, size] for a String; used and began are Ranges of seconds,
  # for who was killed may or may not have written them; entered: when it came to be its user's, in operations.
  Session = Struct.new(:values, :used, :began, :entered) do
    # @return [Integer, nil]
    def user
      values["user_id"]
    end

    # @return [Boolean] may it have come to its end?
    def perhaps_over?(now)
      now >= used.begin + timeout || now >= began.begin + Subject::MAX_LIFETIME
    end

    # @return [Boolean] must it?
    def over?(now)
      now >= used.end + (timeout * (1 + Subject::TOLERANCE)) || now >= began.end + Subject::MAX_LIFETIME
    end

    private

    def timeout
      user ? Subject::IDLE : Subject::ANONYMOUS
    end
  end

  # An id that a session had before. until: a sign-out by it holds so long, nil: perhaps not at all. alone: one request
  # renewed the session, and its users stayed the same.
  Former = Struct.new(:id, :until, :alone) do
    # @return [Boolean] does a sign-out by it hold?
    def holds?(now)
      !self.until.nil? && now < self.until
    end
  end

  # Two users and their browsers. Ended is each session up to `made` that is not among `sessions`. former: what
  # a session was before it was renewed, the last one first; seen: when a user was last seen, as was answered;
  # intent: what is being done, while it is.
  Household = Struct.new(:number, :made, :turn, :clock, :sessions, :former, :seen, :intent, :history) do
    # @return [Household] an empty one
    def self.make(number)
      new(number, 0, 0, 0, {}, {}, {}, nil, [])
    end

    # @return [Array<Integer>] the users
    def users
      [(number * 2) + 1, (number * 2) + 2]
    end

    # @param session [Integer]
    # @return [String] a session's id
    def id(session)
      "#{number}/#{session}"
    end

    # @param requests [Array<Request>] that have been played
    # @param noted [Boolean] is it known that Larder has been able to note which id follows which?
    # @return [void]
    def follow(requests, noted)
      requests.each do |one|
        next unless one.kind == :renew && sessions.key?(one.to)

        alone = requests.size == 1 && !one.touches?("user_id")
        former[one.to] = [Former.new(one.id, (clock + Subject::FORMER_HOLDS if noted), alone), *former[one.id]]
      end
      former.select! { |session, _| sessions.key?(session) }
    end

    # @return [Hash{Integer => Session}]
    def of(user)
      sessions.select { |_, session| session.user == user }
    end
  end

  # Strings that say who has set them, at any length.
  module Value
    module_function

    # @param value [Integer, Array(Integer, Integer), nil]
    # @return [Object] as it stands in a session
    def expand(value)
      value.is_a?(Array) ? "#{value.first}:".ljust(value.last, "x") : value
    end

    # @param values [Hash{String => Object}]
    # @return [Hash{String => Object}]
    def expand_all(values)
      values.transform_values { |value| expand(value) }
    end
  end
end
