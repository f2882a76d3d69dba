/// A response that is ready to send.
struct Response: Sendable {
  /// Answers that are tried together; hardly more fit one frame with what belongs to them.
  static let mostAnswers = 64

  var payload: [UInt8]
  /// What it says, answers first.
  var records: [Record]

  /// Responses that hold all `answers`, each within the limit, and each with what its own
  /// answers make the asker want next.
  static func pack(
    _ answers: [Record], additionals: ([Record]) -> [Record] = { _ in [] }
  ) -> [Response] {
    var rest = answers[...]
    var responses: [Response] = []
    while !rest.isEmpty {
      var count = min(rest.count, mostAnswers)
      var response = make(Array(rest.prefix(count)), additionals)
      while response == nil, count > 1 {
        count = max(1, count * 3 / 4)
        response = make(Array(rest.prefix(count)), additionals)
      }
      responses.append(response ?? makeLarge(rest[rest.startIndex], additionals))
      rest = rest.dropFirst(count)
    }
    return responses
  }

  /// The response if all of it fits.
  private static func make(
    _ answers: [Record], _ additionals: ([Record]) -> [Record]
  ) -> Response? {
    var writer = MessageWriter(
      id: 0, flags: Message(isResponse: true).flags, limit: Message.maximumSentLength)
    let additionals = additionals(answers)
    guard answers.allSatisfy({ writer.append($0, to: .answer) }),
      additionals.allSatisfy({ writer.append($0, to: .additional) })
    else { return nil }
    return Response(payload: writer.bytes, records: answers + additionals)
  }

  /// One answer with as many additionals as fit; a single record may be larger than a frame
  /// (RFC 6762 §17).
  private static func makeLarge(
    _ answer: Record, _ additionals: ([Record]) -> [Record]
  ) -> Response {
    let flags = Message(isResponse: true).flags
    var records = [answer]
    var writer = MessageWriter(id: 0, flags: flags, limit: Message.maximumSentLength)
    if !writer.append(answer, to: .answer) {
      writer = MessageWriter(id: 0, flags: flags, limit: Message.maximumLength)
      _ = writer.append(answer, to: .answer)
      return Response(payload: writer.bytes, records: records)
    }
    for additional in additionals([answer]) where writer.append(additional, to: .additional) {
      records.append(additional)
    }
    return Response(payload: writer.bytes, records: records)
  }
}
