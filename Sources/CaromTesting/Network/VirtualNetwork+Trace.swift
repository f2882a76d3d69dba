import CaromCore

extension VirtualNetwork {
  /// Adds an event about a datagram to the trace, if the network has a trace.
  mutating func record(
    _ event: TraceEntry.Event, _ datagram: Datagram, over link: Int?, reason: DropReason? = nil
  ) {
    guard trace != nil else { return }
    let place = link.map { TraceEntry.Link(from: links[$0].from, to: links[$0].to) }
    let now = now
    trace?.append {
      var entry = TraceEntry(event, at: now).withPayload(datagram.payload)
      entry.link = place
      entry.reason = reason
      return entry
    }
  }

  /// Adds an event for a host to the trace, if the network has a trace.
  mutating func record(_ event: VirtualEvent) {
    guard trace != nil else { return }
    let now = now
    trace?.append { TraceEntry(event, at: now) }
  }

  /// Adds an injected fault to the trace, if the network has a trace.
  mutating func recordFault(_ text: @autoclosure () -> String, of host: VirtualHost? = nil) {
    guard trace != nil else { return }
    let now = now
    trace?.append {
      var entry = TraceEntry(.fault, at: now)
      entry.text = text()
      entry.host = host?.id
      return entry
    }
  }
}

extension TraceEntry {
  /// Creates an entry for an event that a host received.
  fileprivate init(_ event: VirtualEvent, at time: Instant) {
    switch event {
    case .datagram(let datagram, _):
      self = TraceEntry(.delivered, at: time).withPayload(datagram.payload)
    case .bytes(let bytes, let stream):
      self = TraceEntry(.bytes, of: stream, at: time).withPayload(bytes)
    case .accepted(let stream, _, _): self.init(.accepted, of: stream, at: time)
    case .connected(let stream): self.init(.connected, of: stream, at: time)
    case .refused(let stream): self.init(.refused, of: stream, at: time)
    case .timedOut(let stream): self.init(.timedOut, of: stream, at: time)
    case .end(let stream): self.init(.end, of: stream, at: time)
    case .reset(let stream): self.init(.reset, of: stream, at: time)
    case .drained(let stream): self.init(.drained, of: stream, at: time)
    }
    host = event.host
  }

  private init(_ event: Event, of stream: VirtualStream, at time: Instant) {
    self.init(event, at: time)
    self.stream = stream.number
  }
}
