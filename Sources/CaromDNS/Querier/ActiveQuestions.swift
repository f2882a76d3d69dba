import CaromCore

/// The open inquiries by name, and when each is due.
struct ActiveQuestions: Sendable {
  /// A question that is due on a link.
  struct Due: Sendable {
    var link: UInt32
    var order: UInt64
    var question: Question
  }

  fileprivate struct Timer: Sendable {
    var key: RecordKey
    var link: UInt32
    var at: Instant
  }

  private var rows: [Name: [ActiveQuestion]] = [:]
  private var timers = DeadlineQueue<Timer>()
  private var nextOrder: UInt64 = 0
  /// Timers that were left when stale ones were last dropped.
  private var live = 0
  /// How many inquiries are open.
  private(set) var count = 0

  /// When `takeDue` has something to give, at the earliest.
  var nextTimeout: Instant? { timers.nextDeadline }

  subscript(_ key: RecordKey) -> ActiveQuestion? {
    rows[key.name]?.first { $0.key.type == key.type }
  }

  /// Whether somebody wants records of that key, by its type or by any; a denial concerns all.
  func wants(_ key: RecordKey) -> Bool {
    guard let row = rows[key.name] else { return false }
    return key.type == .nsec || row.contains { $0.key.type == key.type || $0.key.type == .any }
  }

  /// Who wants records of that key.
  func watchers(of key: RecordKey) -> [ActiveQuestion.Watcher] {
    guard let row = rows[key.name] else { return [] }
    if row.count == 1, let only = row.first {
      return only.key.type == key.type || only.key.type == .any ? only.watchers : []
    }
    return row.flatMap { $0.key.type == key.type || $0.key.type == .any ? $0.watchers : [] }
  }

  /// Which types are asked for under a name.
  func types(of name: Name) -> [RecordType] { rows[name]?.map(\.key.type) ?? [] }

  /// Adds a watcher; opens the inquiry with a series on each link where there is none.
  mutating func add(
    _ watcher: ActiveQuestion.Watcher, for key: RecordKey, on links: [Link], start: Instant
  ) {
    if let index = rows[key.name]?.firstIndex(where: { $0.key.type == key.type }) {
      rows[key.name]?[index].watchers.append(watcher)
      return
    }
    var inquiry = ActiveQuestion(key: key, order: nextOrder)
    nextOrder += 1
    count += 1
    inquiry.watchers = [watcher]
    inquiry.series = links.map { QuestionSchedule(link: $0.index, start: start) }
    inquiry.modify({ _ in }, in: &timers)
    rows[key.name, default: []].append(inquiry)
  }

  /// Takes a watcher away, and the inquiry with the last one.
  mutating func remove(_ watcher: ActiveQuestion.Watcher, for key: RecordKey) {
    guard let index = rows[key.name]?.firstIndex(where: { $0.key.type == key.type }),
      let place = rows[key.name]?[index].watchers.firstIndex(of: watcher)
    else { return }
    rows[key.name]?[index].watchers.remove(at: place)
    guard rows[key.name]?[index].watchers.isEmpty == true else { return }
    count -= 1
    rows[key.name]?.remove(at: index)
    if rows[key.name]?.isEmpty == true { rows[key.name] = nil }
  }

  /// Changes an inquiry, if it is open.
  mutating func modify(_ key: RecordKey, _ body: (inout ActiveQuestion) -> Void) {
    guard let index = rows[key.name]?.firstIndex(where: { $0.key.type == key.type }) else {
      return
    }
    rows[key.name]?[index].modify(body, in: &timers)
    prune()
  }

  /// Asks everything on a link that is new or came up again.
  mutating func begin(on link: UInt32, start: Instant) {
    for name in rows.keys {
      for index in rows[name]?.indices ?? 0..<0 {
        rows[name]?[index].modify(
          { inquiry in
            if inquiry.series.contains(where: { $0.link == link }) {
              inquiry.modify(link) { $0.beginAnew(at: start) }
            } else {
              inquiry.series.append(QuestionSchedule(link: link, start: start))
            }
          }, in: &timers)
      }
    }
    prune()
  }

  /// Asks nothing on a link any more.
  mutating func end(on link: UInt32) {
    for name in rows.keys {
      for index in rows[name]?.indices ?? 0..<0 {
        rows[name]?[index].series.removeAll { $0.link == link }
      }
    }
  }

  /// What is due, `limit` at most, in the order of links and of opening; it counts as asked.
  mutating func takeDue(
    at now: Instant, limit: Int, hearsUnicast: (UInt32) -> Bool
  ) -> [Due] {
    var due: [Due] = []
    while due.count < limit, let timer = timers.popFirst(until: now) {
      guard let row = rows[timer.key.name],
        let index = row.firstIndex(where: { $0.key.type == timer.key.type }),
        let series = row[index].series.first(where: {
          $0.link == timer.link && $0.scheduled == timer.at
        }), let next = series.next, next <= now
      else { continue }
      let wantsUnicast = series.isFirst && hearsUnicast(timer.link)
      due.append(
        Due(
          link: timer.link, order: row[index].order,
          question: Question(timer.key.name, timer.key.type, wantsUnicast: wantsUnicast)))
      modify(timer.key) { inquiry in
        inquiry.modify(timer.link) { $0.asked(at: now, wantsUnicast: wantsUnicast) }
      }
    }
    return due.sorted { ($0.link, $0.order) < ($1.link, $1.order) }
  }

  /// Drops stale timers once they may be the most.
  private mutating func prune() {
    guard timers.count > 256, timers.count > 2 * live else { return }
    let rows = rows
    timers.removeAll { timer in
      rows[timer.key.name]?.contains { inquiry in
        inquiry.key.type == timer.key.type
          && inquiry.series.contains { $0.link == timer.link && $0.scheduled == timer.at }
      } != true
    }
    live = timers.count
  }
}

extension ActiveQuestion {
  /// Changes it and sets timers for what is due at other times then.
  fileprivate mutating func modify(
    _ body: (inout ActiveQuestion) -> Void, in timers: inout DeadlineQueue<ActiveQuestions.Timer>
  ) {
    body(&self)
    for index in series.indices where series[index].scheduled != series[index].next {
      series[index].scheduled = series[index].next
      guard let next = series[index].next else { continue }
      timers.insert(ActiveQuestions.Timer(key: key, link: series[index].link, at: next), at: next)
    }
  }
}
