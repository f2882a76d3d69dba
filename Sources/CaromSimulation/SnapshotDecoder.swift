/// Reads snapshots; takes only the one form that `SnapshotEncoder` writes.
struct SnapshotDecoder: Sendable {
  let format: SnapshotFormat
  private let shipped: [RangeModel]
  private var range: RangeDecoder
  private var rice = RiceReader()
  private var script = SnapshotScript()
  /// For the question whether another form would have been right.
  private var encoder: SnapshotEncoder
  private var other = SnapshotView()

  init(format: SnapshotFormat, shipped: [RangeModel]) {
    self.format = format
    self.shipped = shipped
    range = RangeDecoder(models: shipped)
    encoder = SnapshotEncoder(format: format, shipped: shipped)
  }

  private var isRice = false

  /// Reads tick and age of the base.
  mutating func start(_ bytes: Span<UInt8>, newest: Tick?) -> SnapshotHeader? {
    var header = SnapshotHeader()
    isRice = !bytes.isEmpty && bytes[0] >= 0x80
    if isRice {
      rice.start(bytes)
      header.codeTick(&rice, newest: newest)
    } else {
      range.start(bytes, shipped)
      header.codeTick(&range, newest: newest)
    }
    return failed ? nil : header
  }

  private var failed: Bool { isRice ? rice.failed : range.failed }

  /// Reads which views are named.
  mutating func readNamed(_ header: inout SnapshotHeader, count: Int64) -> Bool {
    if isRice {
      header.codeNamed(&rice, count: count)
    } else {
      header.codeNamed(&range, count: count)
    }
    return !failed
  }

  /// Reads the rest; `view`, whose tick and base are set, becomes what is known then. False where
  /// no encoder writes these bytes.
  mutating func finish(
    _ header: SnapshotHeader, namedCount: Int64, from base: SnapshotView,
    into view: inout SnapshotView
  ) -> Bool {
    script.removeAll()
    if isRice {
      format.code(&rice, &script, from: base, into: &view, isReading: true)
      guard rice.endsAsWritten else { return false }
    } else {
      format.code(&range, &script, from: base, into: &view, isReading: true)
      guard !range.failed, range.endsAsWritten else { return false }
    }
    return isShorterForm(header, namedCount: namedCount, from: base, view)
  }

  /// Whether the form that was not chosen takes more bytes; only small snapshots have two.
  private mutating func isShorterForm(
    _ header: SnapshotHeader, namedCount: Int64, from base: SnapshotView, _ view: SnapshotView
  ) -> Bool {
    guard isRice || format.fewestBits(script) <= 8 * RiceWriter.byteLimit else { return true }
    rewrite(header, namedCount: namedCount, from: base, view)
    return encoder.usedRice == isRice
  }

  /// Writes what was read last; see `rewritten`.
  mutating func rewrite(
    _ header: SnapshotHeader, namedCount: Int64, from base: SnapshotView, _ view: SnapshotView
  ) {
    other.tick = view.tick
    other.base = view.base
    encoder.encode(header, namedCount: namedCount, &script, from: base, into: &other)
  }

  /// What `rewrite` wrote.
  var rewritten: [UInt8] { encoder.bytes }
}
