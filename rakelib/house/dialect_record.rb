# frozen_string_literal: true

require "digest"
require_relative "dialect"

module House
  # The record of phrases that were in the tree when Dialect began to look: one line for each, the pattern's name and a
  # digest of the sentence. Only lines are taken out of it, so a new or changed sentence with such a phrase is found
  # without any history.
  class DialectRecord
    PATH = "test/house/dialect.txt"

    # @param findings [Array<Dialect::Finding>] of the tree
    # @param entries [Array<String>] the record's lines
    def initialize(findings = Dialect.in_tree, entries = File.readlines(File.join(ROOT, PATH), chomp: true))
      @found = findings.group_by { |finding| entry(finding) }
      @recorded = entries.tally
    end

    # @return [Array<Dialect::Finding>] those that are not in the record. Of several in equal sentences, the last ones.
    def added
      @found.flat_map { |entry, findings| findings.drop(@recorded.fetch(entry, 0)) }
    end

    # @return [Integer] how many entries are no longer in the tree
    def gone
      @recorded.values.sum - kept.size
    end

    # @return [Array<String>] the entries that are still in the tree
    def kept
      @recorded.flat_map { |entry, count| [entry] * [count, @found.fetch(entry, []).size].min }.sort
    end

    # Takes out of the record what is no longer in the tree. Adds nothing.
    #
    # @return [void]
    def lower
      File.write(File.join(ROOT, PATH), kept.map { |entry| "#{entry}\n" }.join)
    end

    private

    def entry(finding)
      "#{finding.pattern.name} #{Digest::SHA256.hexdigest(finding.sentence.squeeze(" "))[0, 12]}"
    end
  end
end
