# frozen_string_literal: true

# Reads the comment at the head of a model: with which bounds spin runs it, and which mutations of it spin must find.

module Proof
  # One model of engine/model/ or proof/models/, in Promela.
  class SpinModel
    # A way to break the model on purpose: `name` is the macro that does, `settings` are its bounds.
    Mutation = Struct.new(:name, :settings, :text)

    BOUNDS = /^ \* (quick|full): +(\S.*)$/
    MUTATION = /^ \* mutation (\w+)((?: \w+=\w+)*): (.+)$/

    # @param directory [String]
    # @return [Array<Proof::SpinModel>] of all files there that are run
    def self.all(directory)
      Dir[File.join(directory, "*.pml")].map { |path| new(path) }.reject { |model| model.bounds(true).empty? }
    end

    attr_reader :path

    # @param path [String]
    def initialize(path)
      @path = path
      @text = File.read(path, encoding: "UTF-8")
    end

    # @return [String]
    def name
      File.basename(path, ".pml")
    end

    # @param quick [Boolean]
    # @return [Array<Array<String>>] for each run the macros with their values
    def bounds(quick)
      @text.scan(BOUNDS).select { |mode, _| mode == (quick ? "quick" : "full") }.map { |_, list| list.split }
    end

    # @return [Array<Proof::SpinModel::Mutation>] run with the quick bounds where they name none
    def mutations
      @text.scan(MUTATION).map do |name, settings, text|
        Mutation.new(name, settings.empty? ? bounds(true).first : settings.split, text)
      end
    end
  end
end
