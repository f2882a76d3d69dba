import CaromCore
import CaromTesting

/// One end of a flow on a virtual network.
enum FlowNode: VirtualNode {
  case sender(FlowSender)
  case receiver(FlowReceiver)
  case cubic(CubicSender)

  var sender: FlowSender? { if case .sender(let sender) = self { sender } else { nil } }
  var receiver: FlowReceiver? { if case .receiver(let receiver) = self { receiver } else { nil } }

  mutating func start(in network: inout VirtualNetwork) {
    switch consume self {
    case .sender(var sender):
      sender.pump(in: &network)
      self = .sender(sender)
    case .receiver(let receiver):
      self = .receiver(receiver)
    case .cubic(var sender):
      sender.pump(in: &network)
      self = .cubic(sender)
    }
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    guard case .datagram(let datagram, _) = event else { return }
    switch consume self {
    case .sender(var sender):
      sender.handle(datagram.payload, in: &network)
      self = .sender(sender)
    case .receiver(var receiver):
      receiver.handle(datagram, in: &network)
      self = .receiver(receiver)
    case .cubic(var sender):
      sender.handle(datagram.payload, in: &network)
      self = .cubic(sender)
    }
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    switch consume self {
    case .sender(var sender):
      sender.handleTimeout(in: &network)
      self = .sender(sender)
    case .receiver(var receiver):
      receiver.acknowledgeIfDue(in: &network)
      self = .receiver(receiver)
    case .cubic(var sender):
      sender.handleTimeout(in: &network)
      self = .cubic(sender)
    }
  }

  var nextTimeout: Instant? {
    switch self {
    case .sender(let sender): sender.nextTimeout
    case .receiver(let receiver): receiver.nextTimeout
    case .cubic(let sender): sender.nextTimeout
    }
  }
}
