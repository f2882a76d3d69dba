import CaromCore
import Testing

@testable import CaromDNS

/// The questions that a querier asks, by name and type, and when each is due on which link.
@Suite struct ActiveQuestionsTests {
  private let name: Name = "host.local"
  private let links = [2, 3].map { Link(index: $0, addresses: []) }
  private let first = ActiveQuestion.Observer.query(QueryID(number: 1))
  private let second = ActiveQuestion.Observer.query(QueryID(number: 2))

  private func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  private func key(_ type: RecordType) -> RecordKey { RecordKey(name, type) }

  private func add(
    _ observer: ActiveQuestion.Observer, _ type: RecordType, to questions: inout ActiveQuestions,
    at milliseconds: Int64 = 0
  ) {
    questions.add(observer, for: key(type), on: links, start: time(milliseconds))
  }

  private func due(
    _ questions: inout ActiveQuestions, at milliseconds: Int64, limit: Int = 100
  ) -> [String] {
    questions.popDue(at: time(milliseconds), limit: limit) { $0 == 3 }.map {
      "\($0.link) \($0.question.key.type)\($0.question.wantsUnicast ? " QU" : "")"
    }
  }

  @Test func `a record concerns the questions for its type and for any type`() {
    var questions = ActiveQuestions()
    #expect(!questions.isWanted(key(.a)) && questions.observers(of: key(.a)) == [])
    add(first, .a, to: &questions)
    let ofOne = [RecordType.a, .aaaa, .nsec].map { questions.isWanted(key($0)) }
    #expect(ofOne == [true, false, true])
    #expect(questions.observers(of: key(.a)) == [first])
    #expect(questions.observers(of: key(.aaaa)) == [])
    add(second, .any, to: &questions)
    #expect(questions.observers(of: key(.a)) == [first, second])
    #expect(questions.observers(of: key(.aaaa)) == [second])
    #expect(questions.isWanted(key(.txt)) && questions.types(of: name) == [.a, .any])
    #expect(!questions.isWanted(RecordKey("other.local", .a)) && questions.count == 2)
    questions.remove(first, for: key(.a))
    #expect(questions.observers(of: key(.a)) == [second] && questions.count == 1)
  }

  @Test func `a question has one schedule, and ends with its last observer`() {
    var questions = ActiveQuestions()
    add(first, .a, to: &questions, at: 50)
    add(second, .a, to: &questions, at: 10)
    #expect(questions.count == 1 && questions.nextTimeout == time(50))
    questions.remove(second, for: key(.aaaa))
    questions.remove(second, for: key(.a))
    questions.remove(second, for: key(.a))
    #expect(questions[key(.a)]?.observers == [first])
    questions.remove(first, for: key(.a))
    #expect(questions[key(.a)] == nil && questions.count == 0 && questions.types(of: name) == [])
    #expect(due(&questions, at: 1_000) == [])
  }

  @Test func `due questions are ordered by link, then by age, and the first may ask for unicast`() {
    var questions = ActiveQuestions()
    add(first, .txt, to: &questions, at: 30)
    add(first, .a, to: &questions, at: 20)
    #expect(due(&questions, at: 19) == [])
    #expect(due(&questions, at: 20) == ["2 \(RecordType.a)", "3 \(RecordType.a) QU"])
    #expect(due(&questions, at: 30) == ["2 \(RecordType.txt)", "3 \(RecordType.txt) QU"])
    let both = [2, 3].flatMap { link in
      [RecordType.txt, .a].map { "\(link) \($0)" }
    }
    #expect(due(&questions, at: 1_029) == both.filter { $0.hasSuffix("\(RecordType.a)") })
    #expect(due(&questions, at: 5_000) == both)
    #expect(questions.nextTimeout == time(7_000))
  }

  @Test func `at most the given number of questions is returned, and the others later`() {
    var questions = ActiveQuestions()
    for type in [RecordType.a, .aaaa, .txt] { add(first, type, to: &questions) }
    #expect(due(&questions, at: 0, limit: 4).count == 4)
    #expect(questions.nextTimeout == .zero)
    #expect(due(&questions, at: 0, limit: 4).count == 2)
    #expect(questions.nextTimeout == time(1_000))
  }

  @Test func `a link that ends asks nothing more, and one that begins asks everything`() {
    var questions = ActiveQuestions()
    add(first, .a, to: &questions)
    questions.end(on: 2)
    #expect(due(&questions, at: 0) == ["3 \(RecordType.a) QU"])
    questions.begin(on: 2, start: time(100))
    questions.begin(on: 3, start: time(200))
    #expect(due(&questions, at: 199) == ["2 \(RecordType.a)"])
    // The questions of a link that is new again are first ones.
    #expect(due(&questions, at: 200) == ["3 \(RecordType.a) QU"])
    #expect(questions[key(.a)]?.schedules.map(\.link) == [3, 2])
  }

  @Test func `R5: an answer on one link suspends the links that have been asked`() {
    var questions = ActiveQuestions()
    add(first, .a, to: &questions)
    _ = due(&questions, at: 0)
    questions.begin(on: 3, start: time(500))
    questions.modify(key(.a)) { $0.answered(on: 2) }
    #expect(questions[key(.a)]?.schedules.map(\.next) == [nil, time(500)])
    questions.modify(key(.a)) { $0.answered(on: 3) }
    #expect(questions[key(.a)]?.schedules.map(\.next) == [nil, nil])
    #expect(due(&questions, at: 9_000) == [])
  }

  @Test func `R21: a denial suspends the question on its link alone`() {
    var questions = ActiveQuestions()
    add(first, .a, to: &questions)
    _ = due(&questions, at: 0)
    questions.modify(key(.a)) { $0.denied(on: 3) }
    #expect(questions[key(.a)]?.schedules.map(\.next) == [time(1_000), nil])
    questions.modify(key(.aaaa)) { $0.denied(on: 2) }
    #expect(due(&questions, at: 1_000) == ["2 \(RecordType.a)"])
  }

  @Test func `a question that has ended is not asked, however often it was asked before`() {
    var questions = ActiveQuestions()
    for round in 0..<5_000 as Range<Int64> {
      add(first, .a, to: &questions, at: round)
      questions.modify(key(.a)) { $0.modify(nil) { $0.restart(at: .zero + .seconds(round)) } }
      questions.remove(first, for: key(.a))
    }
    add(first, .a, to: &questions, at: 10_000_000)
    #expect(due(&questions, at: 9_999_999) == [] && questions.nextTimeout == time(10_000_000))
  }
}
