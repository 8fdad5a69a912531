# frozen_string_literal: true

# Decides whether the sessions after an operation are what its requests may have made of those before it: whether each
# exists, and each key of its values.

require_relative "model"

module SessionProof
  # One operation's judge. Of requests that overlap each order is right; of one whose process was killed both that it
  # was done and that it was not.
  class Judge
    ABSENT = Object.new.freeze
    # Requests that end a session also by an id that it had before.
    ENDS = %i[end revoke].freeze
    private_constant :ABSENT, :ENDS

    # @return [Array<String>] what is wrong
    attr_reader :differences
    # @return [Integer] sessions of nobody that were evicted, or gave way
    attr_reader :evicted

    # @param household [Household] as it was
    # @param requests [Array<Request>] as they were played
    # @param observed [Hash{Integer => Hash, nil}] values of sessions after it
    # @param now [Integer]
    # @param killed [Boolean]
    # @param roomy [Boolean] was there room for all that is noted beside sessions?
    def initialize(household, requests, observed, now, killed:, roomy: false)
      @household = household
      @before = household.sessions
      @requests = requests
      @observed = observed
      @now = now
      @killed = killed
      @roomy = roomy
      @single = requests.size == 1 && !killed
      @differences = []
      @evicted = 0
    end

    # @return [Hash{Integer => Session}] those that are alive now
    def sessions
      after = @observed.keys.to_h { |number| [number, judge(number)] }.compact
      limit(after)
      @requests.each { |request| check_answer(request) unless request.result.nil? }
      after
    end

    private

    def judge(number)
      maker = @requests.find { |request| request.to == number }
      values = @observed[number]
      if (session = @before[number])
        judge_old(number, session, values)
      elsif maker
        judge_new(number, maker, values)
      elsif values
        wrong(number, "has ended and is back: #{brief(values)}")
      end
    end

    def judge_old(number, session, values)
      ended = ended(number, session)
      return wrong(number, "is there, though #{ended}") if values && ended
      return lost(number, session) unless values

      writes = @requests.select { |request| request.kind == :commit && request.id == number }
      kept = check_values(number, values, session.values, writes)
      kept && Session.new(kept, used(session, writes), began(session, kept), entered(session, kept))
    end

    def lost(number, session)
      @evicted += 1 if session.user.nil? && !session.perhaps_over?(@now) && @requests.none? { |r| r.ends?(number) }
      wrong(number, "of user #{session.user} is lost") unless may_end?(number, session)
    end

    def judge_new(number, maker, values)
      old = @before[maker.id]
      return wrong(number, "is there, though #{maker.kind} answered #{maker.result}") if values && refused?(maker)
      return wrong(number, "is there, though its former id was signed out") if values && signed_out_before?(maker)
      return wrong(number, "goes on from one that had ended") if values && maker.kind == :renew && old.nil?
      return new_is_lost(number, maker, old) unless values

      commits = old ? @requests.select { |one| one.kind == :commit && one.id == maker.id } : []
      others = @requests.any? { |one| !one.equal?(maker) && ends_too?(one, maker.id, old) }
      kept = check_values(number, values, old ? old.values : {}, [*commits, maker], over_by: (maker if others),
                                                                                    unsure: maker.result.nil?)
      kept && Session.new(kept, @now..@now, old ? began(old, kept) : @now..@now, @household.turn)
    end

    def new_is_lost(number, maker, old)
      return unless maker.result == true

      user = maker.set.fetch("user_id") { old&.user }
      return if user.nil? || (!@single && (logout_of?(user, number) || crowded?(user) || rivals?(user)))
      # Who ends the session that it was, ends what it goes on as.
      return if old && (logout_of?(old.user, maker.id) || surplus?(maker.id, old) || ended_by_former?(maker.id))
      return if @requests.any? { |one| one.id == maker.id && !one.equal?(maker) } && maker.id

      wrong(number, "of user #{user} is lost at its #{maker.kind}")
    end

    # @return [String, nil] why it must have ended
    def ended(number, session)
      return "its time is over" if session.over?(@now)

      ids = [number, *former(number).take_while { |former| former.holds?(@now) }.map(&:id)]
      done = @requests.find do |request|
        case request.kind
        when :end then ids.include?(request.id) && !request.result.nil?
        when :renew then request.id == number && request.result == true
        when :revoke
          revoked_ids(number).include?(request.id) && request.result == true && users(number, session).size == 1
        when :logout
          !request.result.nil? && !spared?(number, request) && users(number, session) == [request.user]
        end
      end
      done && "there was: #{done}"
    end

    def may_end?(number, session)
      users = users(number, session)
      return true if users.include?(nil) || session.perhaps_over?(@now)
      return true if @requests.any? { |request| request.ends?(number) && !(@single && request.result == :full) }
      return true if ended_by_former?(number) || @requests.any? { |request| ends_instead?(request, session) }
      return true if users.any? { |user| logout_of?(user, number) }
      return true if surplus?(number, session)
      return true if former(number).any? { |former| (old = @before[former.id]) && may_end?(former.id, old) }

      contested?(number) || (users.size > 1 && users.any? { |user| rivals?(user) })
    end

    # A sign-out that the store has not taken ends the session instead.
    def ends_instead?(request, session)
      @killed && request.kind == :commit && @before[request.id].equal?(session) && request.touches?("user_id") &&
        request.result != true
    end

    # Do several sign in or out in it at once? Then one of them may end it, rather than leave it without an index entry.
    def contested?(number)
      !@single && @requests.count { |one| one.kind == :commit && one.id == number && one.touches?("user_id") } > 1
    end

    # Of a renewal whose process was killed both ids may be there: who spares the one spares the other.
    def spared?(number, logout)
      [number, *former(number).map(&:id)].include?(logout.except)
    end

    def former(number)
      @household.former[number] || []
    end

    # May it have been signed out of by an id that it had before? Such a sign-out holds for a while at least.
    def ended_by_former?(number)
      @requests.any? { |one| ENDS.include?(one.kind) && former(number).any? { |former| former.id == one.id } }
    end

    # The ids whose handles end the session for sure.
    def revoked_ids(number)
      [number, *former(number).take_while { |former| former.holds?(@now) && former.alone }.map(&:id)]
    end

    # Was the id that has ended a former one of a session that was alive?
    def goes_on?(request)
      ENDS.include?(request.kind) && @before.any? do |number, _|
        former(number).any? { |former| former.id == request.id }
      end
    end

    # True if the id that was revoked surely has a handle: a user's session goes on from it.
    def handled?(request)
      request.kind == :revoke && @single && @before.any? do |number, session|
        session.user && !session.perhaps_over?(@now) && revoked_ids(number).include?(request.id)
      end
    end

    # Has it been signed out of by the id that it had until then?
    def signed_out_before?(maker)
      return false if !@roomy || maker.kind != :renew || maker.touches?("user_id")

      others = @requests.select { |one| one.id == maker.id }
      ended = others.any? { |one| one.kind == :end ? !one.result.nil? : one.kind == :revoke && one.result == true }
      ended && others.none? { |one| one.set.key?("user_id") }
    end

    def ends_too?(request, number, session)
      request.ends?(number) || (session && users(number, session).any? { |user| logout_of?(user, number, request) })
    end

    def logout_of?(user, number, among = nil)
      (among ? [among] : @requests).any? do |request|
        request.kind == :logout && request.user == user && request.except != number
      end
    end

    # @return [Array<Integer, nil>] whose it was, and whose it may have become
    def users(number, session)
      writes = @requests.select { |one| one.kind == :commit && one.id == number && one.touches?("user_id") }
      [session.user, *writes.map { |one| one.set["user_id"] }].uniq
    end

    # Those that enter a session for that user.
    def admissions(user)
      @requests.count do |request|
        case request.kind
        when :begin, :commit then request.set["user_id"] == user
        when :renew then renewed_users(request).include?(user)
        end
      end
    end

    # A renewal that has to start over enters its session again, as whose it has become meanwhile.
    def renewed_users(request)
      session = @before[request.id]
      theirs = session ? users(request.id, session) : []
      @single ? [request.set.fetch("user_id") { session&.user }] : [request.set["user_id"], *theirs]
    end

    # Of two sign-ins of a user at one moment one may fail: each sees the other as not yet there.
    def rivals?(user)
      !@single && admissions(user) > 1
    end

    def crowded?(user)
      @household.of(user).size + admissions(user) > Subject::PER_USER
    end

    # Is it, of its user's, one of those that have to give way to a new one?
    def surplus?(number, session)
      user = session.user
      return false if admissions(user).zero?
      return crowded?(user) unless @single

      request = @requests.first
      others = @household.of(user).reject { |one, _| one == request.id && request.kind == :renew }
      ages = others.values.map(&:entered).sort
      many = ages.size + 1 - Subject::PER_USER
      many.positive? && others.key?(number) && session.entered <= ages[many - 1]
    end

    def limit(after)
      return if @killed

      @household.users.each do |user|
        count = after.count { |_, session| session.user == user }
        next if count <= [Subject::PER_USER, @household.of(user).size].max

        @differences << "user #{user} has #{count} sessions, of #{Subject::PER_USER}"
      end
    end

    # @param over_by [Request, nil] who signs in again over a session that another has ended, as it was at any moment
    # @param unsure [Boolean] may it be as it was before any of the writes?
    # @return [Hash{String => Object}, nil] the values, as the model writes them
    def check_values(number, values, base, writes, over_by: nil, unsure: false)
      keys = base.keys | values.keys | writes.flat_map { |write| write.set.keys }
      kept = {}
      keys.each do |key|
        candidates = candidates(key, base, writes, over_by)
        candidates += [base.fetch(key, ABSENT), *each_made(writes.select { |one| one.touches?(key) }, key)] if unsure
        actual = values.fetch(key, ABSENT)
        match = candidates.find { |one| same?(one, actual) }
        if match.nil?
          expected = candidates.map { |one| brief(one) }.join(" or ")
          return wrong(number, "has #{key}: #{brief(actual)} and not #{expected}")
        end

        kept[key] = match unless ABSENT.equal?(match)
      end
      kept
    end

    def candidates(key, base, writes, over_by)
      before = base.fetch(key, ABSENT)
      # What was there already is no change, unless another request has changed it.
      same, touching = writes.select { |write| write.touches?(key) }.partition { |write| made(write, key) == before }
      return touching.include?(over_by) ? [made(over_by, key)] : [before, *each_made(touching, key)] if over_by

      done = touching.select { |write| write.result == true }
      unknown = touching.select { |write| unknown?(write) } + (done.empty? ? [] : same)
      last = done.reject { |write| done.any? { |other| other.started > write.finished } }
      each_made(unknown, key) + (last.empty? ? [before] : each_made(last, key))
    end

    # What a commit has written may have gone on under another id before it was told that the session is over.
    def unknown?(write)
      write.result.nil? || (write.result == false && !@single && @requests.any? { |one| one.kind == :renew })
    end

    def made(write, key)
      write.set.fetch(key, ABSENT)
    end

    def each_made(writes, key)
      writes.map { |write| made(write, key) }
    end

    def same?(model, actual)
      return model.equal?(actual) if ABSENT.equal?(model) || ABSENT.equal?(actual)

      Value.expand(model) == actual
    end

    def used(session, writes)
      return session.used if writes.empty?

      (writes.any? { |write| write.result == true } ? @now : session.used.begin)..@now
    end

    # Who signs in may begin anew.
    def began(session, kept)
      kept["user_id"] == session.user ? session.began : (session.began.begin..@now)
    end

    def entered(session, kept)
      kept["user_id"] == session.user ? session.entered : @household.turn
    end

    def refused?(request)
      !request.result.nil? && request.result != true
    end

    # A request may be answered "no" where its session may have ended, or where the file is full.
    def check_answer(request)
      session = @before[request.id]
      return if @killed && %i[end revoke].include?(request.kind) # whether there was one is not known while it is listed

      case request.kind
      when :logout then nil
      when :begin then complain(request) if request.result == false && !excused_sign_in?(request)
      else
        complain(request) if request.result != true && request.result != :full && session && !excused?(request, session)
        complain(request) if request.result == true && session.nil? && !goes_on?(request)
        complain(request) if request.result == false && session.nil? && handled?(request)
      end
    end

    def excused_sign_in?(request)
      user = request.set["user_id"]
      rivals?(user) || logout_of?(user, request.to)
    end

    def excused?(request, session)
      return true if users(request.id, session).include?(nil) && (!@single || request.kind == :revoke)
      return true if (session.user.nil? && @observed[request.id].nil?) || session.perhaps_over?(@now)
      return false if @single

      return true if ends_instead?(request, session) && request.removed.include?("user_id")
      return true if contested?(request.id) || ended_by_former?(request.id)

      users = users(request.id, session) | [request.set["user_id"]]
      @requests.any? { |one| !one.equal?(request) && (one.ends?(request.id) || one.kind == :logout) } ||
        users.any? { |user| rivals?(user) } || surplus?(request.id, session) ||
        (request.kind == :revoke && users.size > 1)
    end

    def complain(request)
      @differences << "the answer is wrong: #{request}"
    end

    def wrong(number, text)
      @differences << "session #{@household.id(number)} #{text}"
      nil
    end

    def brief(value)
      return "nothing" if ABSENT.equal?(value)

      text = Value.expand(value).inspect
      text.size > 60 ? "#{text[0, 60]}… (#{text.size})" : text
    end
  end
end
