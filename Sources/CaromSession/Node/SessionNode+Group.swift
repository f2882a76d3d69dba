import CaromCore
import CaromProtocol
import CaromTransport

// A node that shares its port with others, each on a loop of its own. The system gives each
// stream, and each address that datagrams come from, to one of the sockets: what came to the wrong
// loop goes on to the right one.
extension SessionNode {
  /// Listens on a port that all of `nodes` share and nobody else has; 0 lets the system choose.
  static func listen(
    _ nodes: [SessionNode], on addresses: [IPAddress], port: UInt16
  ) async throws(TransportError) -> UInt16 {
    for attempt in 1... {
      do throws(TransportError) {
        return try await listenOnce(nodes, on: addresses, port: port)
      } catch .addressInUse where port == 0 && attempt < portAttempts {
        continue
      }
    }
    preconditionFailure("the loop above returns or throws")
  }

  private static func listenOnce(
    _ nodes: [SessionNode], on addresses: [IPAddress], port: UInt16
  ) async throws(TransportError) -> UInt16 {
    // Sockets that share a port would join those of any program of the same user's that do.
    let chosen = try await nodes[0].findPort(on: addresses, port: port)
    do throws(TransportError) {
      for node in nodes { try await node.listen(among: nodes, on: addresses, port: chosen) }
    } catch {
      for node in nodes { await node.stopListening() }
      throw error
    }
    return chosen
  }

  /// A port that no socket has.
  private func findPort(
    on addresses: [IPAddress], port: UInt16
  ) throws(TransportError) -> UInt16 {
    defer { stopListening() }
    return try Self.retrying(port) { () throws(TransportError) in
      try listenOnce(on: addresses, port: port)
    }
  }

  private func listen(
    among nodes: [SessionNode], on addresses: [IPAddress], port: UInt16
  ) throws(TransportError) {
    fellows = nodes
    _ = try listenOnce(on: addresses, port: port, shared: true)
  }

  private func stopListening() {
    for listener in listeners { listener.close() }
    listeners = []
    for socket in sockets { socket.close() }
    sockets = []
  }
}

// MARK: - What is another's
extension SessionNode {
  /// Settles what it cannot know by itself, and hands on what is another's.
  func consult() {
    guard let share else { return }
    if lobby.hasDirectoryRequests {
      let now = loop.now
      share.directory.withLock { lobby.resolveRequests(with: &$0, at: now) }
    }
    while let (mail, member) = lobby.pollHandoff() { send(mail, to: member) }
  }

  private func send(_ mail: Handoff, to member: Int) {
    var letter = Mailbox.Letter(mail: mail)
    switch mail {
    case .datagram: datagramsPassedOn += 1
    case .stream(let link, _):
      guard let stream = streams.removeValue(forKey: link) else { return }
      do throws(TransportError) {
        letter.stream = try stream.detach()
        streamsPassedOn += 1
      } catch { return part(with: stream, abruptly: true) }
    case .evict, .evicted: break
    }
    guard fellows.indices.contains(member) else { return }
    fellows[member].deliver(letter)
  }

  private nonisolated func deliver(_ letter: Mailbox.Letter) {
    guard mailbox.append(letter) else { return }
    loop.post { self.assumeIsolated { $0.takeMail() } }
  }

  private func takeMail() {
    let now = loop.now
    for letter in mailbox.take() {
      switch letter.mail {
      case .datagram(let bytes, let way): lobby.receiveRelayed(bytes.span, from: way, at: now)
      case .stream(_, let handed): if let stream = letter.stream { take(handed, stream) }
      case .evict(let link, let other): lobby.evict(link, for: other, at: now)
      case .evicted(let link): lobby.handleEvicted(for: link, at: now)
      }
    }
    drain()
  }

  /// A stream that came to another node; where it cannot be kept it is closed.
  private func take(_ handed: HandedStream, _ detached: DetachedStream) {
    guard !isShutDown, leaving.count < Host.connectionLimit else { return }
    do throws(TransportError) {
      let stream = try TCPStream(on: loop, attaching: detached)
      let link = lobby.makeConnectionID()
      guard lobby.accept(handed, as: link, at: loop.now) else { return stream.reset() }
      adopt(stream, as: link)
    } catch { return }
  }
}

// MARK: - What is counted
extension SessionNode {
  var loopStatistics: LoopStatistics {
    LoopStatistics(
      peers: peers.count, bytesSent: bytesSent, bytesReceived: bytesReceived,
      datagramsPassedOn: datagramsPassedOn, streamsPassedOn: streamsPassedOn)
  }
}
