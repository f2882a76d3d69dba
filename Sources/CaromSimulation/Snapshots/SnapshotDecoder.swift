/// Reads snapshots; takes only the one form that `SnapshotEncoder` writes.
struct SnapshotDecoder: Sendable {
  let format: SnapshotFormat
  private let shipped: [RangeModel]
  private var models: [RangeModel]
  private var range = RangeDecoder()
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
    models = shipped
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
    var used: [RangeModel] = []
    swap(&used, &models)
    used.replace(with: shipped)
    var models = used.mutableSpan
    if isRice {
      rice.start(bytes)
      base = header.codeBase(&rice, &models, newest: newest)
    } else {
      range.start(bytes)
      base = header.codeBase(&range, &models, newest: newest)
    }
    swap(&used, &self.models)
    return (base, !failed)
  }

  /// Reads the rest of the header; false where that cannot be.
  mutating func readHeader(_ base: SnapshotView) -> Bool {
    var used: [RangeModel] = []
    swap(&used, &models)
    var models = used.mutableSpan
    if isRice {
      header.codeRest(&rice, &models, base: base)
    } else {
      header.codeRest(&range, &models, base: base)
    }
    swap(&used, &self.models)
    return !failed
  }

  /// Reads what follows the header; `view`, whose tick and base are set, becomes what is known
  /// then. False where no encoder writes these bytes.
  mutating func finish(_ base: SnapshotView, into view: inout SnapshotView) -> Bool {
    script.removeAll()
    var used: [RangeModel] = []
    swap(&used, &models)
    var models = used.mutableSpan
    if isRice {
      format.code(&rice, &models, &script, from: base, into: &view, isReading: true)
    } else {
      format.code(&range, &models, &script, from: base, into: &view, isReading: true)
    }
    swap(&used, &self.models)
    let isWhole = isRice ? rice.endsAsWritten : !range.failed && range.endsAsWritten
    guard isWhole else { return false }
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
