# frozen_string_literal: true

# Declares questions about sessions: who is logged in, and how many are active.

require_relative "../session_stats/stores"

module Larder
  module Lab
    module Suites
      register("session-questions", Bench::Suite.define("session-questions") do
        title "Questions about sessions"
        command "session-stats", "the cost of asking how many sessions are active and who is logged in", <<~TEXT
          Asks stores with 10,000 sessions whether a user is logged in, when he was last
          seen, for his sessions, for the sessions that were active in the last five
          minutes and in the last day, and for all of them; and notes the use of a
          session. Half of the users have signed in, and their sessions were used within
          a day. Larder keeps an index of users and counters; an SQL table has indexes.
          Each answer is compared with the right one.
        TEXT
        question "How long does it take to find out who is logged in and how many sessions are active?"
        registry SessionStats::Stores
        answers "logged_in", "active_5m", "use"
        preload { require "active_support/all" }
        sessions = { "sessions" => "10,000" }
        ask = proc { |scene, i| scene[:question].call(i) }

        SessionStats::QUESTIONS.each do |key, title|
          block(key, title, axes: sessions, heading: title, call: ask) do
            setup do |scene|
              scene.figures["session"] = scene.contender.bytes_each
              scene[:question] = scene.contender.question(key)
            end
          end
        end

        block(:use, "noting that a session was used", axes: sessions, heading: "noting a use", call: ask,
                                                      about: "its last use was a minute ago") do
          setup { |scene| scene[:question] = scene.contender.noting }
        end
      end)
    end
  end
end
