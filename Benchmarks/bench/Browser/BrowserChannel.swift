import Carom
import CaromDataChannel
import Foundation
import Glibc

/// The data channel of a player in a browser: checks, DTLS and SCTP on a UDP socket.
final class BrowserChannel {
  /// What a host answers to a page that asks for a data channel.
  struct Offer: Decodable {
    let ufrag: String
    let password: String
  }

  private let descriptor: Int32
  private let channel: DataChannel
  private var buffer = [UInt8](repeating: 0, count: 1 << 14)
  private var decrypted = [UInt8](repeating: 0, count: 1 << 14)
  private var arrived: [[UInt8]] = []
  /// The bytes that the socket has carried, in both directions.
  private(set) var bytes: UInt64 = 0

  /// Opens a channel to a port of this computer.
  init(port: UInt16, number: Int, _ offer: Offer) throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    let secrets = SCTPAssociation.Secrets(
      tag: UInt32(number), firstTSN: UInt32(number), cookie: UInt64(number))
    channel = DataChannel(
      offer.ufrag, from: Endpoint(.loopback4, port: port), SCTPAssociation(.initiator, secrets),
      at: NetworkLoop.now)
    try connect(port: port)
    try check(offer, number)
    try channel.begin(DTLSIdentity(), isClient: true)
    flush()
    while !channel.isOpen { _ = try receive() }
  }

  deinit { close(descriptor) }

  private func connect(port: UInt16) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw BenchmarkFailure("cannot send datagrams to port \(port)") }
  }

  /// Sends a check, and waits for the answer.
  private func check(_ offer: Offer, _ number: Int) throws {
    var writer = STUNWriter()
    writer.writeBindingRequest(
      STUN.Transaction(high: 1, low: UInt64(number)),
      username: Array("\(offer.ufrag):bench".utf8).span, priority: 1, tieBreaker: 1,
      isNominating: true, key: Array(offer.password.utf8).span)
    write(writer.message)
    let answer = try read()
    guard try STUNMessage(answer.span).kind == .bindingSuccess else {
      throw BenchmarkFailure("the host has refused a check")
    }
  }

  /// Sends a datagram of the session.
  func send(_ datagram: [UInt8]) {
    channel.send(datagram.span, at: NetworkLoop.now)
    flush()
  }

  /// Waits for a datagram of the channel, and returns those of the session in it.
  func receive() throws -> [[UInt8]] {
    arrived.removeAll(keepingCapacity: true)
    let datagram = try read()
    channel.receive(
      datagram.span, from: channel.endpoint, using: &decrypted, at: NetworkLoop.now
    ) { arrived.append(Array(copying: $0)) }
    flush()
    return arrived
  }

  private func flush() { channel.flush(at: NetworkLoop.now) { write($0) } }

  private func write(_ datagram: Span<UInt8>) {
    bytes += UInt64(datagram.count)
    _ = unsafe datagram.withUnsafeBytes {
      unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, 0)
    }
  }

  /// Waits for a datagram. The thread polls, as `BrowserSocket` does.
  private func read() throws -> [UInt8] {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&ready, 1, 0) < 1 {}
    let count = unsafe buffer.withUnsafeMutableBytes { bytes in
      unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
    }
    guard count > 0 else { throw BenchmarkFailure("the host's port is closed") }
    bytes += UInt64(count)
    return Array(buffer[..<count])
  }
}
