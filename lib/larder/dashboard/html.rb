# frozen_string_literal: true

# Writes HTML. All texts and attributes are escaped: there is no way to write a text as it is.

require "cgi/escape"

module Larder
  class Dashboard
    # A document that grows by calls: `html.div(class: "card") { html.p("a < b") }`.
    # @api private
    class Html
      TAGS = %i[a aside button caption code dd details div dl dt em fieldset figcaption figure footer form h1 h2 h3
                header label legend li main meter nav ol option p pre progress section select small span strong summary
                table tbody td th thead time title tr ul svg g path line rect circle polyline desc].freeze
      VOID = %i[br hr input link meta].freeze
      NAME = /\A[A-Za-z][A-Za-z0-9:-]*\z/
      # The policy of the pages forbids them, so they would have no effect.
      FORBIDDEN = /\A(?:style|on.*)\z/i
      # Attributes that lead somewhere, and where they may: into the application.
      LEADING = %i[href action src].freeze
      WITHIN = %r{\A(?:/(?!/)|#|\?)}
      private_constant :TAGS, :VOID, :NAME, :FORBIDDEN, :LEADING, :WITHIN

      # @yieldparam html [Html]
      # @return [String] a whole document
      def self.document
        html = new
        yield html
        "<!DOCTYPE html>\n<html lang=\"en\">#{html}</html>\n"
      end

      def initialize
        @out = +""
      end

      TAGS.each do |name|
        define_method(name) { |content = nil, **attributes, &block| tag(name, content, attributes, &block) }
      end

      VOID.each do |name|
        define_method(name) { |**attributes| start(name, attributes) }
      end

      # @param content [Object] shown by its `to_s`
      # @return [self]
      def text(content)
        @out << escape(content)
        self
      end

      # @yield writes the head of the document
      # @return [self]
      def head(&block)
        tag(:head, nil, {}, &block)
      end

      # @yield writes the body
      # @return [self]
      def body(&block)
        tag(:body, nil, {}, &block)
      end

      # @param path [String] of a script
      # @return [self]
      def script(path)
        tag(:script, nil, { src: path, defer: true })
      end

      # @return [String]
      def to_s
        @out
      end

      private

      def tag(name, content, attributes)
        start(name, attributes)
        text(content) unless content.nil?
        yield if block_given?
        @out << "</" << name.name << ">"
        self
      end

      def start(name, attributes)
        @out << "<" << name.name
        attributes.each { |key, value| attribute(key, value) }
        @out << ">"
        self
      end

      def attribute(name, value)
        return value.each { |key, inner| attribute(:"#{name}-#{key}", inner) } if value.is_a?(Hash)
        return if value.nil? || value == false

        name = name.name.tr("_", "-")
        raise ::ArgumentError, "no attribute #{name} is written" if !NAME.match?(name) || FORBIDDEN.match?(name)

        @out << " " << name
        return if value == true

        value = Array(value).join(" ")
        if LEADING.include?(name.to_sym) && !WITHIN.match?(value)
          raise ::ArgumentError, "#{name} leads out of the application: #{value}"
        end

        @out << '="' << escape(value) << '"'
      end

      def escape(content)
        text = content.to_s
        text = text.dup.force_encoding(Encoding::UTF_8) unless text.encoding == Encoding::UTF_8
        CGI.escapeHTML(text.scrub)
      end
    end
  end
end
