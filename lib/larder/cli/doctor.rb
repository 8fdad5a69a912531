# frozen_string_literal: true

# `larder doctor`: finds the problems of a cache and its location, and the commands that fix them.

require_relative "../bytes/doctor"
require_relative "cache_command"

module Larder
  module CLI
    # `larder doctor`: finds problems.
    class Doctor < CacheCommand
      # What users type.
      NAME = "doctor"
      # One line for `larder --help`.
      SUMMARY = "finds problems of a cache, and the commands that fix them"
      Commands.register(NAME, self)

      BANNER = <<~TEXT
        Usage: larder doctor [PATH] [--json]

        Checks a cache and its location, and prints the command that fixes each problem:
        owner and mode, whether it opens, fits the memory limit and has its space
        reserved, whether it is in a container's layer, in git or copied, and whether it
        is too small. It changes nothing.
      TEXT
      FOOTER = <<~TEXT.freeze
        #{PATH_HELP}
        Run it as the application's user, in the same container. Within the application
        it also reports what disables the fast path:
          bin/rails runner 'puts Larder::Doctor.run(Rails.cache)'

        Exit codes: 0 no problem, 1 problems or no such file, 2 wrong usage.
      TEXT
      private_constant :BANNER, :FOOTER

      private

      def parser
        @parser ||= explained(BANNER, FOOTER) { |options| options }
      end

      def act
        missing if Application.objection(path)
        missing unless File.exist?(path) || File.symlink?(path) || hindered?
        report = ::Larder::Doctor.run(path, sessions: method(:sessions?), size: @files.size_of(path))
        if @json
          tell({ file: report.path, sound: report.sound?, findings: report.findings.map(&:to_h),
                 checked: [*report.sound.keys, *report.findings.map(&:check)] })
        else
          show(report)
        end
        report.sound? ? OK : FAILED
      end

      # True if the application could not create the file. Outside of its directory the default path means nothing.
      def hindered?
        return false unless named? || @files.within_application?

        !::Larder::Doctor::Creation.hindrance(File.absolute_path(path), *@files.size_of(path)).nil?
      end

      def show(report)
        @out.puts("Cache #{path}", style: :bold)
        @out.puts("", *report.sound.values.flat_map { |text| marked("ok   ", text) })
        report.findings.each do |finding|
          head, *rest = marked("fix  ", finding.what)
          @out.puts("")
          @out.puts(head, style: :red)
          @out.puts(*rest, "", "          #{finding.fix}")
        end
        @out.puts("", report.sound? ? "No problems." : "#{Words.counted(report.findings.size, "problem")}.")
      end

      # @return [Array<String>] lines that fit 80 columns, the first with a mark
      def marked(mark, text)
        head, *rest = text.gsub(/(.{1,70})(?: +|\z)/, "\\1\n").lines(chomp: true)
        ["  #{mark} #{head}", *rest.map { |line| "        #{line}" }]
      end
    end
  end
end
