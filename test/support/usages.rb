# frozen_string_literal: true

# Statistics of any time, which a test need not wait for: built of the same numbers that the engine returns.

require "larder"

module Usages
  # 29 Nov 2026, 10:41:07.
  NOW = Time.utc(2026, 11, 29, 10, 41, 7)
  NONE = Larder::Usage::Counts.none.to_a.freeze
  KEY = { key_bytes: nil, error: 0, seen: NOW, value_bytes: 100 }.freeze

  module_function

  # @param given [Hash{Symbol=>Integer}] of {Larder::Usage::Counts}
  # @return [Larder::Usage::Counts]
  def counts(given)
    counts = Larder::Usage::Counts.none
    given.each { |name, number| counts[name] = number }
    counts
  end

  # @param keyspaces [Hash{String=>Hash}] counts of all time
  # @param rest [Hash] counts
  # @param minutes [Hash{Time=>Array(Hash, Hash)}] counts of the whole, and counts by keyspace
  # @param hours [Hash{Time=>Array(Hash, Hash)}] in the same way
  # @param hot [Array<Hash>] of {Larder::Usage::UsedKey}: key, weight and what differs from KEY
  # @param heavy [Array<Hash>] in the same way
  # @param since [Time]
  # @return [Larder::Usage]
  def usage(keyspaces: {}, rest: {}, minutes: {}, hours: {}, hot: [], heavy: [], since: NOW - 90_000)
    rows = keyspaces.keys.each_with_index.to_h
    named = keyspaces.map do |name, given|
      all = counts(given)
      [rows[name], name, all.reads + all.stores, ms(since), all.to_a]
    end
    raw = [ms(since), ms(NOW), [*named, [64, nil, 0, ms(since), counts(rest).to_a]], buckets(minutes, rows),
           buckets(hours, rows), keys(hot), keys(heavy), [nil, [], []]]
    Larder::Usage.send(:new, raw)
  end

  def buckets(given, rows)
    given.map do |began, (whole, parts)|
      [ms(began), counts(whole).to_a, parts.to_h { |name, part| [rows.fetch(name), counts(part).to_a] }]
    end
  end

  def keys(given)
    given.map do |each|
      key = { **KEY, **each }
      [key[:key], key[:key_bytes] || key[:key].bytesize, key[:weight], key[:error], ms(key[:seen]), key[:value_bytes]]
    end
  end

  def ms(time)
    (time.to_r * 1000).to_i
  end
end
