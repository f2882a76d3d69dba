import Foundation

/// The multicast DNS frames that pass a bridge of the lab, captured by tcpdump into a file that
/// this class reads.
final class DiscoveryCapture: Sendable {
  /// A captured Ethernet frame with a DNS message.
  struct Frame: Sendable {
    enum Kind: String, Sendable {
      case query, probe, response
    }

    /// The time of the frame, in milliseconds of the clock that the hosts share.
    let time: Double
    /// The number of the host that sent the frame.
    let host: Int
    let isV6: Bool
    let isMulticast: Bool
    let kind: Kind
    let isTruncated: Bool
    let answers: Int
    /// The length of the whole frame, in bytes.
    let bytes: Int
    /// The length of the DNS message, in bytes.
    let messageBytes: Int
  }

  private let file: URL
  private let program: ChildProgram

  init(file: URL, program: ChildProgram) {
    self.file = file
    self.program = program
  }

  deinit {
    program.endInput()
    try? FileManager.default.removeItem(at: file)
  }

  /// Returns the frames from the time `begin` until `end`, or until now.
  func frames(from begin: Double = 0, to end: Double = .infinity) -> [Frame] {
    guard let data = try? Data(contentsOf: file) else { return [] }
    let offset = Date().timeIntervalSince1970 * 1e3 - ChildProgram.now
    return Self.frames(in: [UInt8](data), clockOffset: offset)
      .filter { $0.time >= begin && $0.time <= end }
  }

  /// Waits for a frame since `begin` that meets the condition, and returns nil after `limit`. The
  /// file is read every 20 ms.
  func frame(
    from begin: Double, within limit: Duration, where matches: (Frame) -> Bool
  ) async -> Frame? {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      if let frame = frames(from: begin).first(where: matches) { return frame }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return nil
  }

  // The file has a header of 24 bytes, and 16 bytes before each frame, in this machine's byte
  // order.

  private static func frames(in bytes: [UInt8], clockOffset: Double) -> [Frame] {
    func word(_ at: Int) -> Int {
      Int(bytes[at]) | Int(bytes[at + 1]) << 8 | Int(bytes[at + 2]) << 16 | Int(bytes[at + 3]) << 24
    }
    var frames: [Frame] = []
    var at = 24
    while at + 16 <= bytes.count {
      let time = Double(word(at)) * 1e3 + Double(word(at + 4)) / 1e3
      let (stored, length) = (word(at + 8), word(at + 12))
      at += 16
      guard at + stored <= bytes.count else { break }
      if let frame = frame(bytes[at..<at + stored], length, time - clockOffset) {
        frames.append(frame)
      }
      at += stored
    }
    return frames
  }

  private static func frame(_ slice: ArraySlice<UInt8>, _ length: Int, _ time: Double) -> Frame? {
    let bytes = Array(slice)
    func half(_ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }
    guard bytes.count >= 34 else { return nil }
    let isV6 = half(12) == 0x86DD
    let isUDP = isV6 ? bytes[20] == 17 : half(12) == 0x0800 && bytes[23] == 17
    let udp = isV6 ? 54 : 14 + Int(bytes[14] & 15) * 4
    guard isUDP, bytes.count >= udp + 20 else { return nil }
    let dns = udp + 8
    let flags = half(dns + 2)
    let isMulticast = isV6 ? bytes[38] == 0xFF : bytes[30] >= 224
    return Frame(
      time: time, host: half(10), isV6: isV6, isMulticast: isMulticast,
      kind: flags & 0x8000 != 0 ? .response : half(dns + 8) > 0 ? .probe : .query,
      isTruncated: flags & 0x0200 != 0, answers: half(dns + 6), bytes: length,
      messageBytes: half(udp + 4) - 8)
  }
}

/// The cost of discovery on the wire.
struct DiscoveryWire: Sendable {
  let frames: Int
  let bytes: Int
  /// The frames and bytes of each kind, such as "3 probe v4 with 360 B, 2 response v4 with 540 B".
  let kinds: String

  init(_ frames: [DiscoveryCapture.Frame]) {
    self.frames = frames.count
    bytes = frames.reduce(0) { $0 + $1.bytes }
    var counts: [String: (frames: Int, bytes: Int)] = [:]
    for frame in frames {
      let cast = frame.isMulticast ? "" : " unicast"
      let kind = "\(frame.kind.rawValue)\(cast) v\(frame.isV6 ? 6 : 4)"
      counts[kind, default: (0, 0)].frames += 1
      counts[kind, default: (0, 0)].bytes += frame.bytes
    }
    kinds = counts.sorted { $0.key < $1.key }
      .map { "\($0.value.frames) \($0.key) with \($0.value.bytes) B" }
      .joined(separator: ", ")
  }
}
