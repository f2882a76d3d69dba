import CaromCore

extension VirtualNetwork {
  // MARK: Cables

  /// Pulls the machine's cable: datagrams vanish, also those on their way; streams wait.
  public mutating func cut(_ host: VirtualHost) {
    machines[host.machine].isCut = true
    recordFault("cut", of: host)
  }

  /// Plugs the cable in again: what streams held back is sent again.
  public mutating func restore(_ host: VirtualHost) {
    machines[host.machine].isCut = false
    recordFault("restored", of: host)
    resumeStreams()
  }

  /// Lets machines reach those of their own part alone, until `heal`. Those that are in no part
  /// reach all; those that were in one and are not named now are in none.
  public mutating func partition(_ parts: [VirtualHost]...) {
    for machine in machines.indices { machines[machine].part = nil }
    for (number, hosts) in parts.enumerated() {
      for host in hosts {
        precondition(
          machines[host.machine].part ?? number == number, "a machine is in one part")
        machines[host.machine].part = number
        recordFault("in part \(number)", of: host)
      }
    }
    resumeStreams()
  }

  /// Takes the partition away: what streams held back is sent again.
  public mutating func heal() {
    for machine in machines.indices { machines[machine].part = nil }
    recordFault("healed")
    resumeStreams()
  }

  // MARK: Processes and machines

  /// Ends the process as `kill -9` does: its kernel finishes its streams, closes its sockets and
  /// refuses further calls. The host gets no more events until it binds, listens or connects anew.
  public mutating func kill(_ host: VirtualHost) {
    recordFault("killed", of: host)
    closeSockets(of: host)
    for end in ends(at: host) { close(end) }
  }

  /// Stops the machine with all that runs on it: silence, until `reboot`.
  public mutating func crash(_ host: VirtualHost) {
    recordFault("crashed", of: host)
    machines[host.machine].isCrashed = true
    for process in hosts where process.machine == host.machine {
      closeSockets(of: process)
      for end in ends(at: process) { forget(end) }
    }
  }

  /// Starts a crashed machine again: it knows nothing of its streams, and answers what still comes
  /// for them with a reset.
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

  /// The ends of streams that a process has, by the numbers of the streams.
  private func ends(at host: VirtualHost) -> [VirtualStream] {
    var ends: [VirtualStream] = []
    for number in machines[host.machine].streams.sorted() where number != ends.last?.number {
      for side in [VirtualStream.Side.caller, .listener] {
        guard let end = streams[number].end(number, side), end.host == host.id else { continue }
        ends.append(end)
      }
    }
    return ends
  }

  /// The end's memory is gone, and with it what it did not send yet.
  private mutating func forget(_ end: VirtualStream) {
    streams[end.number][toward: end.side].isUnwanted = true
    let away = end.side.other
    streams[end.number][toward: away].unsent.removeAll()
    streams[end.number][toward: away].unsentBytes = 0
    streams[end.number][toward: away].pieces.removeAll()
    streams[end.number][toward: away].waiting = 0
    streams[end.number][toward: away].isFinished = true
    if !streams[end.number].isOpen { streams[end.number][toward: end.side].isDead = true }
  }
}
