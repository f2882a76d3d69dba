import CaromCore

extension RecordCache {
  /// Parts of the time to live, in thousandths, at which a wanted record is asked for again
  /// (RFC 6762 §5.2).
  static let refreshPoints: [Int64] = [800, 850, 900, 950]
  /// A record younger than that is not refreshed, so that tiny times to live cause no polling.
  static let refreshFloor = Duration.seconds(15)
  /// Two questions that stay unanswered for that long say that a record is gone (RFC 6762
  /// §10.5).
  static let silenceLimit = Duration.seconds(10)
  /// So much time the last of them has for its answer.
  static let answerTime = Duration.seconds(2)

  /// The next moment at which `handleTimeout` has something to do.
  package var nextTimeout: Instant? { timers.nextDeadline }

  /// The next thing that is due; call until `nil`. `isWanted` says what is worth a refresh.
  package mutating func handleTimeout(
    at now: Instant, isWanted: (RecordKey) -> Bool
  ) -> Event? {
    while let timer = timers.popFirst(until: now) {
      guard let slot = slots[timer.id], slot.entry.serial == timer.serial else { continue }
      if slot.entry.expires <= now {
        _ = remove(timer.id)
        return .expired(slot.place, slot.entry.record)
      }
      slots[timer.id]?.entry.refreshes += 1
      schedule(timer.id)
      let age = slot.entry.received.duration(to: now)
      if age >= Self.refreshFloor, isWanted(slot.place.key) { return .refresh(slot.place) }
    }
    return nil
  }

  /// Forgets an interface; gives what it had brought, oldest first.
  package mutating func removeAll(on interface: UInt32) -> [(Place, Record)] {
    ids(on: interface).compactMap { remove($0) }.map { ($0.place, $0.entry.record) }
  }

  /// The doubted records at `place` go after `rest` unless somebody says them again
  /// (RFC 6762 §10.4).
  package mutating func doubt(
    _ place: Place, for rest: Duration, at now: Instant, _ isDoubted: (Record) -> Bool
  ) {
    for id in ids(at: place) {
      guard let record = slots[id]?.entry.record, isDoubted(record) else { continue }
      shorten(id, to: rest, at: now)
    }
  }

  /// The same for all records of an interface.
  mutating func doubtAll(on interface: UInt32, for rest: Duration, at now: Instant) {
    for id in ids(on: interface) { shorten(id, to: rest, at: now) }
  }

  /// Another host asked for the records at `place` and knows those in `known`: where the second
  /// such question within ten seconds stays unanswered, they go (RFC 6762 §10.5).
  package mutating func overhear(
    _ place: Place, known: Set<Record.Identity>, at now: Instant
  ) {
    for id in ids(at: place) {
      guard let entry = slots[id]?.entry, !entry.isLeaving, !known.contains(entry.record.identity),
        // Nobody repeats at once what was just said to all.
        now - entry.received >= Self.grace
      else { continue }
      guard let silence = entry.silence, now - silence.since <= Self.silenceLimit else {
        slots[id]?.entry.silence = (now, false)
        continue
      }
      guard !silence.isRepeated else { continue }
      slots[id]?.entry.silence?.isRepeated = true
      let end = max(silence.since + Self.silenceLimit, now + Self.answerTime)
      shorten(id, to: now.duration(to: end), at: now, leaves: false)
    }
  }

  private func ids(at place: Place) -> [Int] {
    var list: [Int] = []
    var id = rows[place]?.first
    while let next = id {
      list.append(next)
      id = slots[next]?.next
    }
    return list
  }

  /// A record ends after `rest` at the latest, and is not asked for until then.
  mutating func shorten(
    _ id: Int, to rest: Duration, at now: Instant, leaves: Bool = true
  ) {
    guard var entry = slots[id]?.entry else { return }
    entry.expires = min(entry.expires, now.advanced(by: rest))
    entry.isLeaving = entry.isLeaving || leaves
    entry.refreshes = UInt8(Self.refreshPoints.count)
    entry.serial = makeSerial()
    slots[id]?.entry = entry
    schedule(id)
  }

  mutating func schedule(_ id: Int) {
    guard let entry = slots[id]?.entry else { return }
    if timers.count > 256, timers.count > 2 * count {
      let slots = slots
      timers.removeAll { slots[$0.id]?.entry.serial != $0.serial }
    }
    timers.insert(Timer(id: id, serial: entry.serial), at: Self.deadline(of: entry))
  }

  /// When a record is refreshed or ends. Refreshes are put off to a multiple of a hundredth of
  /// the time to live, so that records that were heard together are asked for together.
  private static func deadline(of entry: Entry) -> Instant {
    guard entry.refreshes < refreshPoints.count else { return entry.expires }
    let life = entry.received.duration(to: entry.expires)
    let due = entry.received.advanced(
      by: life / 1000 * (refreshPoints[Int(entry.refreshes)] + Int64(entry.jitter)))
    let step = max(1, (life / 100).wholeNanoseconds)
    let late = due.nanoseconds % step
    return late <= 0 ? due : due.advanced(byNanoseconds: step - late)
  }
}
