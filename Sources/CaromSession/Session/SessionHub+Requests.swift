import CaromCore
import CaromProtocol
import CaromTransport

// Questions, answers, and who has not answered in time.
extension SessionHub {
  /// Asks a peer, and returns its answer.
  func request<Question, Answer>(
    _ question: Question, over exchange: Exchange<Question, Answer>, of link: ConnectionID,
    within limit: Duration
  ) async throws(RequestError) -> Answer {
    _ = shelf.desk(for: exchange)
    let deadline = loop.now + limit
    guard let number = requests.open(to: link, until: deadline) else { throw .busy }
    let message = ExchangeMessage(.question, number, question.encoded)
    let options = exchange.channel.options(lifetime: limit, at: loop.now)
    do throws(SendError) {
      _ = try await node.send(message.encoded, on: exchange.id, options, to: link)
    } catch {
      requests.entries[number] = nil
      throw error == .expired ? .timedOut : error == .cancelled ? .cancelled : .notSent(error)
    }
    let answer = try await outcome(of: number).get()
    guard let answer = try? Answer(decoding: answer.span) else { throw .malformedAnswer }
    return answer
  }

  private func outcome(of number: UInt32) async -> RequestTable.Outcome {
    if case .told(let outcome) = requests.entries[number]?.state {
      requests.entries[number] = nil
      return outcome
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        requests.entries[number]?.state = .awaited(continuation)
        rearm()
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.requests.settle(number, .failure(.cancelled)) } }
    }
  }

  func failRequests(_ error: RequestError, where isWanted: (ConnectionID) -> Bool) {
    for number in requests.numbers(where: { isWanted($0.link) }) {
      requests.settle(number, .failure(error))
    }
  }

  private func rearm() {
    guard let next = requests.nextTimeout else {
      timer?.cancel()
      return
    }
    if timer == nil {
      timer = LoopTimer(on: loop, owner: self) { hub in hub.handleTimeout(at: hub.loop.now) }
    }
    if timer?.deadline != next { timer?.arm(at: next) }
  }

  private func handleTimeout(at now: Instant) {
    for number in requests.numbers(where: { $0.deadline <= now }) {
      requests.settle(number, .failure(.timedOut))
    }
    rearm()
  }
}

// MARK: - Answering
extension SessionHub {
  /// Takes what is said over an exchange from now on.
  func open<Question, Answer>(
    _ desk: RequestQueue<Question>, _ exchange: Exchange<Question, Answer>
  ) {
    read(exchange.id) { [weak self] peer, bytes in
      guard let self, let message = try? ExchangeMessage(decoding: bytes) else {
        return .malformed
      }
      return assumeIsolated { $0.take(message, of: peer, at: desk, exchange) }
    }
  }

  private func take<Question, Answer>(
    _ message: ExchangeMessage, of peer: Peer, at desk: RequestQueue<Question>,
    _ exchange: Exchange<Question, Answer>
  ) -> Verdict {
    switch message.kind {
    case .question:
      guard let question = try? Question(decoding: message.body.span) else { return .malformed }
      let asked = RequestQueue<Question>.Asked(
        peer: peer, number: message.number, question: question)
      if !desk.take(asked) {
        node.post(
          ExchangeMessage(.busy, message.number), on: exchange.channel, to: peer.link)
      }
    case .answer: settle(message.number, of: peer, .success(message.body))
    case .failed: settle(message.number, of: peer, .failure(.failed))
    case .busy: settle(message.number, of: peer, .failure(.busy))
    }
    return .taken
  }

  /// Only who was asked can answer.
  private func settle(_ number: UInt32, of peer: Peer, _ outcome: RequestTable.Outcome) {
    guard requests.entries[number]?.link == peer.link else { return }
    requests.settle(number, outcome)
  }
}
