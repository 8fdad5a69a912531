# frozen_string_literal: true

require "fileutils"
require "shellwords"
require "tmpdir"
require_relative "../clock"
require_relative "../document"
require_relative "../environment"
require_relative "../progress"
require_relative "../reports"
require_relative "../watch"

module Larder
  module Lab
    module Commands
      # What commands have in common: where they print, and what becomes of --json FILE and its like. A command that
      # measures has `chapter`, which gets its options and answers a {Document::Chapter}; {#run} does the rest.
      class Command
        include Clock

        # @param out [Terminal] for results
        # @param err [Terminal] for progress
        def initialize(out, err, _input = nil)
          @out = out
          @err = err
        end

        # @param arguments [Array<String>]
        # @return [Integer] exit code: 0, or 1 if something was wrong or nothing could be measured
        # @raise [UsageError]
        def run(arguments)
          @line = line(arguments)
          options = options_for(arguments)
          return show(options.help) if options.help?
          return show(options.list) if options.list?

          publish(options) { |started| findings(options, started) }
        rescue SignalException => error
          @err.puts("larder-lab: stopped by SIG#{Signal.signame(error.signo)}; #{kept}")
          CLI::SIGNALLED + error.signo
        end

        # Measures, and warns of what the machine did meanwhile.
        # @param options [CommandLine]
        # @return [Document::Chapter]
        def watched(options)
          watch(options) { chapter(options) }
        end

        # @param arguments [Array<String>]
        # @return [CommandLine] help?, list?, outputs, and what `chapter` reads
        # @raise [UsageError]
        def options_for(arguments) = self.class::Options.new.parse(arguments)

        private

        # @yieldreturn [Document::Chapter]
        def watch(options)
          watch = Watch.new
          yield.tap { |chapter| chapter.warnings.concat(gone_without(options), watch.warnings(chapter.measures)) }
        end

        def findings(options, started)
          document([watched(options)], started)
        end

        # What a run that is stopped leaves behind, as a sentence.
        def kept
          "no report was written"
        end

        # Files are asked for before the run, not after it; the text comes before them, should one of them fail.
        # @yieldparam started [Float]
        # @yieldreturn [Document]
        def publish(options)
          must_be_writable(options.outputs)
          document = yield now
          @out.print(Reports::Text.new(document, terminal: @out).to_s, "\n")
          write(document, options.outputs)
          document.failed? ? CLI::FAILED : CLI::OK
        end

        def gone_without(options)
          names = options.respond_to?(:left_out) ? options.left_out : []
          names.any? ? ["A quick run goes without #{names.join(" and ")}, unless they are named."] : []
        end

        # The environment is that of the first chapter that took it down, else it is taken down now.
        def document(chapters, started, command: self.class::NAME)
          facts = chapters.filter_map { |chapter| chapter.details.delete(:environment) }.first
          @environment ||= facts || Environment.facts(Dir.tmpdir)
          Document.new(command: command, chapters: chapters, environment: @environment, elapsed: now - started,
                       line: @line)
        end

        # As it was typed, but for passwords in URLs.
        def line(arguments)
          typed = ["larder-lab", self.class::NAME, *arguments].map { |word| word.sub(%r{(?<=://)[^/\s]*(?=@)}, "…") }
          typed.map { |word| word.match?(%r{\A[\w@%+=:,./…-]+\z}) ? word : Shellwords.escape(word) }.join(" ")
        end

        def write(document, outputs)
          outputs.each do |form, path|
            save(document, form, path)
            @err.puts("wrote #{path}")
          end
        end

        def show(text)
          @out.puts(*text.lines(chomp: true))
          CLI::OK
        end

        # Refuses files that cannot be written. Leaves no empty file behind if the run is stopped.
        def must_be_writable(outputs)
          outputs.each do |form, path|
            raise UsageError, "--#{form} #{path}: it is a directory" if File.directory?(path)
            next if File.writable?(File.exist?(path) ? path : "#{File.dirname(path)}/.")

            raise UsageError, "--#{form} #{path}: cannot be written"
          end
        end

        # Writes another file first, so that a full disk leaves neither half a report nor none of the last one. A link
        # or a device such as /dev/stdout stays what it is.
        def save(document, form, path)
          text = Reports.of(form).new(document).to_s
          return File.write(path, text) if File.exist?(path) && !File.file?(path)

          path = File.realpath(path) if File.exist?(path)
          partial = "#{path}.part"
          File.write(partial, text)
          File.rename(partial, path)
        rescue SystemCallError => error
          FileUtils.rm_f(partial) if partial
          raise UsageError, "--#{form} #{path}: #{error.message}"
        end
      end
    end
  end
end
