import CaromCore
import CaromDNS
import CaromTransport

/// A name server on loopback, over UDP and TCP. UDP answers of more than 512 bytes are truncated.
actor UnicastNameServer: LoopActor {
  /// A received query.
  struct ReceivedQuery: Sendable {
    var source: Endpoint
    var id: UInt16
    var key: RecordKey
    var isStream: Bool
  }

  nonisolated let loop: NetworkLoop
  private var zone: [Record]
  private var silentTypes: Set<RecordType> = []
  private var queriedTypes: Set<RecordType> = []
  private var waiters: [(types: Set<RecordType>, continuation: CheckedContinuation<Void, Never>)] =
    []
  private var socket: UDPSocket?
  private var listener: TCPListener?
  private var streams: [TCPStream] = []
  private(set) var queries: [ReceivedQuery] = []

  init(on loop: NetworkLoop, zone: [Record]) {
    self.loop = loop
    self.zone = zone
  }

  /// Starts to listen and returns the server's endpoint.
  func open() throws -> Endpoint {
    while true {
      let listener = try TCPListener(on: loop, owner: self, bind: Endpoint(.loopback4, port: 0)) {
        server, event in
        if case .accepted(let stream) = event { server.accept(stream) }
      }
      let endpoint = listener.localEndpoint
      // The same UDP port may be in use.
      guard
        let socket = try? UDPSocket(
          on: loop, owner: self, bind: endpoint, { server, batch in server.receive(batch) })
      else { continue }
      (self.listener, self.socket) = (listener, socket)
      return endpoint
    }
  }

  /// Answers with other records from now on.
  func replaceZone(with zone: [Record]) { self.zone = zone }

  /// Stops answering queries for records of the given types.
  func stopAnswering(_ types: RecordType...) { silentTypes.formUnion(types) }

  /// Waits until queries for records of all the given types have been received.
  func receivesQueries(for types: Set<RecordType>) async {
    await withCheckedContinuation { continuation in
      waiters.append((types, continuation))
      resumeWaiters()
    }
  }

  private func resumeWaiters() {
    for waiter in waiters where waiter.types.isSubset(of: queriedTypes) {
      waiter.continuation.resume()
    }
    waiters.removeAll { $0.types.isSubset(of: queriedTypes) }
  }

  private func receive(_ batch: borrowing UDPBatch) {
    for index in batch.indices {
      let datagram = batch[index].copy()
      guard var answer = answer(datagram.payload, from: datagram.source, isStream: false) else {
        continue
      }
      var bytes = answer.encoded()
      if bytes.count > 512 {
        answer.isTruncated = true
        bytes = Array(answer.encoded().prefix(512))
      }
      socket?.send(bytes, to: datagram.source)
    }
    socket?.flush()
  }

  private func accept(_ stream: TCPStream) {
    streams.append(stream)
    let peer = stream.peerEndpoint
    stream.setHandler(owner: self) { server, event in
      guard case .bytes(let bytes) = event else { return }
      server.receive(Array(copying: bytes), from: peer)
    }
  }

  private func receive(_ bytes: [UInt8], from peer: Endpoint) {
    guard let stream = streams.first(where: { $0.peerEndpoint == peer }),
      let answer = answer(Array(bytes.dropFirst(2)), from: peer, isStream: true)
    else { return }
    let payload = answer.encoded()
    let length = [UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
    try? stream.write(length + payload)
  }

  private func answer(_ payload: [UInt8], from source: Endpoint, isStream: Bool) -> Message? {
    guard let query = try? Message(decoding: payload), let question = query.questions.first else {
      return nil
    }
    queries.append(
      ReceivedQuery(source: source, id: query.id, key: question.key, isStream: isStream))
    queriedTypes.insert(question.key.type)
    resumeWaiters()
    guard !silentTypes.contains(question.key.type) else { return nil }
    var answer = Message(id: query.id, isResponse: true)
    answer.questions = query.questions
    answer.answers = zone.filter { question.isAnswered(by: $0) }
    if !zone.contains(where: { $0.name == question.key.name }) { answer.flags |= 3 }
    return answer
  }
}
