import CaromCore
import CaromProtocol
import CaromTransport

// MARK: - Sending requests
extension SessionHub {
  /// Sends a request to a peer and returns the response.
  func request<Request, Response>(
    _ request: Request, over exchange: Exchange<Request, Response>, of connection: ConnectionID,
    within limit: Duration
  ) async throws(RequestError) -> Response {
    _ = inboxes.queue(for: exchange)  // responses are read by the same reader as requests
    let body: [UInt8]
    do throws(SendError) {
      body = try exchange.encoded(request)
    } catch { throw .notSent(error) }
    let deadline = loop.now + limit
    guard let number = requests.add(to: connection, until: deadline) else { throw .busy }
    let message = ExchangeMessage(.request, number, body)
    let options = exchange.channel.options(lifetime: limit, at: loop.now)
    do throws(SendError) {
      _ = try await node.send(message.encoded, on: exchange.id, options, to: connection)
    } catch {
      requests.entries[number] = nil
      throw error == .expired ? .timedOut : error == .cancelled ? .cancelled : .notSent(error)
    }
    let answer = try await outcome(of: number).get()
    guard let response = try? exchange.responses.decode(answer.span) else {
      throw .malformedResponse
    }
    return response
  }

  private func outcome(of number: UInt32) async -> RequestTable.Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if case .resolved(let outcome) = requests.entries[number]?.state {
          requests.entries[number] = nil
          return continuation.resume(returning: outcome)
        }
        requests.entries[number]?.state = .awaited(continuation)
        if Task.isCancelled { requests.resolve(number, .failure(.cancelled)) }
        rearm()
      }
    } onCancel: {
      loop.post { self.assumeIsolated { $0.requests.resolve(number, .failure(.cancelled)) } }
    }
  }

  func failRequests(_ error: RequestError, where isAffected: (ConnectionID) -> Bool) {
    for number in requests.numbers(where: { isAffected($0.connection) }) {
      requests.resolve(number, .failure(error))
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
      requests.resolve(number, .failure(.timedOut))
    }
    rearm()
  }
}

// MARK: - Receiving requests and responses
extension SessionHub {
  /// Starts reading the messages of an exchange. Requests are added to `queue`; responses resolve
  /// the requests that this side sent.
  func open<Request, Response>(
    _ queue: RequestQueue<Request>, _ exchange: Exchange<Request, Response>
  ) {
    var reader = Reader { [weak self] peer, bytes in
      guard let self, let message = try? ExchangeMessage(decoding: bytes) else {
        return .malformed
      }
      return assumeIsolated { $0.receive(message, from: peer, into: queue, exchange) }
    }
    reader.finish = { queue.inbox.finish() }
    setReader(reader, of: exchange.id)
  }

  private func receive<Request, Response>(
    _ message: ExchangeMessage, from peer: Peer, into queue: RequestQueue<Request>,
    _ exchange: Exchange<Request, Response>
  ) -> Verdict {
    switch message.kind {
    case .request:
      guard let request = try? exchange.requests.decode(message.body.span) else {
        return .malformed
      }
      let entry = RequestQueue<Request>.Entry(
        peer: peer, number: message.number, request: request)
      if !queue.append(entry) {
        // If too many messages to the peer wait already, its request times out.
        _ = node.post(
          ExchangeMessage(.busy, message.number), on: exchange.channel, to: peer.connectionID)
      }
    case .response: resolve(message.number, from: peer, .success(message.body))
    case .failed: resolve(message.number, from: peer, .failure(.failed))
    case .busy: resolve(message.number, from: peer, .failure(.busy))
    }
    return .accepted
  }

  /// Resolves a request if the outcome comes from the peer to which the request was sent.
  private func resolve(_ number: UInt32, from peer: Peer, _ outcome: RequestTable.Outcome) {
    guard requests.entries[number]?.connection == peer.connectionID else { return }
    requests.resolve(number, outcome)
  }
}
