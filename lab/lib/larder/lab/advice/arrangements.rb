# frozen_string_literal: true

# Computes what a call takes where several machines share a server: by the server alone, with Larder before it, with one
# server for all regions or one in each.

require_relative "ranking"

module Larder
  module Lab
    module Advice
      # key; title; read, write: seconds; usual: seconds after which another machine usually sees a change; bound: the
      # same whatever fails; reason: why it must not be chosen, nil: it may be; backplane: do machines tell each other
      # of changes?
      Arrangement = Struct.new(:key, :title, :read, :write, :usual, :bound, :reason, :backplane, keyword_init: true) do
        # @return [Boolean] is Larder before the server?
        def layered?
          key.start_with?("larder")
        end

        # @return [Boolean] has each region its own server?
        def each?
          key.end_with?("each")
        end
      end

      # Of the best server for a question.
      class Arrangements
        # Seconds that a message takes beside its way, and the least that people notice.
        MESSAGE = 0.001
        NOTICED = 1.0

        # @param ranking [Ranking]
        def initialize(ranking)
          @ranking = ranking
          @question = ranking.question
          @remote = ranking.best
        end

        # @return [Choice] the server
        attr_reader :remote
        # @return [Question]
        attr_reader :question

        # @return [Boolean] is there anything to arrange, and was Larder measured?
        def any?
          !@remote.nil? && @remote.profile.remote? && @question.hosts > 1 && !file.nil?
        end

        # @return [Array<Arrangement>]
        def all
          @all ||= (@question.regions > 1 ? %w[one each] : %w[one]).flat_map { |servers| arrangements(servers) }
        end

        # The fastest that may be chosen. Where changes may stay unseen for longer than people notice, machines tell
        # each other of them, as long as Larder is still faster than the server alone.
        # @return [Arrangement]
        def best
          @best ||= begin
            fastest = allowed.min_by { |each| mean(each) }
            told = allowed.select { |each| each.backplane && each.each? == fastest.each? }.first
            take_told?(fastest, told) ? told : fastest
          end
        end

        # @return [Arrangement] the server alone that it is compared with
        def alone
          allowed.reject(&:layered?).min_by { |each| mean(each) }
        end

        # @param arrangement [Arrangement]
        # @return [Float] seconds of a call, the mean of a write and its reads
        def mean(arrangement)
          (arrangement.write + (arrangement.read * @question.reads)) / (@question.reads + 1)
        end

        # @return [Float] seconds of a read that a machine's file answers
        def hit
          sum("read", file)
        end

        private

        def allowed
          all.reject(&:reason)
        end

        def take_told?(fastest, told)
          told && fastest.layered? && @question.stale > NOTICED && mean(told) < mean(alone)
        end

        # Larder as it is, or with codecs.
        def file
          @file ||= @ranking.model.choices.select { |choice| choice.store == "larder" }
                            .min_by { |choice| @ranking.model.mixed(choice).value }
        end

        def arrangements(servers)
          read, write = %w[read write].map { |call| sum(call, @remote, servers) }
          [made("alone", servers, read, write, 0.0),
           made("larder", servers, behind(read), write + sum("write", file), @question.stale),
           made("larder-told", servers, behind(read), write + sum("write", file) + rtt(servers), delay(servers))]
        end

        # A miss is a read of the server whose value is stored in the file.
        def behind(read)
          (@question.hit_ratio * hit) + ((1 - @question.hit_ratio) * (read + sum("write", file)))
        end

        def made(way, servers, read, write, usual)
          bound = way == "alone" ? 0.0 : @question.stale
          bound = usual = @question.expires_in if servers == "each"
          Arrangement.new(key: "#{way}-#{servers}", title: title(way, servers), read: read, write: write, usual: usual,
                          bound: bound, reason: reason(way, servers), backplane: way == "larder-told")
        end

        def title(way, servers)
          where = @question.regions > 1 ? ", #{servers}" : ""
          { "alone" => "#{@remote.store} alone", "larder" => "Larder before it",
            "larder-told" => "the same, backplane" }.fetch(way) + where
        end

        def reason(way, servers)
          return other_regions if servers == "each" && !(@question.expires_in&.<= @question.stale)
          return if way == "alone" || @question.stale > delay(servers)

          "a copy may be old for a moment, and --stale is #{@question.said(:stale)}"
        end

        def other_regions
          "nothing tells the servers of other regions of a change: values would have to expire after --stale, " \
            "#{@question.said(:stale)}, and --expires-in is #{@question.said(:expires_in)}"
        end

        # Until a message is there.
        def delay(servers)
          MESSAGE + (servers == "one" && @question.regions > 1 ? @question.region_rtt / 2 : 0.0)
        end

        # Seconds to a server, as the mean of the machines sees it.
        def rtt(servers)
          local = @ranking.parts.round_trip
          servers == "one" ? @question.mean_rtt(local) : @question.rtt || local
        end

        def sum(call, choice, servers = "one")
          Figure.sum(model(servers).call(call, choice)).value
        end

        def model(servers)
          (@models ||= {})[servers] ||=
            Model.new(@ranking.parts, @ranking.model.circumstances.dup.tap { |each| each.rtt = rtt(servers) })
        end
      end
    end
  end
end
