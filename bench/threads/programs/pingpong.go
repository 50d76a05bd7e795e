// Two goroutines hand a number back and forth over two channels. See pingpong.rb.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func pair(n int, all *sync.WaitGroup, poll bool) {
	there, back := make(chan int, 1), make(chan int, 1)
	take := func(c chan int) int {
		for poll && len(c) == 0 {
			runtime.Gosched()
		}
		return <-c
	}
	all.Add(2)
	go func() {
		for i := 0; i < n; i++ {
			back <- take(there)
		}
		all.Done()
	}()
	go func() {
		for i := 0; i < n; i++ {
			there <- i
			take(back)
		}
		all.Done()
	}()
}

func trial(mode string, n int) {
	var all sync.WaitGroup
	pair(n, &all, mode == "poll")
	if mode == "pairs" {
		pair(n, &all, false)
	}
	all.Wait()
}

func main() {
	mode := os.Args[1]
	n, _ := strconv.Atoi(os.Args[2])
	var done int32
	if mode == "burn" {
		for i := 0; i < 2; i++ {
			go func() {
				x := 1
				for atomic.LoadInt32(&done) == 0 {
					x = (x*3 + 1) & 0xffff
				}
			}()
		}
		time.Sleep(20 * time.Millisecond)
	}
	trial(mode, max(n/10, 1))
	from := time.Now()
	trial(mode, n)
	fmt.Println(float64(time.Since(from).Nanoseconds()) / float64(n))
	atomic.StoreInt32(&done, 1)
}
