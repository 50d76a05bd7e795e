// Goroutines that recursed deep, returned, and wait. See shrink.rb. Go shrinks stacks when it collects.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

var gate = make(chan struct{})
var forever = make(chan struct{})
var down, back int64

//go:noinline
func recurse(n int) int {
	if n > 0 {
		return recurse(n-1) + 1
	}
	atomic.AddInt64(&down, 1)
	<-gate
	return 0
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	depth, _ := strconv.Atoi(os.Args[2])
	for i := 0; i < n; i++ {
		go func() { recurse(depth); atomic.AddInt64(&back, 1); <-forever }()
	}
	for atomic.LoadInt64(&down) < int64(n) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("deep")
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	close(gate)
	for atomic.LoadInt64(&back) < int64(n) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready")
	go func() {
		for {
			time.Sleep(time.Second)
			runtime.GC()
		}
	}()
	for in.Scan() {
	}
}
