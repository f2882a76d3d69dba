import CaromCore

extension Querier {
  /// Tells of an interface or of its new addresses: everything is asked for again there.
  package mutating func setLink(_ link: Link, at now: Instant) {
    if let index = links.firstIndex(where: { $0.index == link.index }) {
      let old = links[index]
      links[index] = link
      guard !old.isSame(as: link) else { return }
      // The cable was out: it may lead elsewhere now.
      if old.epoch != link.epoch {
        cache.doubtAll(on: link.index, for: Self.doubtPatience, at: now)
      }
    } else {
      links.append(link)
      links.sort { $0.index < $1.index }
    }
    inquiries.begin(on: link.index, start: makeStart(at: now))
  }

  /// An interface is gone, and with it what was known from there.
  package mutating func removeLink(_ index: UInt32, at now: Instant) {
    links.removeAll { $0.index == index }
    inquiries.end(on: index)
    for (place, record) in cache.removeAll(on: index) {
      lost(record, at: place, wasEvicted: false, at: now)
    }
    evaluateTouched(at: now)
  }

  /// The same link may be another network by now, such as after a cable came back or a sleep:
  /// everything is asked for again, as on a link that is new, and what is not repeated within
  /// ten seconds goes. `nil` for every link.
  package mutating func restartQuestions(on index: UInt32?, at now: Instant) {
    let start = makeStart(at: now)
    for link in links where index == nil || link.index == index {
      cache.doubtAll(on: link.index, for: Self.doubtPatience, at: now)
      inquiries.begin(on: link.index, start: start)
    }
  }
}
