import BenchProbe
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
  }

  nonisolated let loop: EventLoop
  private var socket: UDPSocket?
  private var listener: TCPListener?
  private var streams: [ObjectIdentifier: TCPStream] = [:]

  init(on loop: EventLoop) { self.loop = loop }

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
    case .tcpActor:
      listener = try TCPListener(on: loop, owner: self, bind: .loopback) { echo, event in
        if case .accepted(let stream) = event { echo.adopt(stream) }
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
  }

  /// The closure's own reference to the socket ends with `close`.
  private static func open(on loop: EventLoop, segments: Bool) throws(TransportError) -> UDPSocket {
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

  private func adopt(_ stream: TCPStream) {
    let id = ObjectIdentifier(stream)
    streams[id] = stream
    stream.setHandler(owner: self) { echo, event in echo.receive(event, on: id) }
  }

  private func receive(_ event: borrowing TCPEvent, on id: ObjectIdentifier) {
    switch event {
    case .bytes(let bytes): try? streams[id]?.write(bytes)
    case .writable: break
    case .end: streams[id]?.close()
    case .closed: streams[id] = nil
    }
  }
}

extension Endpoint {
  /// Any port on loopback.
  fileprivate static let loopback = Endpoint(.loopback4, port: 0)
}
