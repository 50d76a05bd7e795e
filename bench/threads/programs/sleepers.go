// Figure 7's program: N goroutines that wait. See sleepers.rb.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	from := time.Now()
	wake := make(chan struct{})
	var started int64
	var all sync.WaitGroup
	all.Add(n)
	for i := 0; i < n; i++ {
		go func() { atomic.AddInt64(&started, 1); <-wake; all.Done() }()
	}
	for atomic.LoadInt64(&started) < int64(n) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready", time.Since(from).Seconds())
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if strings.HasPrefix(in.Text(), "join") {
			from = time.Now()
			close(wake)
			all.Wait()
			fmt.Println("joined", time.Since(from).Seconds())
		}
	}
}
