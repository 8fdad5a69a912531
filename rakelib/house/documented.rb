# frozen_string_literal: true

# Checks that every public class, module and method has documentation that YARD reads without a warning, and that names
# no parameter which the method lacks, also by a reference to another method. Those that are private, or tagged
# @api private or @private, may do without.
#
# Run as a program: ruby rakelib/house/documented.rb

require "set" # YARD needs it and does not ask for it where Ruby does not load it by itself (before 3.2)
require "stringio"
require "yard"
require_relative "environment"

module House
  # YARD's view of the sources.
  class Documented
    SOURCES = ["lib/**/*.rb", "lab/lib/**/*.rb"].freeze

    # @param root [String] of the repository
    def initialize(root = ROOT)
      @root = root
    end

    # @return [Array<String>] one line for each thing that is not documented, or not rightly
    def problems
      warnings = parse
      warnings + objects.select { |object| undocumented?(object) }
                        .map { |object| "#{place(object)}: #{object.type} #{object.path} is not documented" } +
        objects.flat_map { |object| foreign_parameters(object) }
    end

    # @return [Array<YARD::CodeObjects::Base>] what a user of the gems may call or name
    def objects
      YARD::Registry.all(:class, :module, :method).select { |object| object.file && public?(object) }
    end

    private

    # @return [Array<String>] YARD's warnings
    def parse
      YARD::Registry.clear
      log = StringIO.new
      YARD::Logger.instance.io = log
      Dir.chdir(@root) { YARD.parse(SOURCES.flat_map { |glob| Dir[glob].sort }, [], YARD::Logger::WARN) }
      log.string.split(/^(?=\[)/).map { |warning| warning.split("\n").map(&:strip).join(" ").strip }
    end

    def public?(object)
      return false if object.respond_to?(:visibility) && object.visibility != :public

      chain(object).none? { |part| part.has_tag?(:private) || part.tag(:api)&.text == "private" }
    end

    def chain(object)
      object.nil? || object.root? ? [] : [object, *chain(object.namespace)]
    end

    # An alias, and an `initialize` that takes nothing, have nothing of their own to say. Modules of others that we
    # put a class into are theirs.
    def undocumented?(object)
      return false unless object.docstring.blank?
      return !(object.is_alias? || bare_initialize?(object)) if object.type == :method

      object.type == :class || object.path.start_with?("Larder")
    end

    # YARD itself does not look at those that another method's documentation has (`@param (see #other)`).
    def foreign_parameters(object)
      return [] unless object.type == :method && !object.is_alias? && object.tags(:overload).empty?

      own = object.parameters.map { |name, _| name.delete("*&:").delete_prefix("_") }
      (object.tags(:param).map { |tag| tag.name.delete_prefix("_") } - own).map do |name|
        "#{place(object)}: method #{object.path} has no parameter #{name}"
      end
    end

    def bare_initialize?(object)
      object.name == :initialize && object.parameters.empty?
    end

    def place(object)
      "#{object.file}:#{object.line}"
    end
  end
end

if $PROGRAM_NAME == __FILE__
  documented = House::Documented.new
  problems = documented.problems
  puts problems
  puts "#{documented.objects.size} public classes, modules and methods; #{problems.size} problems"
  exit problems.empty?
end
