# frozen_string_literal: true

# Runs the examples of the documentation: in each @example of lib/larder, an expression with "#=>" has that value.

require "test_helper"

class LarderCacheExamplesTest < ActiveSupport::TestCase
  include TemporaryCaches

  LIBRARY = File.expand_path("../../../../lib/larder/bytes", __dir__)
  Example = Struct.new(:file, :line, :lines)

  # @return [Array<Example>]
  def self.examples_of(file)
    examples = []
    open = nil
    File.readlines(file, chomp: true).each.with_index(1) do |line, number|
      comment = line[/\A\s*# ?(.*)\z/, 1]
      if comment&.match?(/\A\s*@example/)
        examples << (open = Example.new(file, number, []))
      elsif open && comment&.match?(/\A\s{2,}\S/)
        open.lines << comment.strip
      else
        open = nil
      end
    end
    examples
  end

  # @return [Array<(String, String)>] expressions with the value that is told, or nil
  def self.steps_of(example)
    example.lines.slice_when { |before, _| before.include?("#=>") }.map do |lines|
      code, told = lines.join("\n").split("#=>", 2)
      [code, told]
    end
  end

  FILES = %w[cache.rb cache/items.rb cache/maintenance.rb errors.rb].freeze
  EXAMPLES = FILES.flat_map { |name| examples_of(File.join(LIBRARY, name)) }

  test "every public method has an example" do
    text = EXAMPLES.flat_map(&:lines).join("\n")
    names = [Larder::Cache, Larder::Cache::Maintenance].flat_map { |owner| owner.public_instance_methods(false) }
    names -= %i[to_s process process_lives?] # the last two are private API
    assert_empty(names.reject { |name| text.match?(/\.#{Regexp.escape(name)}(?!\w)/) })
  end

  test "the constants are what their documentation says" do
    told = File.read(File.join(LIBRARY, "cache.rb")).scan(/^    #   ([A-Z_]+) = (.+)$/).to_h
    assert_operator told.size, :>=, 7
    told.each { |name, value| assert_equal Larder::Cache.const_get(name).inspect, value, name }
  end

  EXAMPLES.each do |example|
    test "the example at #{File.basename(example.file)}:#{example.line} holds" do
      scope = binding
      cache # the example's, open
      steps = self.class.steps_of(example)
      assert(steps.any? { |_, told| told }, "the example tells no value")
      Dir.chdir(directory) do
        steps.each do |code, told|
          value = scope.eval(code, example.file, example.line)
          told_value = told && scope.eval(told, example.file, example.line)
          told_value.nil? && told ? assert_nil(value, code) : (assert_equal(told_value, value, code) if told)
        end
      end
    end
  end
end
