// N goroutines that wait ten frames down, each frame with a variable that a closure has captured. See deep_sleepers.rb.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

var wake = make(chan struct{})
var started int64

//go:noinline
func down(depth, sum int, up func()) int {
	seen := sum + depth
	more := func() { seen++ }
	if depth > 1 {
		down(depth-1, seen, more)
	} else {
		atomic.AddInt64(&started, 1)
		<-wake
	}
	up()
	return seen
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	for i := 0; i < n; i++ {
		go down(10, i, func() {})
	}
	for atomic.LoadInt64(&started) < int64(n) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready")
	io.ReadAll(os.Stdin)
}
