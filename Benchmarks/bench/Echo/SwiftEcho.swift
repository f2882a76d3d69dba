import BenchProbe
import CaromCodec
import CaromCore
import CaromTransport
import EchoPeers

/// Our echo, on a loop of its own.
actor SwiftEcho: LoopActor {
  /// How the datagrams or bytes reach the echo.
  enum Variant: CaseIterable {
    /// A plain closure on the loop's thread.
    case udpClosure
    /// The same without segmentation offload: each datagram goes to the kernel by itself.
    case udpPlain
    /// Inside the actor that owns the socket.
    case udpActor
    /// Inside the actor, each datagram flushed by itself.
    case udpUnbatched
    /// Inside the actor that owns the stream.
    case tcpActor
    /// The same, with each packet taken out of its frame and framed again.
    case tcpFrames
  }

  nonisolated let loop: NetworkLoop
  private var socket: UDPSocket?
  private var listener: TCPListener?
  private var streams: [ObjectIdentifier: TCPStream] = [:]
  private var decoders: [ObjectIdentifier: FrameDecoder] = [:]
  private let encoder = FrameEncoder(limit: SwiftEcho.queueLimit)
  private var answers: [UInt8] = []

  /// Room for the largest messages that are sent here, with several under way.
  private static let queueLimit = 16 << 20

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Opens the echo and pins the loop's thread; returns the port.
  func open(_ variant: Variant, core: Int32) throws(TransportError) -> UInt16 {
    echo_pin(0, core)
    switch variant {
    case .udpClosure: socket = try Self.open(on: loop, segments: true)
    case .udpPlain: socket = try Self.open(on: loop, segments: false)
    case .udpActor:
      socket = try UDPSocket(on: loop, owner: self, bind: .loopback) { echo, batch in
        echo.receive(batch)
      }
    case .udpUnbatched:
      socket = try UDPSocket(on: loop, owner: self, bind: .loopback) { echo, batch in
        echo.receiveEach(batch)
      }
    case .tcpActor, .tcpFrames:
      let isFramed = variant == .tcpFrames
      listener = try TCPListener(on: loop, owner: self, bind: .loopback) { echo, event in
        if case .accepted(let stream) = event { echo.adopt(stream, isFramed: isFramed) }
      }
    }
    return socket?.localEndpoint.port ?? listener?.localEndpoint.port ?? 0
  }

  /// User plus system time of the loop's thread, nanoseconds.
  func cpu() -> UInt64 { bench_thread_cpu_nanoseconds() }

  func close() {
    socket?.close()
    socket = nil
    listener = nil
    streams = [:]
    decoders = [:]
  }

  /// The closure's own reference to the socket ends with `close`.
  private static func open(on loop: NetworkLoop, segments: Bool) throws(TransportError) -> UDPSocket
  {
    final class Reference { var socket: UDPSocket? }
    let reference = Reference()
    var options = UDPOptions()
    options.usesSegmentation = segments
    let socket = try UDPSocket(on: loop, bind: .loopback, options: options) { batch in
      guard let socket = reference.socket else { return }
      for index in batch.indices {
        let datagram = batch[index]
        socket.send(datagram.payload, to: datagram.source)
      }
      socket.flush()
    }
    reference.socket = socket
    return socket
  }

  private func receive(_ batch: borrowing UDPBatch) {
    guard let socket else { return }
    for index in batch.indices {
      let datagram = batch[index]
      socket.send(datagram.payload, to: datagram.source)
    }
    socket.flush()
  }

  private func receiveEach(_ batch: borrowing UDPBatch) {
    guard let socket else { return }
    for index in batch.indices {
      let datagram = batch[index]
      socket.send(datagram.payload, to: datagram.source)
      socket.flush()
    }
  }

  private func adopt(_ stream: TCPStream, isFramed: Bool) {
    let id = ObjectIdentifier(stream)
    streams[id] = stream
    stream.queueLimit = Self.queueLimit
    decoders[id] = isFramed ? FrameDecoder(limit: Self.queueLimit) : nil
    stream.setHandler(owner: self) { echo, event in echo.receive(event, on: id) }
  }

  private func receive(_ event: borrowing TCPEvent, on id: ObjectIdentifier) {
    switch event {
    case .bytes(let bytes):
      if decoders[id] == nil { try? streams[id]?.write(bytes) } else { answer(bytes, on: id) }
    case .writable: break
    case .end: streams[id]?.close()
    case .closed:
      streams[id] = nil
      decoders[id] = nil
    }
  }

  /// Packets in, the same packets out; what came together leaves together.
  private func answer(_ bytes: Span<UInt8>, on id: ObjectIdentifier) {
    decoders[id]?.receive(bytes, at: loop.now)
    while let body = try? decoders[id]?.next() {
      var reader = PacketReader(body.span)
      guard let packet = try? Packet(decoding: &reader) else { continue }
      try? encoder.append(packet, to: &answers)
    }
    guard !answers.isEmpty else { return }
    try? streams[id]?.write(answers.span)
    answers.removeAll(keepingCapacity: true)
  }
}

extension Endpoint {
  /// Any port on loopback.
  fileprivate static let loopback = Endpoint(.loopback4, port: 0)
}
