import CaromCore

/// What the responder keeps for one link.
struct ResponderLink: Sendable {
  /// Answers that are sent at once, packets, and the time after which one more may be: enough
  /// for a thousand services to answer everybody who asks, and far below what a storm asks for.
  static let burst = 256
  static let responseInterval = Duration.milliseconds(8)
  /// What is left of it for multicasts, however many want an answer of their own.
  static let reserve = burst / 4
  /// The same record is not multicast again earlier (RFC 6762 §6).
  static let repeatInterval = Duration.seconds(1)
  /// Nor, when it is defended against a probe.
  static let defenceInterval = Duration.milliseconds(250)

  var link: Link
  /// What is ours here.
  var owned = OwnedRecords()
  /// Answers that wait, the next first.
  private(set) var batches: [AnswerBatch] = []
  /// Askers whose further known answers are waited for (RFC 6762 §7.2).
  var requests: [Endpoint: AnswerRequest] = [:]
  /// What may still be answered.
  var budget = TokenBucket(
    capacity: ResponderLink.burst, tokens: 1, per: ResponderLink.responseInterval.wholeNanoseconds)
  private var nextBatch: UInt64 = 0

  init(_ link: Link) { self.link = link }

  /// When the next answers leave.
  var nextTimeout: Instant? { batches.first?.due }

  /// Whether the budget allows a unicast answer.
  mutating func mayAnswerOne(at now: Instant) -> Bool {
    budget.available(at: now.nanoseconds) > Self.reserve
  }

  /// How many answers wait.
  var waiting: Int { batches.reduce(0) { $0 + $1.slots.count } }

  /// The link is new, or its addresses are: nothing that waited is wanted, and nobody heard
  /// anything yet.
  mutating func restart(_ link: Link) {
    self.link = link
    batches = []
    requests = [:]
  }
}

// MARK: - Answers that wait

extension ResponderLink {
  /// A moment within `range` for new answers: that of answers that wait already, or `random`,
  /// which those then wait for too if they may (RFC 6762 §6.4).
  mutating func moment(in range: ClosedRange<Instant>, or random: Instant) -> Instant {
    if let due = batches.lazy.map(\.due).first(where: { range.contains($0) }) { return due }
    for index in batches.indices
    where batches[index].due < random && batches[index].latest >= random {
      batches[index].due = random
    }
    batches.sort { $0.due < $1.due }
    return random
  }

  /// The records of `set` are to be said together, at `due` or when each may be said again.
  mutating func schedule(_ set: [Int], at due: Instant, isDefence: Bool) {
    let interval = isDefence ? Self.defenceInterval : Self.repeatInterval
    let allowed = set.compactMap { owned[$0]?.lastSent?.advanced(by: interval) }.max()
    var moment = due
    var latest = due
    if let allowed, allowed > due {
      moment = Self.gridded(allowed)
      latest = isDefence ? moment : moment.advanced(by: AnswerBatch.patience)
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

  private static func gridded(_ moment: Instant) -> Instant {
    let step = AnswerBatch.grid.wholeNanoseconds
    let rest = moment.nanoseconds % step
    return rest == 0 ? moment : moment.advanced(byNanoseconds: step - rest)
  }

  /// The place of a batch that leaves between the two moments.
  private mutating func batch(from low: Instant, to high: Instant, isDefence: Bool) -> Int {
    if let place = batches.firstIndex(where: { $0.due >= low && $0.due <= high }) {
      return place
    }
    let latest = isDefence ? low : low.advanced(by: AnswerBatch.patience)
    let place = batches.firstIndex { $0.due > low } ?? batches.count
    batches.insert(AnswerBatch(id: nextBatch, due: low, latest: latest), at: place)
    nextBatch += 1
    return place
  }

  /// Takes out the records whose moment has come.
  mutating func takeDue(at now: Instant) -> [Int] {
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

/// Answers that wait for the same moment, to leave in as few messages as they fit in.
struct AnswerBatch: Sendable {
  /// Answers are put off so long to leave together with later ones (RFC 6762 §6.4).
  static let patience = Duration.milliseconds(500)
  /// Batches that wait for a second to pass leave at multiples of this, so that there are few.
  static let grid = Duration.milliseconds(10)

  let id: UInt64
  var due: Instant
  /// Up to when it may be put off.
  let latest: Instant
  /// The slots of its records; a slot that moved on names another batch.
  var slots: [Int] = []
}
