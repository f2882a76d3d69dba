import Carom
import Foundation
import Glibc
import TestTLS

/// A player in a browser, as far as a host can tell: a WebSocket (RFC 6455) whose messages carry
/// the session's stream, and perhaps a data channel beside it. Reading waits, so the owner only
/// reads what must come.
final class BrowserSocket {
  private let descriptor: Int32
  private var machine: BrowserMachine
  /// The TLS that carries the WebSocket; nil if TCP carries it.
  private let tls: TLSClient?
  /// The data channel that carries the session's datagrams; nil if there is none.
  private var channel: BrowserChannel?
  /// What was read, decrypted, and is not the whole of a frame yet.
  private var unread: [UInt8] = []
  /// The bytes that this socket has carried, in both directions.
  private var streamBytes: UInt64 = 0
  /// The bytes that the sockets have carried, in both directions.
  var bytes: UInt64 { streamBytes + (channel?.bytes ?? 0) }

  /// Connects to a port of this computer, without a word of a protocol.
  init(port: UInt16, number: Int, isEncrypted: Bool) throws {
    tls = isEncrypted ? TLSClient() : nil
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    machine = BrowserMachine(number: number)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw BenchmarkFailure("cannot connect to port \(port)") }
    var one: Int32 = 1
    unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    try doHandshake()
  }

  private func doHandshake() throws {
    guard let tls else { return }
    try writeRaw(tls.take())
    while !tls.isEstablished {
      try read()
      try writeRaw(tls.take())
    }
  }

  deinit { close(descriptor) }

  /// Sends bytes without a frame.
  func write(_ text: [UInt8]) throws {
    guard let tls else { return try writeRaw(text) }
    guard tls.write(text) else { throw BenchmarkFailure("a browser's TLS has ended") }
    try writeRaw(tls.take())
  }

  private func writeRaw(_ text: [UInt8]) throws {
    guard !text.isEmpty else { return }
    let count = unsafe text.withUnsafeBytes { bytes in
      unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
    guard count == text.count else { throw BenchmarkFailure("a browser's socket is closed") }
    streamBytes += UInt64(count)
  }

  /// Opens the WebSocket, joins, and waits for the seat.
  func join(port: UInt16) throws {
    let request =
      "GET \(BrowserOptions.path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUpgrade: websocket\r\n"
      + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: \(BrowserOptions.subprotocol)\r\n\r\n"
    try write(Array(request.utf8))
    let head = try readHead()
    guard head.hasPrefix("HTTP/1.1 101") else {
      throw BenchmarkFailure("the host refused a WebSocket: \(head)")
    }
    try writeFrame(machine.connect())
    while !machine.isOpen { try receive() }
  }

  private func readHead() throws -> String {
    while !unread.suffix(4).elementsEqual("\r\n\r\n".utf8) { try read() }
    defer { unread = [] }
    return String(decoding: unread, as: UTF8.self)
  }

  /// Asks for a data channel, on a connection that does nothing else.
  func askForChannel(port: UInt16) throws -> BrowserChannel.Offer {
    let request = "GET \(BrowserOptions.channelPath) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
    try write(Array(request.utf8))
    while unread.last != UInt8(ascii: "\n") || !unread.contains(UInt8(ascii: "{")) { try read() }
    guard let start = unread.firstIndex(of: UInt8(ascii: "{")) else {
      throw BenchmarkFailure("the host has no data channels")
    }
    return try JSONDecoder().decode(BrowserChannel.Offer.self, from: Data(unread[start...]))
  }

  /// Uses a data channel from now on, and waits until it carries the messages.
  func use(_ channel: BrowserChannel) throws {
    self.channel = channel
    machine.openDatagrams()
    sendDatagrams()
    while !machine.usesDatagrams() { try receiveDatagrams() }
  }

  /// Sends an input.
  func sendInput(_ input: [UInt8]) throws {
    try writeFrame(machine.send(input))
    sendDatagrams()
  }

  /// Waits for a state.
  func awaitState() throws {
    while !machine.takeMessage() {
      if channel == nil { try receive() } else { try receiveDatagrams() }
    }
    try writeFrame(machine.handleTimeouts())
    sendDatagrams()
  }

  private func sendDatagrams() {
    for datagram in machine.takeDatagrams() { channel?.send(datagram) }
  }

  private func receiveDatagrams() throws {
    for datagram in try channel?.receive() ?? [] {
      try writeFrame(machine.receiveDatagram(datagram.span))
    }
    sendDatagrams()
  }

  // MARK: Frames

  /// Reads once, and hands over the frames that are complete.
  private func receive() throws {
    try read()
    var at = 0
    while let frame = Self.frame(in: unread, from: at) {
      at = frame.upperBound
      try writeFrame(machine.receive(unread[frame].span))
    }
    unread.removeFirst(at)
  }

  /// Waits for bytes and reads them. The thread polls, because the system would charge the host's
  /// thread, which sends the bytes, for waking a thread that sleeps.
  private func read() throws {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&ready, 1, 0) < 1 {}
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
    }
    guard count > 0 else { throw BenchmarkFailure("the host has closed a WebSocket") }
    streamBytes += UInt64(count)
    guard let tls else { return unread += buffer[..<count] }
    guard tls.receive(Array(buffer[..<count])) else {
      throw BenchmarkFailure("the host's TLS has failed")
    }
    unread += tls.read()
  }

  /// Returns the place of the payload of the frame that begins at `start`, or nil if it is not
  /// complete. A host's frames are not masked; those of this measurement are short.
  private static func frame(in bytes: [UInt8], from start: Int) -> Range<Int>? {
    guard bytes.count >= start + 4 else { return nil }
    let short = Int(bytes[start + 1])
    let (first, count) =
      short < 126
      ? (start + 2, short) : (start + 4, Int(bytes[start + 2]) << 8 | Int(bytes[start + 3]))
    return bytes.count >= first + count ? first..<(first + count) : nil
  }

  /// Writes bytes of the stream as one masked message, if there are any.
  private func writeFrame(_ output: [UInt8]) throws {
    guard !output.isEmpty else { return }
    let length = output.count
    // A mask of zeros is as good as any other here.
    let head: [UInt8] =
      length < 126
      ? [0x82, 0x80 | UInt8(length)]
      : [0x82, 0x80 | 126, UInt8(length >> 8), UInt8(truncatingIfNeeded: length)]
    try write(head + [0, 0, 0, 0] + output)
  }
}
