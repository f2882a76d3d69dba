/// A response that is ready to send.
struct Response: Sendable {
  /// Answers that are tried together at first; hardly more fit one frame.
  static let mostAnswers = 64

  var payload: [UInt8]
  /// What it says, answers first.
  var records: [Record]
  /// How many of them are answers.
  var answerCount: Int

  /// Responses that hold all `answers`, each within the limit, and each with what its own
  /// answers make the asker want next.
  static func pack(
    _ answers: [Record], limit: Int, additionals: ([Record]) -> [Record] = { _ in [] }
  ) -> [Response] {
    var rest = answers[...]
    var responses: [Response] = []
    var guess = mostAnswers
    while !rest.isEmpty {
      var count = min(rest.count, guess)
      var response = make(Array(rest.prefix(count)), limit, additionals)
      while response == nil, count > 1 {
        count = max(1, count * 7 / 8)
        response = make(Array(rest.prefix(count)), limit, additionals)
      }
      responses.append(response ?? makeLarge(rest[rest.startIndex], limit, additionals))
      rest = rest.dropFirst(count)
      // What follows is mostly alike, so that two tries a message suffice.
      guess = count + max(1, count / 8)
    }
    return responses
  }

  /// The response if all of it fits.
  private static func make(
    _ answers: [Record], _ limit: Int, _ additionals: ([Record]) -> [Record]
  ) -> Response? {
    var writer = MessageWriter(id: 0, flags: Message(isResponse: true).flags, limit: limit)
    guard answers.allSatisfy({ writer.append($0, to: .answer) }) else { return nil }
    let additionals = additionals(answers)
    guard additionals.allSatisfy({ writer.append($0, to: .additional) }) else { return nil }
    return Response(
      payload: writer.bytes, records: answers + additionals, answerCount: answers.count)
  }

  /// One answer with as many additionals as fit; a single record may be larger than a frame
  /// (RFC 6762 §17). Additionals of a name and type come whole or not at all (§10.2).
  private static func makeLarge(
    _ answer: Record, _ limit: Int, _ additionals: ([Record]) -> [Record]
  ) -> Response {
    let flags = Message(isResponse: true).flags
    var records = [answer]
    var writer = MessageWriter(id: 0, flags: flags, limit: limit)
    if !writer.append(answer, to: .answer) {
      writer = MessageWriter(id: 0, flags: flags, limit: Message.maximumPayload)
      _ = writer.append(answer, to: .answer)
      return Response(payload: writer.bytes, records: records, answerCount: 1)
    }
    let all = additionals([answer])
    var rest = all[...]
    while let first = rest.first {
      let set = rest.prefix { $0.name == first.name && $0.type == first.type }
      if writer.append(set, to: .additional) { records += set }
      rest = rest.dropFirst(set.count)
    }
    return Response(payload: writer.bytes, records: records, answerCount: 1)
  }
}
