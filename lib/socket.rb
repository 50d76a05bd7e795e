# frozen_string_literal: true

# Sockets. Descriptors never block: what has to wait parks its thread and lets others run.
#
# - socket/constants: the system's numbers, and names for them in arguments
# - socket/addrinfo: addresses; socket/option, socket/ancillary: options and control messages
# - socket/basic: what all sockets do; socket/ip, socket/unix: TCPSocket, UDPSocket, UNIXSocket and kin
# - socket/socket: Socket, as near to the system as it gets; socket/server: its loops for servers
# - socket/connect: reaching a host that has several addresses; socket/name: names and interfaces
require "io/wait"

class SocketError < StandardError
end

class BasicSocket < IO
end

class Socket < BasicSocket
  # A name that could not be resolved.
  class ResolutionError < SocketError
    attr_reader :error_code

    def initialize(message = nil, error_code = 0)
      super(message)
      @error_code = error_code
    end
  end
end

require "socket/constants"
require "socket/addrinfo"
require "socket/option"
require "socket/ancillary"
require "socket/basic"
require "socket/name"
require "socket/connect"
require "socket/ip"
require "socket/unix"
require "socket/socket"
require "socket/server"
