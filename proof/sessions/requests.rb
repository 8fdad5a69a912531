# frozen_string_literal: true

# Chooses the requests of an operation at random: one, or several that overlap.

require_relative "model"

module SessionProof
  # Draws the requests of operations on one household.
  class Requests
    # Kinds of requests, and how often each is drawn.
    WEIGHTS = { sign_in: 10, visit: 8, read: 14, change: 26, grow: 8, renew: 8, sign_in_renewed: 7, sign_in_here: 4,
                switch: 3, sign_out_here: 3, end: 9, revoke: 3, logout: 2, logout_others: 3 }.freeze
    # The same while the store of two machines fails: an end and a renewal on different machines are the hardest.
    FAILING = { change: 3, renew: 10, sign_in_renewed: 2, switch: 1, sign_out_here: 2, end: 10, revoke: 1, logout: 1,
                logout_others: 1 }.freeze
    KEYS = %w[a b c d].freeze
    # One in this number of operations has requests that overlap.
    OVERLAPS = 4
    MOST = 4
    # One in this number of requests is about a session that has ended.
    LATE = 25
    # Bytes of an ordinary value, and of one that makes the session grow.
    SMALL = (3..60)
    LARGE = (200..3000)

    # @param random [Random]
    # @param household [Household]
    # @param overlap [Boolean] may requests overlap?
    # @param failing [Boolean] does the store fail? Then all requests of an operation are about one session
    def initialize(random, household, overlap: true, failing: false)
      @random = random
      @household = household
      @made = household.made
      @overlap = overlap
      @failing = failing
      @kinds = (failing ? FAILING : WEIGHTS).flat_map { |kind, weight| [kind] * weight }
    end

    # @return [Array<Request>]
    def draw
      count = @failing || (@overlap && @random.rand(OVERLAPS).zero?) ? @random.rand(2..MOST) : 1
      @focus = @household.sessions.keys.sample(random: @random)
      Array.new(count) { request(count > 1) }
    end

    private

    def request(overlapping)
      id = session(overlapping)
      send(id ? @kinds.sample(random: @random) : :sign_in, id)
    end

    # Those that overlap are mostly about the same session.
    def session(overlapping)
      return @focus if @failing
      return @random.rand(1..@made) if @made.positive? && @random.rand(LATE).zero?
      return @focus if overlapping && @random.rand(3).positive?

      @household.sessions.keys.sample(random: @random)
    end

    def make(kind, id: nil, to: nil, set: {}, removed: [], user: nil, except: nil)
      Request.new(kind, id, to, set, removed, user, except)
    end

    def sign_in(_id)
      to = number
      make(:begin, to: to, set: { "n" => to, "user_id" => user, **change_of(1) })
    end

    def visit(_id)
      to = number
      make(:begin, to: to, set: { "n" => to, **change_of(1) })
    end

    def read(id)
      make(:commit, id: id)
    end

    def change(id)
      removed = KEYS.sample(@random.rand(0..1), random: @random)
      make(:commit, id: id, set: change_of(@random.rand(1..2)).except(*removed), removed: removed)
    end

    def grow(id)
      make(:commit, id: id, set: { KEYS.sample(random: @random) => value(LARGE) })
    end

    def renew(id)
      to = number
      make(:renew, id: id, to: to, set: { "n" => to, **change_of(@random.rand(0..1)) })
    end

    def sign_in_renewed(id)
      to = number
      make(:renew, id: id, to: to, set: { "n" => to, "user_id" => user, **change_of(1) })
    end

    def sign_in_here(id)
      make(:commit, id: id, set: { "user_id" => user })
    end

    def switch(id)
      other = @household.users.find { |user| user != @household.sessions[id]&.user }
      make(:commit, id: id, set: { "user_id" => other, **change_of(1) })
    end

    def sign_out_here(id)
      make(:commit, id: id, removed: ["user_id"])
    end

    def end(id)
      make(:end, id: id)
    end

    def revoke(id)
      make(:revoke, id: id)
    end

    def logout(_id)
      make(:logout, user: user)
    end

    def logout_others(id)
      theirs = @household.sessions[id]&.user
      make(:logout, user: theirs || user, except: (id if theirs))
    end

    def user
      @household.users.sample(random: @random)
    end

    # Each is given once, also where the process dies before it is used: the row says so before.
    def number
      @household.made += 1
    end

    def change_of(count)
      KEYS.sample(count, random: @random).to_h { |key| [key, value(SMALL)] }
    end

    def value(sizes)
      @household.turn += 1
      [@household.turn, @random.rand(sizes)]
    end
  end
end
