import CaromDiscovery

/// An event that a command reports, both as a table row and as a JSON object.
struct Report: Sendable {
  /// What happened to the row; the raw value is the event's name in JSON.
  enum Event: String, Sendable {
    case added, updated, removed, resolved, unresolved, published, renamed, withdrawn, confirmed
    /// A peer has sent a line.
    case line
    /// A peer that can be picked has appeared, changed or gone.
    case listed
    case offered, progress, sent, received, failed
    /// A pass over a domain has finished.
    case finished
    /// A player's seat is reserved at a host of a fleet.
    case placed
    /// The result of a fleet's match.
    case result
    /// What a fleet has altogether, and whether its directory can be reached.
    case fleet, away, back

    /// The character at the start of a text line that reports the event.
    var mark: String {
      switch self {
      case .added, .published, .confirmed, .sent, .received, .placed: "+"
      case .updated, .resolved, .renamed, .progress: "~"
      case .removed, .withdrawn, .failed: "-"
      case .unresolved, .offered, .listed, .away: "?"
      case .line, .finished, .result, .fleet, .back: ":"
      }
    }

    /// Creates the event that reports a change.
    init<Item>(_ change: DiscoveryChange<Item>) {
      self =
        switch change {
        case .added: .added
        case .updated: .updated
        case .removed: .removed
        }
    }

    /// Whether the event removes the row.
    var removesRow: Bool { self == .removed || self == .withdrawn }
  }

  let event: Event
  /// The character at the start of a text line that reports the event.
  let mark: String
  /// The key of the row that the event is about.
  let key: String
  /// The row's cells, one for each column.
  let cells: [String]
  /// The members of the JSON object after `event`.
  let fields: [JSONValue.Field]

  /// Creates a report. If `isNew` is true, the text line begins with "+", although other commands
  /// report the same event as a change to an existing row.
  init(
    _ event: Event, _ key: String, isNew: Bool = false, cells: [String],
    _ fields: [JSONValue.Field]
  ) {
    self.event = event
    mark = isNew ? "+" : event.mark
    self.key = key
    self.cells = cells
    self.fields = fields
  }

  /// The event as a JSON object on one line.
  var json: String {
    JSONValue.object([.init("event", .string(event.rawValue))] + fields).text
  }
}
