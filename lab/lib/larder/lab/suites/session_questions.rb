# frozen_string_literal: true

# Declares questions about sessions: who is logged in, and how many are active.

require_relative "../session_stats/stores"

module Larder
  module Lab
    module Suites
      register("session-questions", Bench::Suite.define("session-questions") do
        title "Questions about sessions"
        question "How long does it take to find out who is logged in and how many sessions are active?"
        registry SessionStats::Stores
        answers :logged_in, :active_5m, :use
        sessions = { "sessions" => "10,000" }
        preload { require "active_support/all" }

        SessionStats::Questions::ALL.each do |key, title|
          block(key, title, axes: sessions, heading: title) do
            setup do |scene|
              scene.figures["bytes"] = scene.contender.bytes_each
              scene[:question] = scene.contender.question(key)
            end
            call { |scene, i| scene[:question].call(i) }
          end
        end

        block(:use, "noting that a session was used", axes: sessions, heading: "noting a use",
                                                      about: "its last use was a minute ago") do
          setup { |scene| scene[:noting] = scene.contender.noting }
          call { |scene, i| scene[:noting].call(i) }
        end
      end)
    end
  end
end
