// How late a goroutine that sleeps 1 ms runs beside goroutines that compute. See fairness.rb.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"
)

var sink int

func burn() {
	x := 1
	for {
		x = (x*3 + 1) & 0xffff
		if x < 0 {
			sink = x
		}
	}
}

func main() {
	burners, _ := strconv.Atoi(os.Args[1])
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	for i := 0; i < burners; i++ {
		go burn()
	}
	result := make(chan []float64)
	go func() {
		late := []float64{}
		stop := time.Now().Add(time.Duration(seconds * 1e9))
		for from := time.Now(); from.Before(stop); from = time.Now() {
			time.Sleep(time.Millisecond)
			late = append(late, float64(time.Since(from).Nanoseconds())/1e3-1000)
		}
		result <- late
	}()
	late := <-result
	sort.Float64s(late)
	fmt.Println(late[len(late)/2], late[len(late)*99/100], late[len(late)-1], len(late))
}
