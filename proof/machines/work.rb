# frozen_string_literal: true

# Makes operations on a store, at random or as it is asked, and enters each into the ledger.

require_relative "ledger"
require_relative "value"

module MachineProof
  # One process's.
  class Work
    # Operations by how often they are made; a process that only writes makes those of CHANGES.
    READS = { read: 40, read_multi: 10, fetch: 14, fetch_alone: 6 }.freeze
    CHANGES = { write: 20, write_multi: 5, delete: 12, delete_multi: 4, delete_tagged: 3, clear: 0.6 }.freeze
    # So many of ten changes are of keys that change often.
    BUSY = 6
    # Names of an operation on several.
    SEVERAL = (2..5)
    # Seconds in which this process looks after a name whose change failed or was late.
    FOLLOWS = 2
    # One value out of this number is long.
    LONG = 20
    # Seconds that a block computes, and that another caller waits for it.
    COMPUTES = 0.02
    WAIT = 1
    LEASE = 2

    # A name whose change failed or was late, until when this process looks after it, and whether it has deleted it.
    Suspect = Struct.new(:name, :ends, :is_deleted)
    private_constant :Suspect

    # @param store [ActiveSupport::Cache::LarderStore]
    # @param ledger [Ledger]
    # @param process [Hash{String=>Object}] see {Ledger}
    # @param random [Random]
    # @param errors [Array<String>] what the store's handler reports to this thread
    def initialize(store, ledger, process, random, errors)
      @store = store
      @ledger = ledger
      @name = process["process"]
      @domain = Setting::CONFIGURATIONS.fetch(process["configuration"]).domain(process["machine"])
      @random = random
      @errors = errors
      @reads = process["role"] != "writing"
      @kinds = weighted(@reads ? READS.merge(CHANGES) : CHANGES)
      @count = 0
      @settled = true
    end

    # @return [void]
    def random_operation
      return follow_up if suspect?

      kind = @kinds.sample(random: @random)
      names = names_of(kind)
      READS.key?(kind) ? read(kind, names) : change(kind, names)
      note_settled unless READS.key?(kind) && @settled
    end

    # @return [Hash{Symbol=>Object}] of `found` what each name had: domain, name and version; nil: a miss
    def read(kind, names)
      operation(kind, names) { { found: names.zip(values(kind, names)).to_h } }
    end

    # @return [Hash{Symbol=>Object}]
    def change(kind, names)
      versions = %i[write write_multi].include?(kind) ? names.to_h { |name| [name, version] } : {}
      began = Setting.now
      outcome = operation(kind, names, versions) { { result: changed(kind, names, versions) } }
      if outcome[:errors].any? || Setting.now - began > Setting::SUSPECT
        @suspect ||= Suspect.new(names.first, Setting.now + FOLLOWS)
      end
      outcome
    end

    # Enters what the store says of its journal and of the trust in copies.
    # @return [Hash{String=>Object}, nil]
    def note_settled
      outcome = operation(:stats, []) { { result: said } }
      @settled = outcome[:result] && outcome[:result]["waiting"] == false
      outcome[:result]
    end

    private

    def weighted(kinds)
      kinds.flat_map { |kind, weight| [kind] * (weight * 10).round }
    end

    def names_of(kind)
      case kind
      when :clear then Setting::NAMES
      when :delete_tagged
        tag = Setting::TAGS.values.sample(random: @random)
        Setting::TAGGED.select { |name| Setting::TAGS[name] == tag }
      when :read_multi, :delete_multi then Setting::NAMES.sample(@random.rand(SEVERAL), random: @random)
      when :write_multi then Setting::PLAIN.sample(@random.rand(SEVERAL), random: @random)
      when :read, :fetch, :fetch_alone then [Setting::NAMES.sample(random: @random)]
      else [(@random.rand(10) < BUSY ? Setting::BUSY : Setting::CALM).sample(random: @random)]
      end
    end

    # The bytes of a change that failed or was late may arrive after a delete of the name, which is then read again.
    def suspect?
      @suspect = nil if @suspect && Setting.now > @suspect.ends
      @suspect && (!@suspect.is_deleted || @reads) && @random.rand(2).zero?
    end

    def follow_up
      return read(:read, [@suspect.name]) if @suspect.is_deleted

      @suspect.is_deleted = true
      change(:delete, [@suspect.name])
      note_settled
    end

    def operation(kind, names, versions = {})
      @ledger.operation(kind, names, versions) do
        @errors.clear
        outcome = begin
          yield
        rescue StandardError => e
          { raised: "#{e.class}: #{e.message}" }
        end
        outcome = { result: "raised #{outcome[:raised]}" } if outcome[:raised]
        { **outcome, errors: @errors.uniq }
      end
    end

    def values(kind, names)
      found = case kind
              when :read then [@store.read(names.first)]
              when :read_multi then @store.read_multi(*names).values_at(*names)
              when :fetch then [fetch(names.first)]
              when :fetch_alone then [fetch(names.first, single_flight: true, wait: WAIT, lease: LEASE)]
              end
      found.map { |value| value.nil? ? nil : Value.read(value) || value.inspect[0, 200] }
    end

    def fetch(name, **options)
      @store.fetch(name, **options, **tags(name)) do
        made = version
        @ledger.made(name, made)
        value(name, made).tap { sleep(COMPUTES) }
      end
    end

    def changed(kind, names, versions)
      case kind
      when :write then @store.write(names.first, value(names.first, versions[names.first]), **tags(names.first))
      when :write_multi then @store.write_multi(names.to_h { |name| [name, value(name, versions[name])] }) && true
      when :delete then @store.delete(names.first)
      when :delete_multi then @store.delete_multi(names)
      when :delete_tagged then @store.delete_tagged(Setting::TAGS.fetch(names.first))
      when :clear then @store.clear
      end
    end

    def tags(name)
      Setting::TAGS.key?(name) ? { tags: Setting::TAGS[name] } : {}
    end

    def version
      "#{@name}-#{@count += 1}"
    end

    def value(name, version)
      Value.make(@domain, name, version, Setting.now, long: @random.rand(LONG).zero?)
    end

    # Without `remote:` everything is applied at once.
    def said
      remote = @store.stats[:remote] or return { "waiting" => false, "listed" => 0, "trusted" => true }
      { "waiting" => remote[:waiting], "listed" => remote[:listed], "trusted" => remote[:trusted] }
    end
  end
end
