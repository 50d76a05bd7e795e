// A goroutine sends to a buffered channel and receives (alone), or two hand a number there and back (pair). See local.rb.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func alone(n int) {
	c := make(chan int, 16)
	for i := 0; i < n; i++ {
		c <- i
		<-c
	}
}

func pair(n int) {
	there, back := make(chan int, 16), make(chan int, 16)
	go func() {
		for i := 0; i < n; i++ {
			back <- <-there
		}
	}()
	for i := 0; i < n; i++ {
		there <- i
		<-back
	}
}

func main() {
	step := alone
	if os.Args[1] == "pair" {
		step = pair
	}
	n, _ := strconv.Atoi(os.Args[2])
	step(max(n/10, 1))
	from := time.Now()
	step(n)
	fmt.Println(float64(time.Since(from).Nanoseconds()) / float64(n))
}
