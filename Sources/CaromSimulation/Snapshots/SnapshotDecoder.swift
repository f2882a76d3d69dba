/// Decodes snapshots. It accepts only the exact bytes that `SnapshotEncoder` produces.
struct SnapshotDecoder: Sendable {
  let format: SnapshotFormat
  private let shipped: [RangeModel]
  private var models: [RangeModel]
  private var range = RangeDecoder()
  private var rice = RiceReader()
  private var isRice = false
  private var script = SnapshotScript()
  /// The encoder that encodes small snapshots again, to check that the sender chose the shorter
  /// form.
  private var encoder: SnapshotEncoder
  private var other = SnapshotView()

  /// The part of the current snapshot's header that has been read.
  private(set) var header = SnapshotHeader()

  init(format: SnapshotFormat, shipped: [RangeModel]) {
    self.format = format
    self.shipped = shipped
    models = shipped
    encoder = SnapshotEncoder(format: format, shipped: shipped)
  }

  private var failed: Bool { isRice ? rice.failed : range.failed }

  /// Starts decoding a snapshot. `newest` is the tick of the receiver's newest snapshot. Returns
  /// the tick of the baseline, or nil if the snapshot has none; `isRead` is false if the bytes are
  /// invalid.
  mutating func start(_ bytes: Span<UInt8>, newest: Tick?) -> (base: Tick?, isRead: Bool) {
    header = SnapshotHeader()
    // Selects the short form until the actual age has been read.
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

  /// Reads the rest of the header. Returns false if it is invalid.
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

  /// Reads the contents after the header into `view`, whose tick and baseline are already set.
  /// Returns false if no encoder produces these bytes.
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

  /// Returns whether the sender chose the shorter of the two forms. Only a small snapshot has two
  /// forms.
  private mutating func isShorterForm(_ base: SnapshotView, _ view: SnapshotView) -> Bool {
    guard isRice || format.fewestBits(script) <= 8 * RiceWriter.byteLimit else { return true }
    rewrite(base, view)
    return encoder.usedRice == isRice
  }

  /// Encodes the decoded snapshot again into `rewritten`.
  mutating func rewrite(_ base: SnapshotView, _ view: SnapshotView) {
    other.tick = view.tick
    other.base = view.base
    encoder.encode(header, &script, from: base, into: &other)
  }

  /// The bytes produced by the last call to `rewrite`.
  var rewritten: [UInt8] { encoder.bytes }
}
