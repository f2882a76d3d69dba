/// Reads snapshots; takes only the one form that `SnapshotEncoder` writes.
struct SnapshotDecoder: Sendable {
  let format: SnapshotFormat
  private let shipped: [RangeModel]
  private var range: RangeDecoder
  private var rice = RiceReader()
  private var isRice = false
  private var script = SnapshotScript()
  /// For the question whether another form would have been right.
  private var encoder: SnapshotEncoder
  private var other = SnapshotView()

  /// What was read of the header.
  private(set) var header = SnapshotHeader()

  init(format: SnapshotFormat, shipped: [RangeModel]) {
    self.format = format
    self.shipped = shipped
    range = RangeDecoder(models: shipped)
    encoder = SnapshotEncoder(format: format, shipped: shipped)
  }

  private var failed: Bool { isRice ? rice.failed : range.failed }

  /// Begins to read, for a reader whose newest snapshot is of `newest`. The tick of the base, `nil`
  /// where there is none; false where it is no snapshot.
  mutating func start(_ bytes: Span<UInt8>, newest: Tick?) -> (base: Tick?, isRead: Bool) {
    header = SnapshotHeader()
    // Of the short form, until its age is read.
    header.age = 1
    isRice = !bytes.isEmpty && bytes[0] >= 0x80
    let base: Tick?
    if isRice {
      rice.start(bytes)
      base = header.codeBase(&rice, newest: newest)
    } else {
      range.start(bytes, shipped)
      base = header.codeBase(&range, newest: newest)
    }
    return (base, !failed)
  }

  /// Reads the rest of the header; false where that cannot be.
  mutating func readHeader(_ base: SnapshotView) -> Bool {
    if isRice {
      header.codeRest(&rice, base: base)
    } else {
      header.codeRest(&range, base: base)
    }
    return !failed
  }

  /// Reads what follows the header; `view`, whose tick and base are set, becomes what is known
  /// then. False where no encoder writes these bytes.
  mutating func finish(_ base: SnapshotView, into view: inout SnapshotView) -> Bool {
    script.removeAll()
    if isRice {
      format.code(&rice, &script, from: base, into: &view, isReading: true)
      guard rice.endsAsWritten else { return false }
    } else {
      format.code(&range, &script, from: base, into: &view, isReading: true)
      guard !range.failed, range.endsAsWritten else { return false }
    }
    return isShorterForm(base, view)
  }

  /// Whether the form that was not chosen takes more bytes; only small snapshots have two.
  private mutating func isShorterForm(_ base: SnapshotView, _ view: SnapshotView) -> Bool {
    guard isRice || format.fewestBits(script) <= 8 * RiceWriter.byteLimit else { return true }
    rewrite(base, view)
    return encoder.usedRice == isRice
  }

  /// Writes what was read last; see `rewritten`.
  mutating func rewrite(_ base: SnapshotView, _ view: SnapshotView) {
    other.tick = view.tick
    other.base = view.base
    encoder.encode(header, &script, from: base, into: &other)
  }

  /// What `rewrite` wrote.
  var rewritten: [UInt8] { encoder.bytes }
}
