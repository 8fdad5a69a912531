# frozen_string_literal: true

# Reads and writes a text file of an application. The text has \n as line ends and no byte order mark, whatever the file
# has; the file keeps its own.

module Larder
  module Generators
    # @api private
    module TextFile
      BOM = "\uFEFF"
      private_constant :BOM

      # @param path [String]
      # @return [String]
      def self.read(path)
        text = stored(path).delete_prefix(BOM)
        crlf?(text) ? text.gsub("\r\n", "\n") : text
      end

      # @param path [String] of a file that may not exist yet
      # @param text [String]
      # @return [void]
      def self.write(path, text)
        former = File.file?(path) ? stored(path) : ""
        text = text.gsub("\n", "\r\n") if crlf?(former)
        File.write(path, former.start_with?(BOM) ? "#{BOM}#{text}" : text)
      end

      def self.stored(path)
        File.read(path, encoding: "UTF-8")
      end

      # True if each line ends so. Lines of a file that has both ends are not converted.
      def self.crlf?(text)
        text.include?("\r\n") && !text.match?(/(?<!\r)\n/)
      end
      private_class_method :stored, :crlf?
    end
  end
end
