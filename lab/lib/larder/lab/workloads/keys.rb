# frozen_string_literal: true

require_relative "shop/product"

module Larder
  module Lab
    module Workloads
      # Hits of `fetch` with the keys and options of applications, beside the plain call.
      class Keys < Workload
        # name of the pass => what it fetches
        CALLS = {
          "plain" => "plain", "record" => "a record is the key", "version" => "version:",
          "namespace" => "namespace: in ISO-8859-1", "race" => "race_condition_ttl:", "raw" => "raw:",
          "tags" => "two tags:"
        }.to_h do |key, title|
          [key, Pass.new(key: key, title: "hit, #{title}", reading: true, clears: false, fills: :block).freeze]
        end.freeze

        named "keys", "Keys and options of applications, one thread",
              "Hits of Rails.cache.fetch: plain, with a record as its key, and with one option each."
        only_on_request

        OPTIONS = { "plain" => {}, "version" => { version: "20261123120000" }.freeze,
                    "namespace" => { namespace: "Käse".encode("ISO-8859-1").freeze }.freeze,
                    "race" => { race_condition_ttl: 10, expires_in: 300 }.freeze, "raw" => { raw: true }.freeze,
                    "tags" => { tags: %w[catalogue prices].freeze }.freeze }.freeze

        # @return [Array<Pass>]
        def self.passes
          CALLS.values
        end

        private

        def slices(count, _threads)
          @products = Array.new(count) { |id| Shop::Product.new(id) }
          [0...count]
        end

        # Other workloads have the same records as keys.
        def fill
          contender.clear
          CALLS.each_value { |pass| visit(contender.store, @slices.first, pass) }
        end

        # A loop for each: what a loop asks in each round is added to each figure.
        def visit(store, keys, pass)
          return with_records(store, keys) if pass.key == "record"

          options = OPTIONS.fetch(pass.key)
          runs = 0
          wrong = nil
          keys.each do |i|
            value = store.fetch([pass.key, i], **options) do
              runs += 1
              VALUE
            end
            wrong ||= [i, value] unless value == VALUE
          end
          [runs, wrong]
        end

        def with_records(store, keys)
          runs = 0
          wrong = nil
          keys.each do |i|
            value = store.fetch(@products[i]) do
              runs += 1
              VALUE
            end
            wrong ||= [i, value] unless value == VALUE
          end
          [runs, wrong]
        end

        # A value made anew, and of records what their key is.
        def floor(keys, pass)
          if pass.key == "record"
            keys.each { |i| @products[i].cache_key && @products[i].cache_version && VALUE.dup }
          else
            keys.each { |_| VALUE.dup }
          end
        end
      end
    end
  end
end
