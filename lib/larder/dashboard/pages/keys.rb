# frozen_string_literal: true

# Lists keys: those of a pattern and a keyspace, in an order.

require_relative "../codecs"

module Larder
  class Dashboard
    module Pages
      # A search for keys, which ends after a limited time and can be continued.
      class Keys < Page
        MOST = 50
        # Characters of a pattern: in an address, each takes up to nine bytes, and Puma takes 10 KB. And those of a key
        # that is shown as a whole.
        LONGEST_PATTERN = 1000
        LONGEST = 160
        # Keys of a sample.
        SAMPLE = 8
        ORDERS = { "" => "as they are found", "size" => "largest first", "age" => "oldest first",
                   "ttl" => "first to expire first", "reads" => "most read first" }.freeze
        private_constant :MOST, :LONGEST_PATTERN, :LONGEST, :SAMPLE, :ORDERS

        # @return [String]
        def title
          "Keys"
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          read
          form(html)
          found(html)
          sample(html) if @pattern.empty? && @keyspace.empty? && first?
        end

        private

        def read
          @pattern, @keyspace, @sort = %w[pattern keyspace sort].map { |name| visit.param(name) }
          if @pattern.size > LONGEST_PATTERN
            raise Inspection::Invalid, "The pattern has #{Words.count(@pattern.size)} characters; it may have " \
                                       "#{Words.count(LONGEST_PATTERN)} at most. The beginning of the key finds " \
                                       "it, too"
          end

          @usage = Inspection::Statistics.of(cache.path).usage
          @items = cache.stats[:items]
          from = visit.param("from")
          @result = search.from(from.empty? ? Inspection::Search::START : from)
        end

        def search
          sort = @sort unless @sort.empty?
          pattern = Inspection::Pattern.new(@pattern)
          return Inspection::Search.new(cache, pattern, limit: MOST, sort: sort) if @keyspace.empty?

          wanted = KeyText.bytes(@keyspace)
          keyspace = Inspection::Keyspaces.of(cache.path)
          Inspection::Search.new(cache, pattern, limit: MOST, sort: sort) { |key| keyspace.call(key).b == wanted }
        end

        # ---- the form ----

        def form(html)
          html.form(class: "card search", method: "get", action: path("keys"), role: "search") do
            html.div(class: "wide") do
              html.label("Beginning of keys, or a pattern with * and ?", for: "pattern")
              html.input(type: "text", id: "pattern", name: "pattern", value: @pattern,
                         pattern: ".{0,#{LONGEST_PATTERN}}",
                         title: "#{Words.count(LONGEST_PATTERN)} characters at most", autocomplete: "off",
                         autocapitalize: "off", spellcheck: "false", placeholder: "views/products/*")
            end
            choice(html, "Keyspace", "keyspace", { "" => "all", **keyspaces }, @keyspace)
            choice(html, "Order", "sort", ORDERS, @sort)
            html.button("Search", class: "button", type: "submit")
          end
        end

        def choice(html, label, name, options, chosen)
          html.div do
            html.label(label, for: name)
            html.select(id: name, name: name) do
              options.each { |value, text| html.option(text, value: value, selected: value == chosen) }
            end
          end
        end

        def keyspaces
          names = [*@usage&.keyspaces&.map { |keyspace| KeyText.shown(keyspace.name) }, @keyspace]
          names.uniq.reject(&:empty?).sort.to_h { |name| [name, name] }
        end

        # ---- the result ----

        def found(html)
          html.section(class: "card", aria: { labelledby: "found" }) do
            html.h2(headline, id: "found")
            html.p(searched, class: "small")
            if @result.items.any?
              table(html, headline, columns, @result.items)
            else
              html.p(@result.position ? "None in this part of the keys." : "There is no such key.", class: "empty")
              elsewhere(html) if beginning?
            end
            actions(html)
          end
        end

        # True if the pattern is the beginning of keys, before which there may be a namespace.
        def beginning?
          first? && !@pattern.empty? && !@pattern.start_with?("*")
        end

        # Other patterns that may be meant.
        def elsewhere(html)
          namespace = visit.source.namespace
          html.p("The pattern says how a key begins. Keys of a store with a namespace begin with that: search for",
                 class: "small")
          html.ul do
            if namespace && !@pattern.start_with?(namespace)
              other_pattern(html, namespace + @pattern, " which begins with the store's namespace")
            end
            other_pattern(html, "*#{@pattern}#{"*" unless @pattern.match?(/[*?]/)}", " anywhere in the keys")
          end
        end

        def other_pattern(html, pattern, words)
          html.li do
            html.a(pattern, class: "key", href: path("keys", pattern: pattern, keyspace: @keyspace, sort: @sort))
            html.text(words)
          end
        end

        def headline
          return Words.counted(@result.items.size, "key") if @sort.empty?

          "#{Words.counted(@result.items.size, "key")}, #{ORDERS.fetch(@sort)}"
        end

        # Numbers are computed from parts of the walk, so they are rounded where not all was searched.
        def searched
          return "All #{Words.counted(@items, "key")} of the cache were searched." if @result.position.nil? && first?

          from, to = [@result.from, @result.to].map { |part| (part * @items).round }
          of = "of #{Words.counted(@items, "key")}"
          return "Searched #{about(to)} #{of}." if first? || @sort.empty?

          "These are from the part from #{about(from)} to #{about(to)} #{of}."
        end

        # True if it began with the first key.
        def first?
          visit.param("from").empty?
        end

        def about(number)
          return Words.count(number) if [0, @items].include?(number)

          "about #{Words.count(number < 1000 ? number : number.round(-(number.to_s.size - 3)))}"
        end

        def columns
          [column("Key") { |out, item| out.a(cut(item.key), href: entry(item.key), class: "key") },
           column("Size", :number) { |_, item| Brief.bytes(item.size) },
           column("Age", :number) { |_, item| text(item).age.sub("<=", "≤") },
           column("TTL", :number) { |_, item| text(item).ttl.sub(/\A-\z/, "–") },
           column("Reads", :number) { |_, item| text(item).reads.sub(/\A-\z/, "–") },
           column("Tags", :number) { |_, item| item.tags.zero? ? "–" : item.tags.to_s },
           column("Encoding") { |_, item| Codecs.of(cache, item) }]
        end

        def text(item)
          Inspection::ItemText.new(item, now_ms)
        end

        def entry(key)
          path("entry", **KeyAddress.params(key))
        end

        # Both ends distinguish keys.
        def cut(key)
          text = KeyText.shown(key)
          return text if text.size <= LONGEST

          "#{text[0, LONGEST * 2 / 3]}…#{text[-(LONGEST / 3)..]}"
        end

        def actions(html)
          html.p(class: "actions") do
            if @result.position
              html.a("Continue the search", class: "button",
                     href: path("keys", pattern: @pattern, keyspace: @keyspace, sort: @sort, from: @result.position))
            end
            html.a("From the beginning", class: "button quiet", href: again) unless first?
            part = deletable
            html.a("Delete all of these…", class: "button quiet", href: path("clear", **part)) if part && !read_only?
          end
        end

        def again
          path("keys", pattern: @pattern, keyspace: @keyspace, sort: @sort)
        end

        # A part that can be deleted as a whole.
        def deletable
          return { by: "keyspace", text: @keyspace } if @pattern.empty? && !@keyspace.empty?

          { by: "prefix", text: @pattern } if @keyspace.empty? && @pattern.match?(/\A[^*?]+\z/)
        end

        # ---- the sample of the statistics ----

        def sample(html)
          return unless @usage

          html.div(class: "charts") do
            hot = @usage.hot.select { |key| key.error <= key.weight / 2 }
            used(html, "Most read keys of a sample", "Reads", hot) do |key|
              [Brief.count(key.weight), *Brief.error(key.error, key.weight)&.tr("±", "−")].join(" ")
            end
            used(html, "Largest values of a sample", "Size", @usage.heavy) { |key| Brief.bytes(key.weight) }
          end
        end

        def used(html, title, figure, keys)
          html.section(class: "card") do
            html.h2(title)
            next html.p("There are none yet.", class: "empty") if keys.empty?

            table(html, title, [column("Key") { |out, key| used_key(out, key) },
                                column(figure, :number) { |_, key| yield key },
                                column("Last seen", :number) { |_, key| "#{Brief.span(since(key.seen))} ago" }],
                  keys.first(SAMPLE))
          end
        end

        def since(time)
          [Time.now - time, 1].max.round
        end

        # The statistics have the beginning of a long key.
        def used_key(out, key)
          return out.a(cut(key.key), href: entry(key.key), class: "key") if key.key_bytes <= key.key.bytesize

          out.a("#{cut(key.key)}…", href: path("keys", pattern: KeyText.shown(key.key)), class: "key")
        end
      end
    end
  end
end
