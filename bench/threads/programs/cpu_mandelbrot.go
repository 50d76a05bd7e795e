// The Mandelbrot set by rows. See cpu_mandelbrot.rb.
package main

import (
	"fmt"
	"os"
	"strconv"
)

func inside(size, row int) int {
	count := 0
	ci := 2.0*float64(row)/float64(size) - 1.0
	for x := 0; x < 300; x++ {
		cr := float64(x)/150.0 - 1.5
		zr, zi := 0.0, 0.0
		i := 0
		for i < 100 && zr*zr+zi*zi < 4.0 {
			zr, zi = zr*zr-zi*zi+cr, 2.0*zr*zi+ci
			i++
		}
		if i == 100 {
			count++
		}
	}
	return count
}

func main() {
	threads, _ := strconv.Atoi(os.Args[1])
	size, _ := strconv.Atoi(os.Args[2])
	sums := make(chan int)
	for t := 0; t < threads; t++ {
		go func() {
			sum := 0
			for row := 0; row < size; row++ {
				sum += inside(size, row)
			}
			sums <- sum
		}()
	}
	for t := 1; t < threads; t++ {
		<-sums
	}
	fmt.Println(<-sums)
}
