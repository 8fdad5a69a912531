# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # A preloaded application opens the cache and forks. The first call of the child comes while the parent copies the
  # items to another file, or while the parent ends and another process copies them. It answers and does as always.
  class FirstCallInChildTest < StoreCase
    ENTRIES = { "page" => "rendered", "user/1" => 1, "counter" => 5 }.freeze
    FILLERS = 500
    LEFT = %w[counter page tagged user/1].freeze

    # Each call, its answer, and the keys that it leaves.
    CALLS = {
      "read('page')" => ["rendered", LEFT],
      "read_multi('page', 'none')" => [{ "page" => "rendered" }, LEFT],
      "write('page', 'new') && read('page')" => ["new", LEFT],
      "delete('page')" => [true, LEFT - %w[page]],
      "delete_multi(%w[page user/1])" => [2, LEFT - %w[page user/1]],
      "delete_matched('user/*')" => [1, LEFT - %w[user/1]],
      "delete_tagged('tag')" => [true, LEFT - %w[tagged]],
      "clear" => [true, []],
      "increment('counter')" => [6, LEFT],
      "fetch('page', single_flight: true) { 'computed' }" => ["rendered", LEFT],
      "fetch('new', single_flight: true) { 'computed' }" => ["computed", (LEFT + %w[new]).sort],
      "stats[:items]" => [LEFT.size + FILLERS, LEFT],
      "keys(prefix: 'user/')" => [["user/1"], LEFT]
    }.freeze

    ROUNDS = 4

    CALLS.each do |call, (answer, left)|
      test "#{call} while the parent copies the items" do
        ROUNDS.times do |round|
          fill(store)
          first_call_of_child(call) do |start, answers|
            assert copied?(store.cache) if round.odd? # no process but this one has a slot
            start.close
            copied?(store.cache) until answers.wait_readable(0)
            assert_equal [answer, left], [Marshal.load(answers.read), left_in(store)], "round #{round}"
          end
        end
      end

      test "#{call} while the parent ends and another process copies the items" do
        ROUNDS.times do |round|
          fill(new_store).cache.close
          first_call_of_orphan(call) do |start, answers|
            start.close
            copied_from_outside? until answers.wait_readable(0)
            assert_equal answer, Marshal.load(answers.read), "round #{round}"
          end
          after = new_store
          assert_equal left, left_in(after), "round #{round}"
          after.cache.close
        end
      end
    end

    private

    def fill(cache)
      cache.clear
      cache.write_multi(FILLERS.times.to_h { |i| ["filler/#{i}", "v" * 100] })
      cache.write_multi(ENTRIES)
      cache.write("tagged", 1, tags: "tag")
      cache
    end

    def left_in(cache)
      cache.keys.grep_v(/\Afiller/).sort
    end

    # As `larder resize --keep` does it. False: another process has the file open, or opens it.
    def copied?(cache)
      cache.resize(SIZE, keep: true)
      true
    rescue Larder::OpenError
      false
    end

    def copied_from_outside?
      Larder::Cache.open(path_of, create: false) { |cache| copied?(cache) }
    rescue Larder::OpenError
      false
    end

    # Yields the pipe whose closing starts the call, and the one that its answer comes from.
    def first_call_of_child(call)
      started, start = IO.pipe
      answers, answer = IO.pipe
      child = fork { answer_call(store, call, [started, start], [answers, answer]) }
      [started, answer].each(&:close)
      yield start, answers
    ensure
      [start, answers].each(&:close)
      wait_for(child)
    end

    # The parent of that process has opened the store, and ends when the call starts.
    def first_call_of_orphan(call)
      started, start = IO.pipe
      answers, answer = IO.pipe
      parent = fork { end_before_child(call, [started, start], [answers, answer]) }
      [started, answer].each(&:close)
      yield start, answers
    ensure
      [start, answers].each(&:close)
      wait_for(parent)
    end

    def end_before_child(call, (started, start), (answers, answer))
      opened = new_store
      fork { answer_call(opened, call, [started, start], [answers, answer]) }
      start.close
      started.read
    ensure
      exit!
    end

    def answer_call(cache, call, (started, start), (answers, answer))
      [start, answers].each(&:close)
      started.read
      answer.write(Marshal.dump(cache.instance_eval(call)))
    ensure
      exit!
    end
  end
end
