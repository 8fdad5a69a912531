# frozen_string_literal: true

# Reads the text formats of Prometheus (0.0.4) and OpenMetrics (1.0.0), and raises for all that these do not allow.

# The families of a text, by name.
class Exposition
  Family = Struct.new(:name, :help, :type, :unit, :samples)

  NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/
  LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"/
  SAMPLE = /\A(#{NAME})(?:\{(#{LABEL}(?:,#{LABEL})*)\})? (\S+)\z/
  NUMBER = /\A-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\z/
  UNESCAPED = { "\\\\" => "\\", "\\\"" => "\"", "\\n" => "\n" }.freeze

  # @return [Hash{String=>Family}]
  attr_reader :families

  # @param text [String]
  # @param open [Boolean] OpenMetrics
  def initialize(text, open: false)
    @open = open
    @families = {}
    raise "not UTF-8" unless text.encoding == Encoding::UTF_8 && text.valid_encoding?
    raise "the last line has no end" unless text.end_with?("\n")

    lines = text.lines(chomp: true)
    raise "no EOF" if open && lines.pop != "# EOF"

    lines.each { |line| line.start_with?("#") ? comment(line) : sample(line) }
    @families.each_value { |family| check(family) }
  end

  # @param name [String] of a sample
  # @param labels [Hash{String=>String}]
  # @return [Numeric, nil]
  def [](name, labels = {})
    @families.each_value { |family| family.samples.each { |key, value| return value if key == [name, labels] } }
    nil
  end

  # @return [Array<String>] names of samples
  def names
    @families.each_value.flat_map { |family| family.samples.keys.map(&:first) }.uniq
  end

  private

  def comment(line)
    word, name, rest = line.match(/\A# (HELP|TYPE|UNIT) (#{NAME}) (.+)\z/)&.captures || raise("comment #{line}")
    return help(name, rest) if word == "HELP"
    raise "#{line} is not of the family that began" unless @current&.name == name && @current.samples.empty?

    word == "TYPE" ? type(rest) : unit(rest)
  end

  def help(name, text)
    raise "second family #{name}" if @families.key?(name)
    raise "escape in #{text}" if text.gsub("\\\\", "").match?(/\\(?!n)/)

    @current = @families[name] = Family.new(name, text, nil, nil, {})
  end

  def type(name)
    raise "type #{name} of #{@current.name}" unless @current.type.nil? && %w[counter gauge].include?(name)

    @current.type = name
  end

  def unit(name)
    raise "unit #{name} of #{@current.name}" unless @open && @current.name.end_with?("_#{name}")

    @current.unit = name
  end

  def sample(line)
    match = SAMPLE.match(line) || raise("sample #{line}")
    name, labels, value = match[1], match[2], match[match.size - 1]
    raise "#{name} outside of #{@current&.name}" unless name == sample_name
    raise "value of #{line}" unless NUMBER.match?(value)

    key = [name, labels_of(labels)]
    raise "second #{line}" if @current.samples.key?(key)

    @current.samples[key] = value.include?(".") ? Float(value) : Integer(value)
  end

  def sample_name
    @open && @current.type == "counter" ? "#{@current.name}_total" : @current.name
  end

  def labels_of(text)
    pairs = text.to_s.scan(LABEL)
    raise "label twice in #{text}" unless pairs.map(&:first).uniq.size == pairs.size

    pairs.to_h.transform_values { |value| value.gsub(/\\./) { |escape| UNESCAPED.fetch(escape) } }
  end

  # Also what `promtool check metrics` asks for.
  def check(family)
    raise "#{family.name} has no type" unless family.type
    raise "#{family.name} has no sample" if family.samples.empty?

    name = family.samples.keys.first.first
    raise "#{name} is a #{family.type}" unless (family.type == "counter") == name.end_with?("_total")
    raise "#{name} is negative" if family.type == "counter" && family.samples.each_value.any?(&:negative?)
  end
end
