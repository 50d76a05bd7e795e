// A server with a goroutine for each connection. See echo_server.rb.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
)

func serve(connection net.Conn) {
	in := bufio.NewReader(connection)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			connection.Close()
			return
		}
		connection.Write([]byte(line))
	}
}

func main() {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(server.Addr().(*net.TCPAddr).Port)
	go func() {
		for {
			connection, err := server.Accept()
			if err != nil {
				panic(err)
			}
			go serve(connection)
		}
	}()
	io.ReadAll(os.Stdin)
}
