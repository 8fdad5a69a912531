# frozen_string_literal: true

module Larder
  module Lab
    module Commands
      # What commands have in common: where they print, and what becomes of --json FILE.
      class Command
        # @param out [Terminal] for results
        # @param err [Terminal] for progress
        def initialize(out, err)
          @out = out
          @err = err
        end

        private

        def show(text)
          @out.puts(text)
          CLI::OK
        end

        # Asked before the run, not after it. Leaves no empty file behind if the run is stopped.
        def writable(path)
          raise UsageError, "--json #{path}: it is a directory" if File.directory?(path)
          return path if File.writable?(File.exist?(path) ? path : File.dirname(path))

          raise UsageError, "--json #{path}: cannot be written"
        end

        def write_json(path, text)
          File.write(path, text)
          @err.puts("wrote #{path}")
        rescue SystemCallError => error
          raise UsageError, "--json #{path}: #{error.message}"
        end
      end
    end
  end
end
