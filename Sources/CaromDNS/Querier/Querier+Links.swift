import CaromCore

extension Querier {
  /// Adds a link or updates it. If its addresses or its carrier state changed, all questions are
  /// restarted on the link.
  package mutating func setLink(_ link: Link, at now: Instant) {
    if let index = links.firstIndex(where: { $0.index == link.index }) {
      let old = links[index]
      links[index] = link
      guard !old.isSame(as: link) else { return }
      // The link was disconnected and may now lead to another network.
      if old.epoch != link.epoch {
        cache.reconfirmAll(on: link.index, for: Self.reconfirmationTimeout, at: now)
      }
    } else {
      links.append(link)
      links.sort { $0.index < $1.index }
    }
    activeQuestions.begin(on: link.index, start: makeStart(at: now))
  }

  /// Removes a link and all records received on it.
  package mutating func removeLink(_ index: UInt32, at now: Instant) {
    links.removeAll { $0.index == index }
    activeQuestions.end(on: index)
    for (setKey, record) in cache.removeAll(on: index) {
      handleLost(record, at: setKey, wasEvicted: false, at: now)
    }
    evaluatePending(at: now)
  }

  /// Restarts all questions on a link, or on every link if `index` is nil, and removes the records
  /// that are not received again within ten seconds. The link may lead to another network after a
  /// sleep or a cable change.
  package mutating func restartQuestions(on index: UInt32?, at now: Instant) {
    let start = makeStart(at: now)
    for link in links where index == nil || link.index == index {
      cache.reconfirmAll(on: link.index, for: Self.reconfirmationTimeout, at: now)
      activeQuestions.begin(on: link.index, start: start)
    }
  }
}
