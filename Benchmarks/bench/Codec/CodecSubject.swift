import BenchProbe
import CaromCBOR
import CaromCore
import Foundation

/// One operation on a series of frames or payloads, with its measured times.
struct CodecSubject {
  let name: String
  /// The number of frames or payloads in one run.
  let count: Int
  /// The bytes of all bodies in one run.
  let bytes: Int
  /// Whether the first subject of the group is a `memcpy` of the same bytes, to compare with.
  private let hasPeer: Bool
  private let work: () throws -> Void
  private var times: [Double] = []
  private var allocations: [Double] = []

  private init(
    _ name: String, count: Int, bytes: Int, hasPeer: Bool = true, work: @escaping () throws -> Void
  ) {
    self.name = name
    self.count = count
    self.bytes = bytes
    self.hasPeer = hasPeer
    self.work = work
  }

  mutating func measure() throws {
    if times.isEmpty { try work() }  // lets the buffers and the allocator's arenas grow
    let before = bench_allocations()
    let start = bench_thread_cpu_nanoseconds()
    try work()
    times.append(Double(bench_thread_cpu_nanoseconds() - start) * 1e-9)
    allocations.append(Double(bench_allocations() - before) / Double(count))
  }

  func add(to report: inout Report, peer: CodecSubject) {
    let time = median(times)
    var figures = [
      Report.Figure("per second", Double(count) / time),
      Report.Figure("MB/s", Double(bytes) / time / 1e6),
      Report.Figure("allocations each", median(allocations)),
    ]
    if hasPeer {
      figures.append(
        Report.Figure("time against memcpy", median(zip(times, peer.times).map { $0 / $1 })))
    }
    report.rows.append(Report.Row(name: name, figures: figures))
  }
}

extension CodecSubject {
  /// Returns the subjects for frames of one length: `memcpy`, encoding, and decoding in segments
  /// and in chunks.
  static func frames(of length: Int, volume: Int) throws -> [CodecSubject] {
    let count = max(1, volume / max(length, 256))
    let body = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var stream: [UInt8] = []
    for _ in 0..<count { try FrameEncoder().append(body.span, to: &stream) }
    let label = "\(Report.text(Double(length))) B"
    let subject = { (name: String, work: @escaping () throws -> Void) in
      CodecSubject("\(label) \(name)", count: count, bytes: count * length, work: work)
    }
    return [
      subject("memcpy", copying(stream, length: length)),
      subject("encode", encoding(body, count: count, capacity: stream.count)),
      subject("decode segments", decoding(stream, count: count, chunk: 65_536)),
      subject("decode chunks", decoding(stream, count: count, chunk: 1_448)),
    ]
  }

  /// Copies each body of the stream into the same buffer.
  private static func copying(_ stream: [UInt8], length: Int) -> () -> Void {
    let target = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, length), alignment: 16)
    return {
      unsafe stream.withUnsafeBytes { source in
        var start = 8
        while start + length <= source.count {
          unsafe target.copyMemory(from: .init(rebasing: source[start..<start + length]))
          start += 8 + length
        }
      }
    }
  }

  private static func encoding(
    _ body: [UInt8], count: Int, capacity: Int
  ) -> () throws -> Void {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(capacity)
    let encoder = FrameEncoder()
    return {
      buffer.removeAll(keepingCapacity: true)
      for _ in 0..<count { try encoder.append(body.span, to: &buffer) }
      precondition(buffer.count == capacity, "the encoder must write every frame to the buffer")
    }
  }

  private static func decoding(
    _ stream: [UInt8], count: Int, chunk: Int
  ) -> () throws -> Void {
    var decoder = FrameDecoder()
    return {
      var decoded = 0
      var start = 0
      while start < stream.count {
        let end = min(start + chunk, stream.count)
        decoder.receive(stream.span.extracting(start..<end), at: .zero)
        while try decoder.next() != nil { decoded += 1 }
        start = end
      }
      precondition(decoded == count, "the decoder must return every frame")
    }
  }
}

extension CodecSubject {
  /// Returns the subjects for payloads: a small and a large `Codable` value, encoded to CBOR and
  /// decoded.
  static func payloads() throws -> [CodecSubject] {
    let small = Stroke(x: 0.25, y: -1.5, tick: 1_000, isPressed: true)
    let large = Score(
      players: (0..<8).map { "player \($0)" }, goals: (0..<8).map { ["player \($0)": $0] },
      strokes: (0..<50).map { Stroke(x: Double($0), y: 0.1, tick: $0, isPressed: false) })
    return try coding("small Codable", small, count: 20_000)
      + packing("small PacketCodable", small, count: 20_000)
      + coding("large Codable", large, count: 200)
      + packing("large PacketCodable", large, count: 200)
  }

  /// Returns the subjects for a value in a wire format of its own.
  private static func packing<Value: PacketCodable>(
    _ name: String, _ value: Value, count: Int
  ) throws -> [CodecSubject] {
    let bytes = value.encoded
    let label = "\(name), \(Report.text(Double(bytes.count))) B"
    return [
      CodecSubject("\(label) encode", count: count, bytes: count * bytes.count, hasPeer: false) {
        for _ in 0..<count { _ = value.encoded }
      },
      CodecSubject("\(label) decode", count: count, bytes: count * bytes.count, hasPeer: false) {
        for _ in 0..<count { _ = try Value(decoding: bytes.span) }
      },
    ]
  }

  private static func coding<Value: Codable>(
    _ name: String, _ value: Value, count: Int
  ) throws -> [CodecSubject] {
    let bytes = try PacketEncoder().encode(value)
    let label = "\(name), \(Report.text(Double(bytes.count))) B"
    return [
      CodecSubject("\(label) encode", count: count, bytes: count * bytes.count, hasPeer: false) {
        for _ in 0..<count { _ = try PacketEncoder().encode(value) }
      },
      CodecSubject("\(label) decode", count: count, bytes: count * bytes.count, hasPeer: false) {
        for _ in 0..<count { _ = try PacketDecoder().decode(Value.self, from: bytes) }
      },
    ]
  }
}

private struct Stroke: Codable {
  var x: Double
  var y: Double
  var tick: Int
  var isPressed: Bool
}

extension Stroke: PacketCodable {
  func encode(into writer: inout PacketWriter) {
    writer.write(x)
    writer.write(y)
    writer.write(tick)
    writer.write(isPressed)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    x = try reader.read()
    y = try reader.read()
    tick = try reader.read()
    isPressed = try reader.read()
  }
}

private struct Score: Codable {
  var players: [String]
  var goals: [[String: Int]]
  var strokes: [Stroke]
}

extension Score: PacketCodable {
  /// The maximum number of players, and of goals and strokes.
  private static let limit = 1_024

  func encode(into writer: inout PacketWriter) {
    writer.writeArray(players)
    writer.writeVarInt(UInt64(goals.count))
    for goal in goals {
      for (player, number) in goal {
        writer.writeText(player)
        writer.write(number)
      }
    }
    writer.writeArray(strokes)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    players = try reader.readArray(limit: Self.limit)
    let count = try reader.readVarInt()
    guard count <= UInt64(Self.limit) else {
      throw .tooLarge(length: count, limit: UInt64(Self.limit))
    }
    goals = []
    for _ in 0..<count { goals.append([try reader.readText(limit: 64): try reader.read()]) }
    strokes = try reader.readArray(limit: Self.limit)
  }
}
