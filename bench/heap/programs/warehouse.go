// warehouse.rb in Go: the same data, the same draws, the same transactions and screens; the same checksum.
// usage: warehouse [warehouses=2] [transactions=N per warehouse | seconds=S] [warmup=N or S] [scale=1.0]
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var syllables = []string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}
var vocabulary = []string{"amber", "barley", "cedar", "drift", "ember", "fallow", "glint", "harbor", "indigo", "juniper", "kestrel", "lantern", "meadow", "nettle", "ochre", "pebble"}

type Dice struct{ state int }

func newDice(seed int) *Dice {
	d := &Dice{(seed*7919 + 17) & 0x7fffffff}
	for i := 0; i < 8; i++ {
		d.below(2)
	}
	return d
}

func (d *Dice) below(n int) int {
	d.state = (d.state*1103515245 + 12345) & 0x7fffffff
	return (d.state >> 8) % n
}
func (d *Dice) between(low, high int) int { return low + d.below(high-low+1) }
func (d *Dice) skewed(spread, n int) int  { a := d.below(spread); return (a | d.below(n)) % n }
func (d *Dice) text(words int) string {
	var out strings.Builder
	for i := 0; i < words; i++ {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(vocabulary[d.below(16)])
	}
	return out.String()
}
func lastName(n int) string { return syllables[n/100%10] + syllables[n/10%10] + syllables[n%10] }

type Item struct {
	id    int
	name  string
	price int
	data  string
}

type Stock struct {
	item                  *Item
	quantity, ytd, orders int
	info                  []string
	data                  string
}

func newStock(item *Item, d *Dice) *Stock {
	return &Stock{item: item, quantity: d.between(10, 100), info: []string{d.text(3), d.text(3)}, data: d.text(5)}
}

func (s *Stock) take(count int) {
	if s.quantity >= count+10 {
		s.quantity -= count
	} else {
		s.quantity += 91 - count
	}
	s.ytd += count
	s.orders++
}

type Address struct {
	street, city string
	zip          int
}

func newAddress(d *Dice) *Address {
	return &Address{d.text(2), d.text(1), d.between(10000, 99999)}
}
func (a *Address) String() string { return a.street + ", " + strconv.Itoa(a.zip) + " " + a.city }

type Customer struct {
	id                      int
	first, last             string
	address                 *Address
	credit                  string
	discount, balance, paid int
	payments, delivered     int
	data                    string
	lastOrder               *Order
}

func newCustomer(id int, d *Dice) *Customer {
	c := &Customer{id: id, balance: -1000, paid: 1000, payments: 1, credit: "GC"}
	c.first = d.text(1)
	if id < 1000 {
		c.last = lastName(id)
	} else {
		c.last = lastName(d.skewed(255, 1000))
	}
	c.address = newAddress(d)
	if d.below(10) == 0 {
		c.credit = "BC"
	}
	c.discount = d.below(50)
	c.data = d.text(24)
	return c
}

func (c *Customer) pay(amount, district int) {
	c.balance -= amount
	c.paid += amount
	c.payments++
	if c.credit == "BC" {
		c.data = fmt.Sprintf("%d %d %d %s", c.id, district, amount, c.data)
		if len(c.data) > 200 {
			c.data = c.data[:200]
		}
	}
}

type OrderLine struct {
	stock         *Stock
	count, amount int
	info          string
	deliveredAt   int
}

type Order struct {
	id        int
	customer  *Customer
	enteredAt int
	lines     []*OrderLine
	carrier   int
}

func (o *Order) total() int {
	sum := 0
	for _, l := range o.lines {
		sum += l.amount
	}
	return sum
}

type History struct {
	customer   *Customer
	district   *District
	amount, at int
	text       string
}

type District struct {
	id, keep, tax, ytd int
	address            *Address
	nextOrder, oldest  int
	customers          []*Customer
	byName             map[string][]*Customer
	orders             map[int]*Order
	waiting            []*Order
}

func newDistrict(id int, d *Dice, customers, keep int) *District {
	t := &District{id: id, keep: keep, tax: d.below(20), address: newAddress(d), nextOrder: 1, oldest: 1}
	t.byName = map[string][]*Customer{}
	t.orders = map[int]*Order{}
	for i := 0; i < customers; i++ {
		c := newCustomer(i, d)
		t.customers = append(t.customers, c)
		t.byName[c.last] = append(t.byName[c.last], c)
	}
	for _, list := range t.byName {
		sort.Slice(list, func(i, j int) bool {
			if list[i].first != list[j].first {
				return list[i].first < list[j].first
			}
			return list[i].id < list[j].id
		})
	}
	return t
}

func (t *District) named(last string) *Customer {
	list := t.byName[last]
	if list == nil {
		return nil
	}
	return list[len(list)/2]
}

func (t *District) openOrder(c *Customer, now int) *Order {
	t.nextOrder++
	return &Order{id: t.nextOrder - 1, customer: c, enteredAt: now}
}

func (t *District) shift() *Order {
	if len(t.waiting) == 0 {
		return nil
	}
	o := t.waiting[0]
	t.waiting[0] = nil
	t.waiting = t.waiting[1:]
	return o
}

func (t *District) enter(o *Order) {
	t.orders[o.id] = o
	t.waiting = append(t.waiting, o)
	o.customer.lastOrder = o
	if len(t.waiting) > t.keep {
		t.shift()
	}
	if len(t.orders) > t.keep {
		delete(t.orders, t.oldest)
		t.oldest++
	}
}

func (t *District) recent(count int) []*Order {
	found := []*Order{}
	for id := t.nextOrder; len(found) < count && id > t.oldest; {
		id--
		if o := t.orders[id]; o != nil {
			found = append(found, o)
		}
	}
	return found
}

type Warehouse struct {
	id, tax, clock, paid, checksum int
	served                         atomic.Int64
	company                        *Company
	address                        *Address
	stock                          []*Stock
	districts                      []*District
	history                        []*History
	lock                           sync.Mutex
	elsewhere                      int
	dice                           *Dice
}

func newWarehouse(id int, company *Company, scale float64) *Warehouse {
	d := newDice(id + 100)
	w := &Warehouse{id: id, company: company, checksum: id}
	w.tax = d.below(20)
	w.address = newAddress(d)
	for _, item := range company.items {
		w.stock = append(w.stock, newStock(item, d))
	}
	keep := max(int(400*scale), 5)
	for i := 0; i < 10; i++ {
		w.districts = append(w.districts, newDistrict(i, d, max(int(400*scale), 10), keep))
	}
	w.history = make([]*History, max(int(2000*scale), 10))
	w.dice = newDice(id + 5000)
	for i := 0; i < keep; i++ {
		for _, t := range w.districts {
			newOrder(w, w.dice, t).perform()
		}
	}
	return w
}

type transaction interface {
	perform()
	screen() string
	result() int
}

func (w *Warehouse) serve() {
	draw := w.dice.below(100)
	w.clock++
	var t transaction
	pick := func() *District { return w.districts[w.dice.below(10)] }
	switch {
	case draw < 45:
		t = newOrder(w, w.dice, pick())
	case draw < 88:
		t = payment(w, w.dice, pick())
	case draw < 92:
		district := pick()
		t = &OrderStatus{base: base{w, district, 0}, customer: drawCustomer(w.dice, district)}
	case draw < 96:
		t = &Delivery{base: base{w, pick(), 0}, carrier: w.dice.between(1, 10)}
	default:
		t = &StockLevel{base: base{w, pick(), 0}, threshold: w.dice.between(10, 20)}
	}
	t.perform()
	screen := t.screen()
	w.checksum = (w.checksum*31 + len(screen) + t.result()) % 1000000007
	w.served.Add(1)
}

func (w *Warehouse) total() int { return (w.checksum + w.paid + w.elsewhere) % 1000000007 }

type base struct {
	warehouse *Warehouse
	district  *District
	outcome   int
}

func (b *base) result() int { return b.outcome }

func drawCustomer(d *Dice, t *District) *Customer {
	if d.below(100) < 60 {
		if c := t.named(lastName(d.skewed(255, 1000))); c != nil {
			return c
		}
	}
	return t.customers[d.skewed(1023, len(t.customers))]
}

func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

func show(title string, fields [][2]string, rows [][]string) string {
	left := (60 - len(title)) / 2
	lines := []string{strings.Repeat(" ", left) + title + strings.Repeat(" ", 60-len(title)-left)}
	for _, f := range fields {
		lines = append(lines, fmt.Sprintf("%-20s%s", f[0], f[1]))
	}
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = fmt.Sprintf("%12s", c)
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return strings.Join(lines, "\n")
}

type NewOrder struct {
	base
	customer *Customer
	wanted   [][]int
	order    *Order
	total    int
}

func newOrder(w *Warehouse, d *Dice, t *District) *NewOrder {
	n := &NewOrder{base: base{w, t, 0}}
	n.customer = t.customers[d.skewed(1023, len(t.customers))]
	n.wanted = make([][]int, d.between(5, 15))
	for i := range n.wanted {
		number := d.skewed(8191, len(w.stock))
		n.wanted[i] = []int{number, d.between(1, 10)}
	}
	if d.below(100) == 0 {
		n.wanted[len(n.wanted)-1] = []int{-1, 1}
	}
	return n
}

func (n *NewOrder) perform() {
	order := n.district.openOrder(n.customer, n.warehouse.clock)
	for _, want := range n.wanted {
		if want[0] < 0 {
			return
		}
		stock := n.warehouse.stock[want[0]]
		stock.take(want[1])
		order.lines = append(order.lines, &OrderLine{stock, want[1], want[1] * stock.item.price, stock.info[want[0]%2], -1})
	}
	n.order = order
	n.total = order.total() * (100 - n.customer.discount) / 100 * (100 + n.warehouse.tax + n.district.tax) / 100
	n.outcome = n.total
	n.district.enter(order)
}

func (n *NewOrder) screen() string {
	if n.order == nil {
		return show("New Order", [][2]string{{"Customer", n.customer.last}, {"Status", "item number is not valid"}}, nil)
	}
	rows := [][]string{}
	for _, l := range n.order.lines {
		name := l.stock.item.name
		if len(name) > 12 {
			name = name[:12]
		}
		rows = append(rows, []string{name, strconv.Itoa(l.count), strconv.Itoa(l.stock.quantity), money(l.amount)})
	}
	return show("New Order", [][2]string{{"Warehouse", strconv.Itoa(n.warehouse.id)}, {"District", strconv.Itoa(n.district.id)},
		{"Customer", n.customer.last + ", " + n.customer.first}, {"Credit", n.customer.credit}, {"Order", strconv.Itoa(n.order.id)},
		{"Lines", strconv.Itoa(len(n.order.lines))}, {"Total", money(n.total)}}, rows)
}

type Payment struct {
	base
	amount, at int
	customer   *Customer
}

func payment(w *Warehouse, d *Dice, t *District) *Payment {
	p := &Payment{base: base{w, t, 0}, amount: d.between(100, 500000)}
	p.customer = drawCustomer(d, t)
	others := len(w.company.warehouses)
	p.at = w.id
	if d.below(100) < 15 && others > 1 {
		p.at = (w.id + 1 + d.below(others-1)) % others
	}
	return p
}

func (p *Payment) perform() {
	w := p.warehouse
	if p.at == w.id {
		w.paid += p.amount
	} else {
		other := w.company.warehouses[p.at]
		other.lock.Lock()
		other.elsewhere += p.amount
		other.lock.Unlock()
	}
	p.district.ytd += p.amount
	p.customer.pay(p.amount, p.district.id)
	w.history[w.clock%len(w.history)] = &History{p.customer, p.district, p.amount, w.clock, w.address.city + "    " + p.district.address.city}
	p.outcome = modulo(p.customer.balance, 9973)
}

// Ruby's %, whose sign is the divisor's.
func modulo(a, n int) int { return (a%n + n) % n }

func (p *Payment) screen() string {
	return show("Payment", [][2]string{{"Warehouse", p.warehouse.address.String()}, {"District", p.district.address.String()},
		{"Paid at", strconv.Itoa(p.at)}, {"Customer", p.customer.first + " " + p.customer.last}, {"Address", p.customer.address.String()},
		{"Amount", money(p.amount)}, {"Balance", strconv.Itoa(p.customer.balance)}}, nil)
}

type OrderStatus struct {
	base
	customer *Customer
	order    *Order
}

func (o *OrderStatus) perform() {
	o.order = o.customer.lastOrder
	o.outcome = 1
	if o.order != nil {
		o.outcome = o.order.total() % 9973
	}
}

func (o *OrderStatus) screen() string {
	rows := [][]string{}
	id, carrier := "none", "none"
	if o.order != nil {
		id = strconv.Itoa(o.order.id)
		if o.order.carrier > 0 {
			carrier = strconv.Itoa(o.order.carrier)
		}
		for _, l := range o.order.lines {
			at := "waits"
			if l.deliveredAt >= 0 {
				at = strconv.Itoa(l.deliveredAt)
			}
			rows = append(rows, []string{strconv.Itoa(l.stock.item.id), strconv.Itoa(l.count), money(l.amount), at})
		}
	}
	return show("Order Status", [][2]string{{"Customer", o.customer.last}, {"Balance", strconv.Itoa(o.customer.balance)},
		{"Order", id}, {"Carrier", carrier}}, rows)
}

type Delivery struct {
	base
	carrier int
	done    [][]string
}

func (v *Delivery) perform() {
	for _, t := range v.warehouse.districts {
		order := t.shift()
		if order == nil {
			v.done = append(v.done, []string{strconv.Itoa(t.id), "none"})
			continue
		}
		order.carrier = v.carrier
		for _, l := range order.lines {
			l.deliveredAt = v.warehouse.clock
		}
		sum := order.total()
		order.customer.balance += sum
		order.customer.delivered++
		v.outcome += sum
		v.done = append(v.done, []string{strconv.Itoa(t.id), strconv.Itoa(order.id)})
	}
}

func (v *Delivery) screen() string {
	return show("Delivery", [][2]string{{"Warehouse", strconv.Itoa(v.warehouse.id)}, {"Carrier", strconv.Itoa(v.carrier)}}, v.done)
}

type StockLevel struct {
	base
	threshold int
	low       []*Stock
}

func (s *StockLevel) perform() {
	seen := map[*Item]bool{}
	for _, o := range s.district.recent(20) {
		for _, l := range o.lines {
			if !seen[l.stock.item] {
				seen[l.stock.item] = true
				if l.stock.quantity < s.threshold {
					s.low = append(s.low, l.stock)
				}
			}
		}
	}
	s.outcome = len(s.low)
}

func (s *StockLevel) screen() string {
	rows := [][]string{}
	for _, k := range s.low {
		rows = append(rows, []string{strconv.Itoa(k.item.id), strconv.Itoa(k.quantity)})
	}
	return show("Stock Level", [][2]string{{"District", strconv.Itoa(s.district.id)}, {"Threshold", strconv.Itoa(s.threshold)},
		{"Low stock", strconv.Itoa(len(s.low))}}, rows)
}

type Company struct {
	items      []*Item
	warehouses []*Warehouse
}

func newCompany(count int, scale float64) *Company {
	d := newDice(1)
	c := &Company{}
	for i := 0; i < max(int(10000*scale), 100); i++ {
		c.items = append(c.items, &Item{i, d.text(3), d.between(100, 10000), d.text(6)})
	}
	made := make([]*Warehouse, count)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() { made[i] = newWarehouse(i, c, scale) })
	}
	all.Wait()
	c.warehouses = made
	return c
}

func (c *Company) serve(count int) float64 {
	from := time.Now()
	var all sync.WaitGroup
	for _, w := range c.warehouses {
		all.Go(func() {
			for i := 0; i < count; i++ {
				w.serve()
			}
		})
	}
	all.Wait()
	return time.Since(from).Seconds()
}

func (c *Company) serveFor(seconds float64) (float64, []int) {
	var stop atomic.Bool
	var all sync.WaitGroup
	perSecond := []int{}
	from := time.Now()
	served := c.served()
	for _, w := range c.warehouses {
		all.Go(func() {
			for !stop.Load() {
				w.serve()
			}
		})
	}
	for i := 1.0; i < seconds+1; i++ {
		time.Sleep(time.Until(from.Add(time.Duration(min(i, seconds) * 1e9))))
		now := c.served()
		perSecond = append(perSecond, now-served)
		served = now
	}
	stop.Store(true)
	all.Wait()
	return time.Since(from).Seconds(), perSecond
}

func (c *Company) served() int {
	sum := 0
	for _, w := range c.warehouses {
		sum += int(w.served.Load())
	}
	return sum
}

// Seconds of processor time of the process.
func cpu() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
}

// The process's highest resident memory in bytes; nil where the system doesn't tell.
func memory() any {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
			if kb, err := strconv.Atoi(words[1]); err == nil {
				return kb * 1024
			}
		}
	}
	return nil
}

func main() {
	words := map[string]float64{"warehouses": 2, "scale": 1, "transactions": 10000}
	for _, a := range os.Args[1:] {
		name, value, _ := strings.Cut(a, "=")
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "not a number:", a)
			os.Exit(2)
		}
		words[name] = number
	}
	count, scale := int(words["warehouses"]), words["scale"]
	seconds, timed := words["seconds"]
	warmup, given := words["warmup"]
	if !given {
		if warmup = float64(int(words["transactions"]) / 4); timed {
			warmup = 1
		}
	}
	company := newCompany(count, scale)
	if warmup > 0 {
		if timed {
			company.serveFor(warmup)
		} else {
			company.serve(int(warmup))
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	served, used := company.served(), cpu()
	var taken float64
	perSecond := []int{}
	if timed {
		taken, perSecond = company.serveFor(seconds)
	} else {
		taken = company.serve(int(words["transactions"]))
	}
	runtime.ReadMemStats(&after)
	used = cpu() - used
	served = company.served() - served
	checksum := 7
	for _, w := range company.warehouses {
		checksum = (checksum*31 + w.total()) % 1000000007
	}
	out, _ := json.Marshal(map[string]any{"warehouses": count, "scale": scale, "transactions": served, "seconds": taken,
		"tps": float64(served) / taken, "per_second": perSecond, "checksum": checksum,
		"memory": memory(), "gc": map[string]any{"cpu_s": used, "count": after.NumGC - before.NumGC, "time": float64(after.PauseTotalNs-before.PauseTotalNs) / 1e6,
			"total_allocated_bytes": after.TotalAlloc - before.TotalAlloc}})
	fmt.Println(string(out))
}
