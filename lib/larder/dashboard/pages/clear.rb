# frozen_string_literal: true

# Deletes a part of the cache, or all of it, after a question.

require_relative "../deletion"

module Larder
  class Dashboard
    module Pages
      # GET asks which part, and then whether that is meant; POST deletes.
      class Clear < Page
        ALL = "all"
        PARTS = Inspection::Selections::ALL.to_h { |part| [part::NAME, part] }.freeze
        MEANINGS = {
          "prefix" => "Keys that begin with a text, such as views/ or shop:views/",
          "namespace" => "All entries of a store with namespace:, as Rails.cache.clear does",
          "tag" => "All entries with a tag, such as products/7, as Rails.cache.delete_tagged does",
          "keyspace" => "All keys of a keyspace of the overview"
        }.freeze
        SENTENCES = {
          "prefix" => "This deletes every key that begins with",
          "namespace" => "This deletes every entry of the namespace",
          "tag" => "This deletes every entry with the tag",
          "keyspace" => "This deletes every key of the keyspace"
        }.freeze
        # Keys that the question shows.
        EXAMPLES = 5
        private_constant :ALL, :PARTS, :MEANINGS, :SENTENCES, :EXAMPLES

        # @return [String]
        def title
          return "Deleted" if @done
          return "Clear a part, or all" if by.empty?

          by == ALL ? "Delete everything?" : "Delete #{described}?"
        end

        # @return [void]
        def submit
          deletion = Deletion.new(visit)
          @deleted = by == ALL ? deletion.all : deletion.part(part)
          @done = true
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          @deletion = Deletion.new(visit)
          if @done then done(html)
          elsif by.empty? then choices(html)
          else question(html)
          end
        end

        private

        def by
          visit.param("by")
        end

        # A name may begin or end with a space. White space alone is none.
        def text
          given = visit.param("text")
          given.strip.empty? ? "" : given
        end

        # @return [Inspection::Selections::Selection]
        # @raise [Inspection::Invalid]
        def part
          @part ||= PARTS.fetch(by) do
            raise Inspection::Invalid, "There is no part by #{by.inspect}; known: #{[*PARTS.keys, ALL].join(", ")}"
          end.new(text)
        end

        def described
          "all #{by == "tag" ? "entries" : "keys"} #{part.to_s.delete_suffix(part.text)}#{shorter(part.text)}"
        end

        def shorter(text)
          text.size > 60 ? "#{text[0, 59]}…" : text
        end

        # ---- which part ----

        def choices(html)
          MEANINGS.each do |name, meaning|
            html.form(class: "card search part", method: "get", action: path("clear")) do
              html.input(type: "hidden", name: "by", value: name)
              html.div(class: "wide") do
                html.label(meaning, for: "text-#{name}")
                html.input(type: "text", id: "text-#{name}", name: "text", required: true, autocomplete: "off",
                           autocapitalize: "off", spellcheck: "false")
              end
              html.button("Delete by #{name}…", class: "button quiet", type: "submit")
            end
          end
          html.section(class: "card") do
            html.h2("Everything")
            html.p(everything)
            html.p(class: "actions") do
              html.a("Delete everything…", class: "button quiet", href: path("clear", by: ALL))
            end
          end
        end

        def everything
          return "All #{Words.counted(cache.stats[:items], "item")} of the file, for all processes." unless remote?

          "All entries of the store, on all machines, as Rails.cache.clear does."
        end

        def remote?
          @deletion.remote?
        end

        # ---- the question ----

        def question(html)
          html.section(class: "card problem") do
            html.p(by == ALL ? everything : meant)
            examples(html) unless [ALL, "tag"].include?(by)
            html.p("Values are computed again when they are needed: expect misses.", class: "small")
            posting(html, "clear") do
              html.input(type: "hidden", name: "by", value: by)
              html.input(type: "hidden", name: "text", value: part.text) unless by == ALL
              html.p(class: "actions") do
                html.button("Delete", class: "button danger", type: "submit")
                html.a("Keep them", class: "button quiet", href: path("clear"))
              end
            end
          end
        end

        def meant
          only = " Keys that only other machines have stay." if remote? && %w[prefix keyspace].include?(by)
          "#{SENTENCES.fetch(by)} #{part.text}, for all processes at once.#{only}"
        end

        # The first keys of a short search.
        def examples(html)
          found = part.search(cache, limit: EXAMPLES).from(Inspection::Search::START)
          return html.p("A short search found none of them.", class: "small") if found.items.empty?

          html.p("Among them:", class: "small")
          html.ul do
            found.items.each { |item| html.li { html.code(shorter(KeyText.shown(item.key)), class: "key") } }
          end
        end

        # ---- the end ----

        def done(html)
          count = @deleted ? Words.counted(@deleted, "item") : "All items"
          items = [count, *(part unless by == ALL)].join(" ")
          html.section(class: "card notice") do
            html.p("#{items} #{@deleted == 1 ? "was" : "were"} deleted.")
            html.p(class: "actions") { html.a("To the overview", class: "button quiet", href: path("")) }
          end
        end
      end
    end
  end
end
