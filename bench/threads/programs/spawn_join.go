// Starts and joins goroutines. See spawn_join.rb.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func single(n int) {
	for i := 0; i < n; i++ {
		done := make(chan int, 1)
		go func() { done <- 1 }()
		<-done
	}
}

func batch(n int) {
	for i := 0; i < n/1000; i++ {
		var all sync.WaitGroup
		all.Add(1000)
		for k := 0; k < 1000; k++ {
			go all.Done()
		}
		all.Wait()
	}
}

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	work := single
	if os.Args[1] == "batch" {
		work, n = batch, max(n/1000, 1)*1000
	}
	work(1000)
	from := time.Now()
	work(n)
	fmt.Println(float64(time.Since(from).Nanoseconds()) / float64(n))
}
