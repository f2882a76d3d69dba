import CaromCore

/// The responder's state on one link.
struct ResponderLink: Sendable {
  /// The number of response packets that may be sent in a burst. A thousand services can answer
  /// every querier within this limit, but a flood of queries cannot cause a flood of responses.
  static let burst = 256
  /// The interval at which the rate limit allows one more response packet after a burst of `burst`
  /// packets.
  static let responseInterval = Duration.milliseconds(8)
  /// The part of `burst` that is reserved for multicasts, in packets.
  static let reserve = burst / 4
  /// The minimum time between two multicasts of the same record (RFC 6762 §6).
  static let repeatInterval = Duration.seconds(1)
  /// The minimum time between two multicasts of a record that is defended against probes (RFC 6762
  /// §6).
  static let defenceInterval = Duration.milliseconds(250)

  var link: Link
  /// The records published on this link.
  var owned = OwnedRecords()
  /// The pending answers, earliest first.
  private(set) var batches: [AnswerBatch] = []
  /// The queries whose further known answers are awaited, by querier (RFC 6762 §7.2).
  var requests: [Endpoint: AnswerRequest] = [:]
  /// The rate limit on responses.
  var budget = TokenBucket(
    capacity: ResponderLink.burst, tokens: 1, per: ResponderLink.responseInterval.wholeNanoseconds)
  private var nextBatch: UInt64 = 0

  init(_ link: Link) { self.link = link }

  /// The time at which the next answers are sent, or nil if none are pending.
  var nextTimeout: Instant? { batches.first?.due }

  /// Returns whether the rate limit allows a unicast answer.
  mutating func canAnswerByUnicast(at now: Instant) -> Bool {
    budget.available(at: now.nanoseconds) > Self.reserve
  }

  /// Restarts on a new or changed link: pending answers and queries are discarded.
  mutating func restart(_ link: Link) {
    self.link = link
    batches = []
    requests = [:]
  }
}

// MARK: - Pending answers

extension ResponderLink {
  /// Returns the time at which to send new answers: the due time of a pending batch within `range`,
  /// otherwise `random`. Pending batches that may wait until `random` are postponed to that time
  /// (RFC 6762 §6.4).
  mutating func sendTime(in range: ClosedRange<Instant>, or random: Instant) -> Instant {
    if let due = batches.lazy.map(\.due).first(where: { range.contains($0) }) { return due }
    for index in batches.indices
    where batches[index].due < random && batches[index].latest >= random {
      batches[index].due = random
    }
    batches.sort { $0.due < $1.due }
    return random
  }

  /// Schedules the records of `set` to be sent together: at `due` or, if one of them may not be
  /// multicast again by then, soon after that is allowed. `isDefence` selects the shorter repeat
  /// interval for records that answer a probe.
  mutating func schedule(_ set: [Int], at due: Instant, isDefence: Bool) {
    let interval = isDefence ? Self.defenceInterval : Self.repeatInterval
    let allowed = set.compactMap { owned[$0]?.lastSent?.advanced(by: interval) }.max()
    var moment = due
    var latest = due
    if let allowed, allowed > due {
      moment = Self.roundedUp(allowed)
      latest = isDefence ? moment : moment.advanced(by: AnswerBatch.maximumDelay)
    }
    let batch = batch(from: moment, to: latest, isDefence: isDefence)
    for slot in set {
      if let current = owned[slot]?.batch,
        let waiting = batches.first(where: { $0.id == current }), waiting.due <= moment
      {
        continue
      }
      owned.setBatch(batches[batch].id, of: slot)
      batches[batch].slots.append(slot)
    }
  }

  /// Replaces published records with others, and returns those that are no longer published. If a
  /// unique record with a pending answer is replaced, the new record is sent instead, without
  /// further delay.
  mutating func replace(
    _ old: [OwnedRecord], by new: [OwnedRecord], announcedAt start: Instant, at now: Instant
  ) -> [OwnedRecord] {
    let asked = Set(old.filter(isPending).map(\.record.key))
    owned.insert(new, announcedAt: start)
    let removed = owned.remove(old)
    for record in new where record.role == .unique && asked.contains(record.record.key) {
      guard !isPending(record), let slot = owned.slot(of: record.record.identity) else { continue }
      schedule([slot], at: now, isDefence: false)
    }
    return removed
  }

  private func isPending(_ record: OwnedRecord) -> Bool {
    owned.slot(of: record.record.identity).flatMap { owned[$0]?.batch } != nil
  }

  private static func roundedUp(_ moment: Instant) -> Instant {
    let step = AnswerBatch.batchGranularity.wholeNanoseconds
    let rest = moment.nanoseconds % step
    return rest == 0 ? moment : moment.advanced(byNanoseconds: step - rest)
  }

  /// Returns the index of a batch that is due between `low` and `high`. Creates the batch if there
  /// is none.
  private mutating func batch(from low: Instant, to high: Instant, isDefence: Bool) -> Int {
    if let index = batches.firstIndex(where: { $0.due >= low && $0.due <= high }) {
      return index
    }
    let latest = isDefence ? low : low.advanced(by: AnswerBatch.maximumDelay)
    let index = batches.firstIndex { $0.due > low } ?? batches.count
    batches.insert(AnswerBatch(id: nextBatch, due: low, latest: latest), at: index)
    nextBatch += 1
    return index
  }

  /// Removes the due records from their batches, and returns the records' slots.
  mutating func popDueRecords(at now: Instant) -> [Int] {
    var due: [Int] = []
    while let batch = batches.first, batch.due <= now {
      batches.removeFirst()
      for slot in batch.slots where owned[slot]?.batch == batch.id {
        owned.setBatch(nil, of: slot)
        due.append(slot)
      }
    }
    return due
  }
}

/// Answers that are sent together, in as few messages as possible.
struct AnswerBatch: Sendable {
  /// How long answers may be delayed so that they are sent together with later ones (RFC 6762
  /// §6.4).
  static let maximumDelay = Duration.milliseconds(500)
  /// A batch that waits until a record may be multicast again is due at a multiple of this
  /// duration, which keeps the number of such batches small.
  static let batchGranularity = Duration.milliseconds(10)

  let id: UInt64
  var due: Instant
  /// The time until which the batch may be delayed.
  let latest: Instant
  /// The slots of the records in the batch. A slot that moved to another batch no longer counts.
  var slots: [Int] = []
}
