# frozen_string_literal: true

# Checks the dependency rule: a layer uses only the layers below it. Reads #include lines of C, and requires and
# constants of Ruby; prints each offending line.
#
#   lab > commands > cli > dashboard > metrics > web > inspection > rails > test_helper > sessions > store > entry >
#   remote > codecs > bytes > application > glue > engine
#
# Run as a program: ruby rakelib/house/layers.rb [DIRECTORY]

require "ripper"
require_relative "c_modules"
require_relative "environment"

module House
  # The table of layers and the reading of sources against it.
  class Layers
    # name, files (the first row that matches owns a file), constants and libraries that its files must not name
    Layer = Struct.new(:name, :globs, :forbidden_constants, :forbidden_libraries)

    # From the bottom up.
    TABLE = [
      Layer.new("engine", ["engine/**/*.{c,h}"], [], []),
      Layer.new("glue", ["ext/**/*.{c,h,rb}"], ["ActiveSupport", "Rails", "Lab"], ["active_support", "rails", "rack"]),
      Layer.new("application", ["lib/larder/bytes/application.rb"], ["ActiveSupport", "Rack", "Lab"],
                ["active_support", "rails", "rack"]),
      Layer.new("bytes", ["lib/larder/bytes/**/*.rb", "lib/larder/version.rb"],
                ["ActiveSupport", "Rails", "Rack", "Lab"], ["active_support", "active_record", "rails", "rack"]),
      Layer.new("codecs", ["lib/larder/codecs{.rb,/**/*.rb}"], ["Rails", "Rack", "Lab"], ["rails", "rack"]),
      Layer.new("remote", ["lib/larder/remote{.rb,/**/*.rb}"], ["Rack", "Lab"], ["rails", "rack"]),
      Layer.new("entry", ["lib/larder.rb"], ["ActiveSupport", "Rack", "Lab"],
                ["active_support", "active_record", "rails", "rack"]),
      Layer.new("store", ["lib/larder/store{.rb,/**/*.rb}", "lib/active_support/**/*.rb"], ["Lab"], ["larder/lab"]),
      Layer.new("sessions", ["lib/larder/sessions{.rb,/**/*.rb}", "lib/{rack,action_dispatch}/**/*.rb"], ["Lab"],
                ["larder/lab"]),
      Layer.new("test_helper", ["lib/larder/test_helper{.rb,/**/*.rb}"], ["Lab"], ["larder/lab"]),
      Layer.new("rails", ["lib/larder/rails/**/*.rb"], ["Lab"], ["larder/lab"]),
      Layer.new("inspection", ["lib/larder/inspection{.rb,/**/*.rb}"],
                ["ActiveSupport", "Rails", "Rack", "Lab"], ["active_support", "rails", "rack", "larder/lab"]),
      Layer.new("web", ["lib/larder/web/**/*.rb"], ["Lab"], ["larder/lab"]),
      Layer.new("metrics", ["lib/larder/metrics{.rb,/**/*.rb}"], ["Lab"], ["larder/lab"]),
      Layer.new("dashboard", ["lib/larder/dashboard{.rb,/**/*.rb}"], ["Lab"], ["larder/lab"]),
      Layer.new("cli", ["lib/larder/cli{.rb,/**/*.rb}", "exe/larder"],
                ["ActiveSupport", "Rails", "Rack", "Lab"], ["active_support", "rails", "rack", "larder/lab"]),
      Layer.new("commands", ["lib/{rails/commands,generators}/**/*.rb"], ["Lab"], ["larder/lab"]),
      Layer.new("lab", ["lab/{lib,exe}/**/*"], [], [])
    ].freeze

    ORDER = TABLE.map(&:name).freeze

    # The engine's folders, from the bottom up.
    ENGINE_FOLDERS = ["base", "proc", "usage", "file", "segment", "index", "evict", "shard", "item", "handle",
                      "api"].freeze

    # The words of shared memory are loaded and changed by names of the operations: lard_load, lard_cas32.
    ENGINE_FREE = ["base/shared"].freeze

    # The folders of the glue, from the bottom up; init.c is above them.
    GLUE_FOLDERS = ["base", "value", "cache", "rails"].freeze

    # What base/ and cache/ share begins with glue_. The output buffer is written to by short verbs: put, room.
    GLUE_FREE = ["base", "cache", "value/tree_writer"].freeze

    # The public header is all of the engine that others may include.
    PUBLIC_HEADER = "larder.h"

    # Where the engine's own headers lie.
    ENGINE_HEADERS = ["engine/src", "engine/include", "engine/test", "engine/bench", "engine/model"].freeze

    # Who may include headers of the engine's tests.
    WITH_TEST_HEADERS = ["engine/test/", "engine/bench/", "engine/fuzz/", "engine/model/"].freeze

    # Names of a higher layer that a file may announce: autoload loads nothing before somebody says the name.
    ANNOUNCED = { "lib/larder.rb" => ["action_dispatch/middleware/session/larder_store"] }.freeze

    # What a file may load of a higher layer, where the library is there that it is for.
    LOADED = { "lib/larder.rb" => ["larder/rails/railtie"] }.freeze

    INCLUDE = /^\s*#\s*include\s*([<"])([^>"]+)[>"]/
    REQUIRES = ["require", "require_relative", "load", "autoload"].freeze

    # @param root [String] of the repository
    def initialize(root = ROOT)
      @root = root
    end

    # @return [Array<String>] one line for each breach: file, line number, what is wrong
    def breaches
      unowned + module_breaches + files.flat_map do |file, layer|
        file.end_with?(".c", ".h") ? c_breaches(file, layer) : ruby_breaches(file, layer)
      end
    end

    # @return [Hash{String => House::Layers::Layer}] every source file and its layer
    def files
      @files ||= TABLE.each_with_object({}) do |layer, files|
        layer.globs.flat_map { |glob| Dir[File.join(@root, glob)] }.sort.each do |path|
          file = path.delete_prefix("#{@root}/")
          files[file] ||= layer unless file.start_with?("engine/build/") || !source?(path)
        end
      end
    end

    private

    def module_breaches
      engine = CModules.new(File.join(@root, "engine/src"), ENGINE_FOLDERS,
                            prefix: "lard_", public: { "larder_" => ["api"] }, free: ENGINE_FREE)
      glue = CModules.new(File.join(@root, "ext/larder"), GLUE_FOLDERS, free: GLUE_FREE)
      { "engine/src" => engine, "ext/larder" => glue }.flat_map do |directory, modules|
        modules.breaches.map { |breach| "#{directory}: #{breach}" }
      end
    end

    def source?(path)
      return false unless File.file?(path)

      path.end_with?(".c", ".h", ".rb") || File.open(path, &:gets).to_s.include?("ruby")
    end

    def unowned
      Dir[File.join(@root, "lib/**/*.rb")].map { |path| path.delete_prefix("#{@root}/") }
                                          .reject { |file| files.key?(file) }
                                          .map { |file| "#{file}: belongs to no layer; add it to House::Layers::TABLE" }
    end

    def c_breaches(file, layer)
      each_include(file).filter_map do |number, kind, header|
        problem = layer.name == "engine" ? engine_problem(file, kind, header) : glue_problem(file, kind, header)
        "#{file}:#{number}: #{problem}" if problem
      end
    end

    def each_include(file)
      File.foreach(File.join(@root, file), encoding: "UTF-8").with_index(1).filter_map do |line, number|
        match = INCLUDE.match(line)
        [number, match[1], match[2]] if match
      end
    end

    # Quoted headers lie in engine/; angle brackets name the system's, never Ruby's.
    def engine_problem(file, kind, header)
      if header.match?(%r{\Aruby([./]|\z)})
        "the engine includes #{header}; it must build without Ruby"
      elsif kind == '"' && !inside?(file, header, ENGINE_HEADERS)
        "the engine includes #{header}, which is not in engine/"
      elsif header.include?("test/") && !file.start_with?(*WITH_TEST_HEADERS)
        "#{header} belongs to the tests"
      end
    end

    def glue_problem(file, kind, header)
      return if kind == "<" || header == PUBLIC_HEADER || header.match?(%r{\Aruby[./]})
      return if inside?(file, header, ["ext/larder"]) && !header.include?("engine/")

      "the glue includes #{header}; of the engine it may include #{PUBLIC_HEADER} only"
    end

    def inside?(file, header, directories)
      here = File.join(@root, File.dirname(file))
      ([here] + directories.map { |directory| File.join(@root, directory) }).any? do |directory|
        path = File.expand_path(header, directory)
        top = File.join(@root, file.split("/").first)
        path.start_with?("#{top}/") && File.file?(path)
      end
    end

    def ruby_breaches(file, layer)
      tokens = significant_tokens(file)
      tokens.each_with_index.filter_map do |(position, type, text), index|
        problem = if type == :on_const
                    constant_problem(layer, text)
                  elsif REQUIRES.include?(text) && type == :on_ident
                    require_problem(file, layer, text, argument(tokens, index))
                  end
        "#{file}:#{position.first}: #{problem}" if problem
      end
    end

    def significant_tokens(file)
      Ripper.lex(File.read(File.join(@root, file), encoding: "UTF-8"))
            .map { |position, type, text, _| [position, type, text] }
            .reject { |_, type, _| [:on_sp, :on_ignored_nl, :on_comment, :on_embdoc].include?(type) }
    end

    # The string that follows on the same statement, or nil where it is computed.
    def argument(tokens, index)
      rest = tokens.drop(index + 1).take_while { |_, type, _| type != :on_nl }
      rest.find { |_, type, _| type == :on_tstring_content }&.last
    end

    def constant_problem(layer, name)
      "#{layer.name} names #{name}, which is above it" if layer.forbidden_constants.include?(name)
    end

    def require_problem(file, layer, method, feature)
      return if feature.nil?

      if layer.forbidden_libraries.any? { |library| feature == library || feature.start_with?("#{library}/") }
        return "#{layer.name} requires #{feature}, which is above it"
      end

      used = layer_of(file, method, feature)
      return if LOADED.fetch(file, []).include?(feature)
      return if method == "autoload" && ANNOUNCED.fetch(file, []).include?(feature)
      return if used.nil? || ORDER.index(used.name) <= ORDER.index(layer.name)

      "#{layer.name} requires #{feature} of #{used.name}, which is above it"
    end

    # @return [House::Layers::Layer, nil] nil for what is not of this repository
    def layer_of(file, method, feature)
      bases = method == "require_relative" ? [File.dirname(file)] : ["lib", "lab/lib"]
      bases.filter_map do |base|
        path = File.expand_path(feature, File.join(@root, base)).delete_prefix("#{@root}/")
        files[path] || files["#{path}.rb"]
      end.first
    end
  end
end

if $PROGRAM_NAME == __FILE__
  layers = House::Layers.new(ARGV.fetch(0, House::ROOT))
  breaches = layers.breaches
  puts breaches
  puts "#{layers.files.size} files read; #{breaches.size} breaches of the dependency rule (see ARCHITECTURE.md)"
  exit breaches.empty?
end
