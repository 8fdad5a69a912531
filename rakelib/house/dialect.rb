# frozen_string_literal: true

require_relative "checkout"
require_relative "prose"

module House
  # Finds phrases that a reader who learned English from manuals has to decode, and says how to write them instead.
  module Dialect
    # A phrase to avoid: `regexp` is matched against paragraphs of `kinds`, `remedy` says how to write it.
    Pattern = Struct.new(:name, :regexp, :kinds, :remedy)

    # A phrase that was found, and the sentence around it.
    Finding = Struct.new(:path, :number, :pattern, :phrase, :sentence) do
      def to_s
        "#{path}:#{number}: \"#{phrase.strip}\" (#{pattern.name}): #{pattern.remedy}"
      end
    end

    PROSE = [:comment, :document, :message, :subject].freeze
    ANY = [*PROSE, :heading].freeze

    # The start of a sentence or of a part of it.
    OPEN = /(?:\A|(?<=[.:;?!]\s))[("*]*/

    PATTERNS = [
      ["what-who", /#{OPEN}(?:What|Who|Whoever|Whatever|Whom)\s(?![^.:;]*\?)/, PROSE,
       "begin with the noun: \"A caller that …\", \"The values that …\", \"Returns …\""],
      ["object-first", /#{OPEN}(?:(?:Of|Beside)\s(?!course\b)|By\s(?!default\b)|From\s(?!now|then|here|version|[A-Z]))/,
       PROSE, "begin with the subject and the verb; put \"of …\", \"by …\", \"from …\" behind them"],
      ["of-which", /\b(?:of|for|by) which\b|\bwhom\b/i, ANY,
       "write two sentences, or use \"whose\" or \"that\""],
      ["is-no", /(?<!there )\b(?:is|are|was|were) no (?!longer|more|less|\w+er than|reason|need|way|different)[a-z]/i,
       ANY, "say what it must be (\"must be a number\"), or \"is not a …\""],
      ["nobody", /(?<!-o )(?<!user )\b(?:nobody|whoever|somebody)\b(?!:)/i, ANY,
       "name the actor: a process, a caller, a user; or \"no process\", \"unused\""],
      ["question", /#{OPEN}[A-Z][^.:;?]*\?(?=\s|\z)/, [:comment],
       "state the answer: \"True if …\", \"Whether …\""],
      ["beside", /\bbeside\b(?!\.| it\b| (?:the|its|their|a) (?:cache |database )?(?:file|path|directory)\b)/i, ANY,
       "\"compared with\", \"together with\" or \"in addition to\"; for a place \"next to\""],
      ["same-of", /\blikewise\b|\bthe same of\b/i, ANY,
       "name the function or the rule that also holds here: \"As read_entry, for a record.\""],
      ["private-verb", Regexp.union(/\b(?:is|are|was|were|be|been|being) told\b(?! apart| from)/i,
                                    /\btell(?:s|ing)? of\b|\bhear(?:s|d|ing)? (?:of|from)\b/i,
                                    /(?<!the )\bfl(?:y|ies|ew|own)\b(?!\.(?:io|toml)\b)/i,
                                    /\btakes? (?:no )?notice\b|\bthe far (?!end)/i),
       ANY,
       "use the field's verb: report, publish, receive, notify, record, compute once; \"remote\" for \"far\""],
      ["archaic", /\b(?:anew|meanwhile|gladly)\b|\bso (?:many|much|long) as\b/i, ANY,
       "\"again\", \"in between\" or \"since then\", \"as many as\""]
    ].map { |row| Pattern.new(*row).freeze }.freeze

    # Where the phrases themselves are.
    OWN = ["rakelib/house/dialect.rb", "test/house/dialect_test.rb", "test/house/prose_test.rb",
           "test/house/subjects_test.rb"].freeze

    module_function

    # @param root [String] a checkout
    # @return [Array<Finding>] in all files that git knows or would add
    def in_tree(root = ROOT)
      (Checkout.files - OWN).sort.flat_map do |path|
        source = File.read(File.join(root, path), encoding: "UTF-8")
        source.valid_encoding? ? in_source(path, source) : []
      end
    end

    # @param path [String] decides how the text is read
    # @param source [String]
    # @return [Array<Finding>]
    def in_source(path, source)
      Prose.of(path, source).flat_map { |paragraph| in_paragraph(path, paragraph) }
    end

    # @param subject [String] a commit's, "area: change"
    # @param commit [String] its name
    # @return [Array<Finding>]
    def in_subject(subject, commit)
      change = subject.sub(/\A[^:]*: /, "")
      in_paragraph(commit, Prose::Paragraph.new(:subject, [[1, change]]))
    end

    def in_paragraph(path, paragraph)
      text = paragraph.unquoted
      PATTERNS.select { |pattern| pattern.kinds.include?(paragraph.kind) }.flat_map do |pattern|
        offsets(text, pattern.regexp).map do |offset, phrase|
          Finding.new(path, paragraph.line_number(offset), pattern, phrase, paragraph.sentence(offset))
        end
      end
    end

    def offsets(text, regexp)
      text.to_enum(:scan, regexp).map { [$~.begin(0), $~[0]] }
    end
    private_class_method :in_paragraph, :offsets
  end
end
