import CaromCore

/// All questions that are being asked, by name, and the timers for their next queries.
struct ActiveQuestions: Sendable {
  /// A question whose next query is due on a link.
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

  private var questionsByName: [Name: [ActiveQuestion]] = [:]
  private var timers = DeadlineQueue<Timer>()
  private var nextOrder: UInt64 = 0
  /// The number of timers that remained when stale timers were last removed.
  private var live = 0
  /// The number of active questions.
  private(set) var count = 0

  /// The earliest time at which `popDue` may return a question, or nil if no timer is armed.
  var nextTimeout: Instant? { timers.nextDeadline }

  subscript(_ key: RecordKey) -> ActiveQuestion? {
    questionsByName[key.name]?.first { $0.key.type == key.type }
  }

  /// Returns whether a question about the key's name asks for the key's type or for the type `any`.
  /// NSEC records are relevant to all questions about their name.
  func isWanted(_ key: RecordKey) -> Bool {
    guard let questions = questionsByName[key.name] else { return false }
    return key.type == .nsec
      || questions.contains { $0.key.type == key.type || $0.key.type == .any }
  }

  /// Returns the observers of all questions that are answered by records of the key.
  func observers(of key: RecordKey) -> [ActiveQuestion.Observer] {
    guard let questions = questionsByName[key.name] else { return [] }
    if questions.count == 1, let only = questions.first {
      return only.key.type == key.type || only.key.type == .any ? only.observers : []
    }
    return questions.flatMap { $0.key.type == key.type || $0.key.type == .any ? $0.observers : [] }
  }

  /// Returns the record types of the active questions about a name.
  func types(of name: Name) -> [RecordType] { questionsByName[name]?.map(\.key.type) ?? [] }

  /// Adds an observer. If the question is not active yet, starts it on each of `links`.
  mutating func add(
    _ observer: ActiveQuestion.Observer, for key: RecordKey, on links: [Link], start: Instant
  ) {
    if let index = questionsByName[key.name]?.firstIndex(where: { $0.key.type == key.type }) {
      questionsByName[key.name]?[index].observers.append(observer)
      return
    }
    var question = ActiveQuestion(key: key, order: nextOrder)
    nextOrder += 1
    count += 1
    question.observers = [observer]
    question.schedules = links.map { QuestionSchedule(link: $0.index, start: start) }
    question.modify({ _ in }, in: &timers)
    questionsByName[key.name, default: []].append(question)
  }

  /// Removes an observer of a question, and the question if it has no other observers.
  mutating func remove(_ observer: ActiveQuestion.Observer, for key: RecordKey) {
    guard let index = questionsByName[key.name]?.firstIndex(where: { $0.key.type == key.type }),
      let position = questionsByName[key.name]?[index].observers.firstIndex(of: observer)
    else { return }
    questionsByName[key.name]?[index].observers.remove(at: position)
    guard questionsByName[key.name]?[index].observers.isEmpty == true else { return }
    count -= 1
    questionsByName[key.name]?.remove(at: index)
    if questionsByName[key.name]?.isEmpty == true { questionsByName[key.name] = nil }
  }

  /// Applies `body` to a question if it is active.
  mutating func modify(_ key: RecordKey, _ body: (inout ActiveQuestion) -> Void) {
    guard let index = questionsByName[key.name]?.firstIndex(where: { $0.key.type == key.type })
    else {
      return
    }
    questionsByName[key.name]?[index].modify(body, in: &timers)
    prune()
  }

  /// Starts or restarts every question on a link.
  mutating func begin(on link: UInt32, start: Instant) {
    for name in questionsByName.keys {
      for index in questionsByName[name]?.indices ?? 0..<0 {
        questionsByName[name]?[index].modify(
          { question in
            if question.schedules.contains(where: { $0.link == link }) {
              question.modify(link) { $0.reset(at: start) }
            } else {
              question.schedules.append(QuestionSchedule(link: link, start: start))
            }
          }, in: &timers)
      }
    }
    prune()
  }

  /// Stops every question on a link.
  mutating func end(on link: UInt32) {
    for name in questionsByName.keys {
      for index in questionsByName[name]?.indices ?? 0..<0 {
        questionsByName[name]?[index].schedules.removeAll { $0.link == link }
      }
    }
  }

  /// Returns at most `limit` of the questions that are due, ordered by link and then by serial
  /// number, and schedules their next queries.
  mutating func popDue(
    at now: Instant, limit: Int, receivesUnicast: (UInt32) -> Bool
  ) -> [Due] {
    var due: [Due] = []
    while due.count < limit, let timer = timers.popFirst(until: now) {
      guard let questions = questionsByName[timer.key.name],
        let index = questions.firstIndex(where: { $0.key.type == timer.key.type }),
        let schedule = questions[index].schedules.first(where: {
          $0.link == timer.link && $0.scheduled == timer.at
        }), let next = schedule.next, next <= now
      else { continue }
      let wantsUnicast = schedule.isFirst && receivesUnicast(timer.link)
      due.append(
        Due(
          link: timer.link, order: questions[index].order,
          question: Question(timer.key.name, timer.key.type, wantsUnicast: wantsUnicast)))
      modify(timer.key) { question in
        question.modify(timer.link) { $0.markAsked(at: now, wantsUnicast: wantsUnicast) }
      }
    }
    return due.sorted { ($0.link, $0.order) < ($1.link, $1.order) }
  }

  /// Removes stale timers once they may be the majority.
  private mutating func prune() {
    guard timers.count > 256, timers.count > 2 * live else { return }
    let questionsByName = questionsByName
    timers.removeAll { timer in
      questionsByName[timer.key.name]?.contains { question in
        question.key.type == timer.key.type
          && question.schedules.contains { $0.link == timer.link && $0.scheduled == timer.at }
      } != true
    }
    live = timers.count
  }
}

extension ActiveQuestion {
  /// Applies `body`, then arms a timer for each schedule whose next query time changed.
  fileprivate mutating func modify(
    _ body: (inout ActiveQuestion) -> Void, in timers: inout DeadlineQueue<ActiveQuestions.Timer>
  ) {
    body(&self)
    for index in schedules.indices where schedules[index].scheduled != schedules[index].next {
      schedules[index].scheduled = schedules[index].next
      guard let next = schedules[index].next else { continue }
      timers.insert(
        ActiveQuestions.Timer(key: key, link: schedules[index].link, at: next), at: next)
    }
  }
}
