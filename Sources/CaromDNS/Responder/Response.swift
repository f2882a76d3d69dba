/// An encoded DNS response, with the records that it contains.
struct Response: Sendable {
  /// The number of answers to try first when packing a message. More answers rarely fit into a
  /// frame.
  static let initialAnswersPerMessage = 64

  var payload: [UInt8]
  /// The records in the message, answers first.
  var records: [Record]
  /// The number of records that are answers.
  var answerCount: Int

  /// Packs all `answers` into responses of at most `limit` bytes. Each response also carries the
  /// additional records for its own answers.
  static func pack(
    _ answers: [Record], limit: Int, additionals: ([Record]) -> [Record] = { _ in [] }
  ) -> [Response] {
    var rest = answers[...]
    var responses: [Response] = []
    var guess = initialAnswersPerMessage
    while !rest.isEmpty {
      var count = min(rest.count, guess)
      var response = make(Array(rest.prefix(count)), limit, additionals)
      while response == nil, count > 1 {
        count = max(1, count * 7 / 8)
        response = make(Array(rest.prefix(count)), limit, additionals)
      }
      responses.append(response ?? makeLarge(rest[rest.startIndex], limit, additionals))
      rest = rest.dropFirst(count)
      // The remaining records usually have similar sizes, so two attempts for each message suffice.
      guess = count + max(1, count / 8)
    }
    return responses
  }

  /// Returns the response with all records, or nil if they do not fit.
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

  /// Returns the response with one answer and as many additional records as fit. If the answer
  /// alone exceeds `limit`, it is sent by itself in a longer message (RFC 6762 §17). The additional
  /// records of one name and type are included together or not at all (§10.2).
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
