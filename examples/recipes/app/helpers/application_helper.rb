# frozen_string_literal: true

# What views ask for.
module ApplicationHelper
  # The key of a favourite in the session: each has its own.
  FAVOURITE = %r{\Afavourite/(\d+)\z}
  # Page numbers that are shown on both sides of the present one.
  AROUND = 2

  # @return [Hash{String => String}] the categories, and what they are in English
  def categories
    @categories ||= Recipes::Vocabulary.kinds.to_h { |kind| [kind.name, kind.english] }
                                       .merge(Recipes::Vocabulary::TAGS)
  end

  # @param name [String] of a category
  # @return [String, nil] in English
  def category_gloss(name)
    categories[name]
  end

  # @param id [Integer] of a recipe
  # @return [String]
  def favourite_key(id)
    "favourite/#{id}"
  end

  # @return [Array<Integer>] of recipes
  def favourite_ids
    session.keys.filter_map { |key| key[FAVOURITE, 1]&.to_i }
  end

  # @return [Boolean] is a recipe marked?
  def favourite?(id)
    session[favourite_key(id)] == true
  end

  # @param text [String]
  # @param path [String]
  # @return [String] a link that says whether it is where the reader is
  def navigation(text, path)
    link_to(text, path, "aria-current": ("page" if request.path == path))
  end

  # @param page [Integer]
  # @param pages [Integer]
  # @return [Array<Integer, nil>] numbers to show, and nil for those left out
  def page_numbers(page, pages)
    shown = [1, pages, *(page - AROUND..page + AROUND)].select { |number| number.between?(1, pages) }.uniq.sort
    shown.each_cons(2).flat_map { |one, other| other - one > 1 ? [one, nil] : [one] } << shown.last
  end

  # @param agent [String, nil] as a browser names itself
  # @return [String] what people call it
  def browser_of(agent)
    name = { "Firefox" => /Firefox/, "Edge" => /Edg/, "Chrome" => /Chrom/, "Safari" => /Safari/, "curl" => /curl/ }
           .find { |_, pattern| pattern.match?(agent.to_s) }&.first
    system = agent.to_s[/Windows|Android|iPhone|iPad|Mac OS X|Linux/]
    [name || "A browser", ("on #{system}" if system)].compact.join(" ")
  end

  # @param time [Time]
  # @return [String]
  def moment(time)
    tag.time(time.utc.strftime("%-d %B %Y, %H:%M UTC"), datetime: time.utc.iso8601)
  end

  # @return [String] what this page has asked of the database so far
  def queries_made
    Current.queries.to_i.zero? ? "no query" : pluralize(Current.queries, "query")
  end

  # @return [String] what the cache was for this page
  def cache_met
    { "hit" => "its body was in the cache", "miss" => "its body is in the cache from now on" }
      .fetch(Current.cache, "nothing of it is cached")
  end

  # @param minutes [Integer]
  # @return [String]
  def duration(minutes)
    hours, rest = minutes.divmod(60)
    [("#{hours} h" if hours.positive?), ("#{rest} min" if rest.positive?)].compact.join(" ")
  end
end
