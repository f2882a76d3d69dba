import CaromCore

extension VirtualNetwork {
  // MARK: Cables

  /// Unplugs the network cable of the host's machine. Datagrams are lost, including datagrams in
  /// flight. Streams wait.
  public mutating func cut(_ host: VirtualHost) {
    machines[host.machine].isCut = true
    recordFault("cut", of: host)
  }

  /// Reconnects the network cable of the host's machine. Streams resume.
  public mutating func restore(_ host: VirtualHost) {
    machines[host.machine].isCut = false
    recordFault("restored", of: host)
    resumeStreams()
  }

  /// Splits the network into parts. Until `heal` is called, a machine can reach only machines in
  /// the same part. A machine in no part can reach all others. A new partition replaces any earlier
  /// one.
  public mutating func partition(_ parts: [VirtualHost]...) {
    for machine in machines.indices { machines[machine].part = nil }
    for (number, hosts) in parts.enumerated() {
      for host in hosts {
        precondition(
          machines[host.machine].part ?? number == number, "a machine must be in one part only")
        machines[host.machine].part = number
        recordFault("in part \(number)", of: host)
      }
    }
    resumeStreams()
  }

  /// Ends the partition. Streams resume.
  public mutating func heal() {
    for machine in machines.indices { machines[machine].part = nil }
    recordFault("healed")
    resumeStreams()
  }

  // MARK: Processes and machines

  /// Ends the host's process, as `kill -9` does: the kernel finishes its streams, closes its
  /// sockets and refuses new connections. The host receives no more events until it binds, listens
  /// or connects again.
  public mutating func kill(_ host: VirtualHost) {
    recordFault("killed", of: host)
    closeSockets(of: host)
    for end in ends(at: host) { close(end) }
  }

  /// Stops the host's machine and all hosts on it until `reboot` is called. Their peers are not
  /// notified.
  public mutating func crash(_ host: VirtualHost) {
    recordFault("crashed", of: host)
    machines[host.machine].isCrashed = true
    for process in hosts where process.machine == host.machine {
      closeSockets(of: process)
      for end in ends(at: process) { discard(end) }
    }
  }

  /// Restarts a crashed machine. It has lost the state of its streams, and answers further packets
  /// of these streams with a reset.
  public mutating func reboot(_ host: VirtualHost) {
    machines[host.machine].isCrashed = false
    recordFault("rebooted", of: host)
    resumeStreams()
  }

  private mutating func closeSockets(of host: VirtualHost) {
    for number in machines[host.machine].sockets where sockets[number].host == host.id {
      close(VirtualSocket(host: host.id, number: number))
    }
    machines[host.machine].listeners.removeAll { $0.host == host.id }
  }

  /// Returns all stream ends of a host, ordered by the streams' numbers.
  private func ends(at host: VirtualHost) -> [VirtualStream] {
    var ends: [VirtualStream] = []
    for number in machines[host.machine].streams.sorted() where number != ends.last?.number {
      for side in [VirtualStream.Side.client, .listener] {
        guard let end = streams[number].end(number, side), end.host == host.id else { continue }
        ends.append(end)
      }
    }
    return ends
  }

  /// Discards the state of a stream end on a crashed machine, including its unsent bytes.
  private mutating func discard(_ end: VirtualStream) {
    streams[end.number][toward: end.side].isUnwanted = true
    let away = end.side.other
    streams[end.number][toward: away].unsent.removeAll()
    streams[end.number][toward: away].unsentBytes = 0
    streams[end.number][toward: away].inFlight.removeAll()
    streams[end.number][toward: away].held = 0
    streams[end.number][toward: away].isFinished = true
    if !streams[end.number].isOpen { streams[end.number][toward: end.side].isDead = true }
  }
}
