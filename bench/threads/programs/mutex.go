// Goroutines that add to a counter under a mutex. See mutex.rb.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

func main() {
	threads, _ := strconv.Atoi(os.Args[1])
	n, _ := strconv.Atoi(os.Args[2])
	n /= threads
	var lock sync.Mutex
	var all sync.WaitGroup
	count := 0
	all.Add(threads)
	from := time.Now()
	for t := 0; t < threads; t++ {
		go func() {
			for i := 0; i < n; i++ {
				lock.Lock()
				count++
				lock.Unlock()
			}
			all.Done()
		}()
	}
	all.Wait()
	fmt.Println(float64(time.Since(from).Nanoseconds()) / float64(count))
}
