# frozen_string_literal: true

# Checks the C sources of a directory whose folders are layers: a module (x.c and x.h) includes headers of its own
# folder and of those below it, no modules include each other in a circle, a function that files share has the name of
# its module, whether it is called or inlined, and no two files have the same name.
#
# The compiler refuses a call without a declaration, and each function is declared in the header of its module. So
# what holds for #include lines holds for calls.

require "tsort"
require_relative "environment"

module House
  # One such directory.
  class CModules
    include TSort

    INCLUDE = %r{^#include "([\w/]+)\.h"}
    COMMENT = %r{/\*.*?\*/}m
    # The definition of a function: it begins a line, and its body follows.
    FUNCTION = /^(?!typedef\b|struct\b|enum\b)[A-Za-z_][^;{}()=#]*\b(\w+)\([^;{}]*\)\s\{/
    ATTRIBUTE = /__attribute__\(\(.*?\)\)\s*/
    # Of one file alone.
    OWN = /\Astatic\b|\ALARD_INLINE\b/

    # @param directory [String]
    # @param folders [Array<String>] from the bottom up
    # @param prefix [String] of functions that files share, before module_verb
    # @param public [Hash{String => Array<String>}] other prefixes, and the folders whose functions may have them
    # @param free [Array<String>] folders and modules whose functions have names without a module
    def initialize(directory, folders, prefix: "", public: {}, free: [])
      @directory = directory
      @folders = folders
      @prefix = prefix
      @public = public
      @free = free
    end

    # @return [Array<String>] one line for each breach
    def breaches
      unknown_folders + same_names + upward_includes + circles + misplaced_functions
    end

    private

    def sources
      @sources ||= Dir.glob("*/*.{c,h}", base: @directory).sort.to_h do |file|
        [file, File.read(File.join(@directory, file), encoding: "UTF-8")]
      end
    end

    def modules
      @modules ||= sources.keys.map { |file| without_extension(file) }.uniq
    end

    # module => the modules whose headers it includes
    def includes
      @includes ||= sources.each_with_object(Hash.new { |hash, key| hash[key] = [] }) do |(file, text), all|
        mine = without_extension(file)
        all[mine] |= text.scan(INCLUDE).flatten.grep(%r{/}) - [mine]
      end
    end

    def without_extension(file)
      file.delete_suffix(File.extname(file))
    end

    def folder(name)
      name[%r{\A[^/]+}]
    end

    def unknown_folders
      (modules.map do |name|
        folder(name)
      end.uniq - @folders).map { |name| "#{name}/ is not a layer: #{@folders.join(", ")}" }
    end

    # Objects and tables of files go by the name alone.
    def same_names
      modules.group_by { |name| File.basename(name) }.values.select { |same| same.size > 1 }
             .map { |same| "#{same.join(" and ")} have the same name" }
    end

    def upward_includes
      includes.flat_map do |name, used|
        above = used.select { |other| rank(other) > rank(name) }
        above.map { |other| "#{name} includes #{other}.h, which is in a layer above it" }
      end
    end

    def rank(name)
      @folders.index(folder(name)) || -1
    end

    def circles
      strongly_connected_components.select { |names| names.size > 1 }
                                   .map { |names| "#{names.sort.join(", ")} include each other in a circle" }
    end

    def tsort_each_node(&block)
      modules.each(&block)
    end

    def tsort_each_child(name, &block)
      (includes[name] & modules).each(&block)
    end

    def misplaced_functions
      sources.flat_map do |file, text|
        name = without_extension(file)
        next [] if @free.include?(folder(file)) || @free.include?(name)

        shared_functions(file, text).reject { |function| public?(function, file) || of_module?(function, name) }
                                    .map { |function| "#{file}: #{function} has not the name of its file" }
      end
    end

    # All that a header defines, and what is not static in a source.
    def shared_functions(file, text)
      definitions = text.gsub(COMMENT, "").gsub(ATTRIBUTE, "").to_enum(:scan, FUNCTION).map { Regexp.last_match }
      definitions.reject { |found| file.end_with?(".c") && found[0].match?(OWN) }.map { |found| found[1] }
    end

    def public?(function, file)
      @public.any? { |prefix, folders| function.start_with?(prefix) && folders.include?(folder(file)) }
    end

    def of_module?(function, name)
      own = "#{@prefix}#{File.basename(name)}"
      function == own || function.start_with?("#{own}_")
    end
  end
end
