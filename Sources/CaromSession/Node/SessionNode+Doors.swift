import CaromCore
import CaromProtocol
import CaromTransport

// The doors: accepted streams on which a session's frames or a browser's request may arrive.
extension SessionNode {
  /// Handles a stream that a listener has accepted.
  func open(_ stream: TCPStream) {
    guard kinds.contains(.webSocket) else {
      accept(stream)
      return
    }
    guard !isShutDown, sockets.closing.count < Host.connectionLimit else { return stream.reset() }
    let door = Door(stream)
    if let displaced = sockets.doors.insert(door) { close(displaced) }
    let id = ObjectIdentifier(door)
    watch(door)
    door.timer = LoopTimer(on: loop, owner: self) { node in
      if let door = node.sockets.doors.find(id) { node.handleTimeout(of: door) }
    }
    door.timer?.arm(after: Door.headTime)
  }

  private func watch(_ door: Door) {
    let id = ObjectIdentifier(door)
    door.stream.setHandler(owner: self) { node, event in
      guard let door = node.sockets.doors.find(id) else { return }
      switch event {
      case .bytes(let bytes): if !door.isAnswered { node.read(bytes, at: door) }
      case .writable: if door.isAnswered { node.finish(door) }
      case .end: if !door.isAnswered { node.close(door) }
      case .closed: node.forget(door)
      }
    }
  }

  func closeDoors() { for door in sockets.doors.all { close(door) } }

  private func forget(_ door: Door) {
    door.timer = nil
    sockets.doors.remove(door)
  }

  private func close(_ door: Door) {
    forget(door)
    door.stream.setHandler(nil)
    door.stream.reset()
  }

  private func read(_ bytes: Span<UInt8>, at door: Door) {
    let count = door.head.count
    let room = HTTPRequest.headLimit - count
    door.head.append(copying: bytes.extracting(first: min(room, bytes.count)))
    switch StreamProtocol(door.head) {
    case nil: break
    case .frames:
      guard kinds.contains(.stream), !door.stream.isTLS else { return close(door) }
      var first = Array(door.head.prefix(count))
      first.append(copying: bytes)
      letInWhenPossible(door, .frames(first))
    case .tls:
      guard browsers.encryption != nil, !door.stream.isTLS else { return refuseTLS(at: door) }
      var first = Array(door.head.prefix(count))
      first.append(copying: bytes)
      letInWhenPossible(door, .tls(first))
    case .http: readHead(at: door, from: count, hasMore: bytes.count > room)
    }
  }

  /// Answers the request as soon as its head is complete. `start` is the number of bytes that were
  /// searched before.
  private func readHead(at door: Door, from start: Int, hasMore: Bool) {
    guard UInt8(ascii: "A")...UInt8(ascii: "Z") ~= door.head[0] else {
      return respond(HTTPResponse(.badRequest, "This is no request."), at: door)
    }
    guard let end = door.head.endOfHead(from: start) else {
      guard hasMore || door.head.count == HTTPRequest.headLimit else { return }
      return respond(HTTPResponse(.headTooLarge, "The request is too long."), at: door)
    }
    // Nothing may follow: requests have no body, the stream is closed after one answer, and a
    // client sends no WebSocket frames before the answer (RFC 6455 §4.1).
    guard end == door.head.count, !hasMore else {
      return respond(HTTPResponse(.badRequest, "Send one request at a time."), at: door)
    }
    do throws(HTTPRequest.Failure) {
      let request = try HTTPRequest(head: door.head)
      let policy = DoorPolicy(
        options: browsers, hostName: HostName.current, makeOffer: { self.makeOffer(at: $0) })
      let stream = door.stream
      switch policy.answer(request, at: stream.localEndpoint, isTLS: stream.isTLS) {
      case .respond(let response): respond(response, at: door)
      case .upgrade(let answer, let code):
        letInWhenPossible(door, .webSocket(answer: answer, code: code))
      }
    } catch {
      let response =
        switch error {
        case .malformed: HTTPResponse(.badRequest, "The request is malformed.")
        case .tooManyFields: HTTPResponse(.headTooLarge, "The request has too many fields.")
        }
      respond(response, at: door)
    }
  }

  private func respond(_ response: HTTPResponse, at door: Door) {
    answer(response.encoded, at: door)
  }

  private func refuseTLS(at door: Door) { answer(StreamProtocol.tlsRefusal, at: door) }

  /// Sends an answer, after which the door is closed.
  private func answer(_ bytes: [UInt8], at door: Door) {
    door.isAnswered = true
    // With this limit, the event `writable` means that everything was sent.
    door.stream.queueLimit = 1
    do throws(TransportError) {
      try door.stream.write(bytes)
    } catch { return close(door) }
    if door.stream.queuedBytes == 0 { return finish(door) }
    door.timer?.arm(after: Door.answerTime)
  }

  /// Closes a door whose answer has been sent.
  private func finish(_ door: Door) {
    forget(door)
    dispose(of: door.stream, abruptly: false)
  }

  /// Lets a door in, now or as soon as the host has the budget for another handshake.
  private func letInWhenPossible(_ door: Door, _ entry: Door.Entry) {
    door.waiting = entry
    guard let time = lobby.host.findStreamPause(at: loop.now) else { return letIn(door) }
    // The peer is not to blame for the wait, which takes seconds at most: the budget serves
    // hundreds of streams a second.
    door.timer?.cancel()
    door.stream.pauseReading()
    pauseAccepting(until: time)
  }

  /// Turns a waiting door into a connection, or begins TLS on its stream.
  func letIn(_ door: Door) {
    guard let entry = door.waiting else { return }
    if case .tls(let bytes) = entry { return beginTLS(at: door, bytes) }
    forget(door)
    switch entry {
    case .tls: break
    case .frames(let bytes):
      guard let connection = accept(door.stream) else { return }
      door.stream.resumeReading()
      receive(bytes.span, on: connection)
    case .webSocket(let answer, let code):
      do throws(TransportError) {
        try door.stream.write(answer)
        try door.stream.becomeWebSocket()
      } catch { return door.stream.reset() }
      let isSealed = door.stream.isTLS
      if accept(door.stream, isSealed: isSealed, code: code) != nil { door.stream.resumeReading() }
    }
  }

  /// Begins TLS on the stream of a door. A request is read from it as from any other.
  private func beginTLS(at door: Door, _ first: [UInt8]) {
    guard let encryption = browsers.encryption else { return }
    (door.waiting, door.head) = (nil, [])
    lobby.host.takeTLSHandshake(at: loop.now)
    do throws(TransportError) {
      try door.stream.becomeTLS(encryption.certificate)
    } catch { return close(door) }
    watch(door)
    // A door that had to wait for the budget has all of its time.
    if door.timer?.deadline == nil { door.timer?.arm(after: Door.headTime) }
    door.stream.resumeReading()
    door.stream.receiveTLS(first.span)
  }

  private func handleTimeout(of door: Door) {
    guard !door.isAnswered, StreamProtocol(door.head) == .http else { return close(door) }
    respond(HTTPResponse(.requestTimeout, "The request took too long."), at: door)
  }
}

extension [UInt8] {
  /// Returns the index after the first empty line, or nil if there is none. The bytes before
  /// `start` were searched before.
  fileprivate func endOfHead(from start: Int) -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    guard count >= mark.count else { return nil }
    let first = Swift.max(0, start - mark.count + 1)
    return (first...count - mark.count).first { self[$0..<$0 + mark.count].elementsEqual(mark) }
      .map { $0 + mark.count }
  }
}
