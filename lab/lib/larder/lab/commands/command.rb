# frozen_string_literal: true

require "fileutils"
require "larder/cli/command"
require "shellwords"
require "tmpdir"
require_relative "../clock"
require_relative "../contender_declaration"
require_relative "../document"
require_relative "../environment"
require_relative "../progress"
require_relative "../reports"
require_relative "../watch"

module Larder
  module Lab
    module Commands
      # A command: its options, once they are parsed, what it does with them, and what becomes of --json FILE and its
      # like. A subclass has a BANNER and a FOOTER of its help, declares its options in {#declare}, and measures in
      # {#chapter}; {#run} does the rest. Results go to the terminal `out`, and progress to `err`.
      class Command < CLI::Command
        include Clock

        # Forms in which a document can be written to a file: option, what it is. {Reports} has a class for each.
        FORMS = { "json" => "everything, raw samples included",
                  "html" => "one page with charts; needs no network" }.freeze

        # Lists the command under this name, with one line for `larder-lab --help`.
        def self.named(name, summary)
          const_set(:NAME, name)
          const_set(:SUMMARY, summary)
          Commands.register(name, self)
        end
        private_class_method :named

        # Files to be written, by the names of {FORMS}.
        def outputs = @outputs ||= {}

        # Answers the exit code: 0, or 1 if something was wrong or nothing could be measured. Raises UsageError.
        def run(arguments)
          @line = line(arguments)
          super
        rescue SignalException => error
          @err.puts("larder-lab: stopped by SIG#{Signal.signame(error.signo)}; #{kept}")
          CLI::SIGNALLED + error.signo
        end

        # The seed of the order: the one that was given, or one that the report tells.
        def seed = @seed ||= Random.new_seed % 1_000_000

        # The chapters of its report.
        def chapters = [watched { chapter }]

        # Names of what a quick run goes without.
        def left_out = []

        private

        # A parser as every command's: what the command is for, its options, where reports go to, and how to read them.
        def parser
          @parser ||= explained(banner, self.class::FOOTER, width: 24) do |options|
            declare(options)
            options.separator("\nOutput:")
            FORMS.each do |form, what|
              options.on("--#{form} FILE", "also write #{what}") { |file| outputs[form] = file }
            end
          end
        end

        def banner = self.class::BANNER

        def declare(_options); end

        # Lines with names that users type, and their titles.
        def listed(titles)
          width = titles.keys.map(&:size).max
          titles.map { |name, title| "  #{name.ljust(width)}  #{title}" }
        end

        # Asks for files before the run, not after it; the text comes before them, should one of them fail.
        def act
          return say(list) if @list

          started = now
          check_outputs
          document = findings(started)
          @out.print(Reports::Text.new(document, terminal: @out).to_s, "\n")
          write_all(document)
          document.failed? ? CLI::FAILED : CLI::OK
        end

        def findings(started) = document(chapters, started)

        # The chapter that the block makes, with warnings of what else the machine did.
        def watched
          watch = Watch.new
          gone = ["A quick run goes without #{left_out.join(" and ")}, unless they are named."] if left_out.any?
          yield.tap { |chapter| chapter.warnings.push(*gone, *watch.warnings) }
        end

        # What a run that is stopped leaves behind, as a sentence.
        def kept = "no report was written"

        # The environment is that of the first chapter that took it down, else it is taken down now.
        def document(chapters, started)
          facts = chapters.filter_map { |chapter| chapter.details.delete(:environment) }.first
          @environment ||= facts || Environment.facts(Dir.tmpdir)
          Document.new(command: self.class::NAME, chapters: chapters, environment: @environment,
                       elapsed_seconds: now - started, command_line: @line)
        end

        # As it was typed, but for passwords in URLs.
        def line(arguments)
          typed = ["larder-lab", self.class::NAME, *arguments].map { |word| ContenderDeclaration.shown(word) }
          typed.map { |word| word.match?(%r{\A[\w@%+=:,./-]+\z}) ? word : Shellwords.escape(word) }.join(" ")
        end

        def write_all(document)
          outputs.each do |form, path|
            save(document, form, path)
            @err.puts("wrote #{path}")
          end
        end

        # Leaves no empty file behind if the run is stopped.
        def check_outputs
          outputs.each do |form, path|
            raise UsageError, "--#{form}: name a file" if path.strip.empty?
            raise UsageError, "--#{form} #{path}: it is a directory" if File.directory?(path)
            next if File.exist?(path) ? File.writable?(path) : File.writable?("#{File.dirname(path)}/.")

            raise UsageError, "--#{form} #{path}: cannot be written"
          end
        end

        # Writes another file first, so that a full disk leaves neither half a report nor none of the last one. A link
        # or a device such as /dev/stdout stays what it is.
        def save(document, form, path)
          text = Reports.const_get(form.capitalize).new(document).to_s
          return File.write(path, text) if File.exist?(path) && !File.file?(path)

          path = File.realpath(path) if File.exist?(path)
          partial = "#{path}.part"
          File.write(partial, text)
          File.rename(partial, path)
        rescue SystemCallError => error
          FileUtils.rm_f(partial) if partial
          raise UsageError, "--#{form} #{path}: #{Lab.reason(error)}"
        end

        def seed_option(options, words = "seed of the order of turns, to repeat a run")
          options.on("--seed N", Integer, words) { |number| @seed = number.abs }
        end
      end
    end
  end
end
