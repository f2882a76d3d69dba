import BenchProbe
import CaromCodec
import CaromCore
import CaromTransport
import EchoPeers

/// Carom's echo server, on a loop of its own.
actor SwiftEcho: LoopActor {
  /// The way in which received datagrams or bytes reach the echo's code.
  enum Variant: CaseIterable {
    /// A plain closure on the loop's thread.
    case udpClosure
    /// A plain closure without segmentation offload: the kernel receives each datagram separately.
    case udpPlain
    /// The actor that owns the socket.
    case udpActor
    /// The actor that owns the socket, which flushes after every datagram.
    case udpUnbatched
    /// The actor that owns the stream.
    case tcpActor
    /// The actor that owns the stream, which decodes each packet from its frame and encodes it
    /// again.
    case tcpFrames
  }

  nonisolated let loop: NetworkLoop
  private var socket: UDPSocket?
  private var listener: TCPListener?
  private var streams: [ObjectIdentifier: TCPStream] = [:]
  private var decoders: [ObjectIdentifier: FrameDecoder] = [:]
  private let encoder = FrameEncoder(limit: SwiftEcho.queueLimit)
  private var answers: [UInt8] = []

  /// Room for several of the largest messages in flight, in bytes.
  private static let queueLimit = 16 << 20

  init(on loop: NetworkLoop) { self.loop = loop }

  /// Opens the echo server, pins the loop's thread to `core` and returns the port.
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

  /// Returns the user and system time of the loop's thread, in nanoseconds.
  func cpu() -> UInt64 { bench_thread_cpu_nanoseconds() }

  func close() {
    socket?.close()
    socket = nil
    listener = nil
    streams = [:]
    decoders = [:]
  }

  /// Opens a socket that echoes every datagram in a plain closure. `close` closes the socket, which
  /// also ends the closure's reference to it.
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

  /// Decodes the received packets and sends them back, all of one call in one write.
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
  /// Any free port on the loopback interface.
  fileprivate static let loopback = Endpoint(.loopback4, port: 0)
}
