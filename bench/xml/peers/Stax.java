// The JDK's StAX reader on the documents of the bench. Compile with javac; runs the work ROUNDS times in one process and prints a
// line for each, so that the first is cold and the last warm.
// usage: java Stax T FILE | E LINEITEM | P LINEITEM | J LINEITEM ORDERS      (ROUNDS: environment, default 1)
import java.io.BufferedInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

public final class Stax {
    enum Kind { INTEGER, DECIMAL, DATE, WORDS }

    static final Map<String, Kind> KINDS = new HashMap<>();

    static {
        for (String n : List.of("L_ORDERKEY", "L_PARTKEY", "L_SUPPKEY", "L_LINENUMBER", "L_QUANTITY")) KINDS.put(n, Kind.INTEGER);
        for (String n : List.of("L_EXTENDEDPRICE", "L_DISCOUNT", "L_TAX")) KINDS.put(n, Kind.DECIMAL);
        for (String n : List.of("L_SHIPDATE", "L_COMMITDATE", "L_RECEIPTDATE")) KINDS.put(n, Kind.DATE);
        for (String n : List.of("L_RETURNFLAG", "L_LINESTATUS", "L_SHIPINSTRUCT", "L_SHIPMODE", "L_COMMENT")) KINDS.put(n, Kind.WORDS);
    }

    record Line(long orderkey, long linenumber, long quantity, long price, long shipdate, String shipmode) {}

    record Order(long orderkey, long custkey, long price, long date, String priority) {}

    static XMLStreamReader open(String path) throws Exception {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        return factory.createXMLStreamReader(new BufferedInputStream(new FileInputStream(path), 1 << 16), "UTF-8");
    }

    static long cents(String s) {
        int point = s.length() - 3;
        if (point < 1 || s.charAt(point) != '.') throw new NumberFormatException(s);
        long whole = Long.parseLong(s, 0, point, 10), part = Long.parseLong(s, point + 1, s.length(), 10);
        return s.charAt(0) == '-' ? whole * 100 - part : whole * 100 + part;
    }

    static long days(String s) {
        return LocalDate.of(Integer.parseInt(s, 0, 4, 10), Integer.parseInt(s, 5, 7, 10), Integer.parseInt(s, 8, 10, 10)).toEpochDay();
    }

    static long fnv(String s) {
        long h = 0xcbf29ce484222325L;
        for (byte b : s.getBytes(StandardCharsets.UTF_8)) h = (h ^ (b & 0xff)) * 0x100000001b3L;
        return h;
    }

    static String fields(String mode, long begun, String[] files, long count, String sum, Double first) throws Exception {
        double s = (System.nanoTime() - begun) / 1e9;
        long bytes = 0;
        for (String f : files) bytes += new File(f).length();
        long peak = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("VmHWM")) peak = Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        return String.format("{\"mode\":\"%s\",\"s\":%.9f,\"bytes\":%d,\"count\":%d,\"sum\":\"%s\",\"first_s\":%s,\"peak\":%d}", mode, s, bytes, count, sum,
                first == null ? "null" : String.format("%.9f", first), peak);
    }

    static String events(String[] files, long begun) throws Exception {
        XMLStreamReader in = open(files[0]);
        long n = 0;
        while (in.hasNext()) {
            in.next();
            n++;
        }
        return fields("T", begun, files, n, "", null);
    }

    static String extract(String mode, String[] files, long begun) throws Exception {
        XMLStreamReader in = open(files[0]);
        boolean plain = mode.equals("P");
        long rows = 0, mixed = 0, total = 0;
        while (in.hasNext()) {
            if (in.next() != XMLStreamConstants.START_ELEMENT) continue;
            Kind kind = KINDS.get(in.getLocalName());
            if (kind == null) {
                if (in.getLocalName().equals("T")) rows++;
                continue;
            }
            String s = in.getElementText();
            long v = switch (kind) {
                case INTEGER -> Long.parseLong(s);
                case DECIMAL -> cents(s);
                case DATE -> days(s);
                case WORDS -> plain ? s.getBytes(StandardCharsets.UTF_8).length : fnv(s);
            };
            if (plain) total += v;
            else mixed = (Long.rotateLeft(mixed, 5) ^ v) * 0x9E3779B97F4A7C15L;
        }
        return fields(mode, begun, files, rows, plain ? Long.toString(total) : String.format("%016x", mixed), null);
    }

    /** Reads rows for the join; a step is some 64 KB. */
    abstract static class Rows {
        final XMLStreamReader in;
        final Map<String, String> row = new HashMap<>();
        boolean ended;

        Rows(String path) throws Exception {
            in = open(path);
        }

        abstract void take(Map<String, String> row);

        void step() throws XMLStreamException {
            int until = in.getLocation().getCharacterOffset() + (1 << 16);
            while (!ended && in.getLocation().getCharacterOffset() < until) {
                if (!in.hasNext()) {
                    ended = true;
                    return;
                }
                int event = in.next();
                if (event == XMLStreamConstants.START_ELEMENT) {
                    String name = in.getLocalName();
                    switch (name) {
                        case "table", "T" -> {}
                        case "L_ORDERKEY", "L_LINENUMBER", "L_QUANTITY", "L_EXTENDEDPRICE", "L_SHIPDATE", "L_SHIPMODE", "O_ORDERKEY", "O_CUSTKEY",
                                "O_TOTALPRICE", "O_ORDERDATE", "O_ORDERPRIORITY" -> row.put(name, in.getElementText());
                        default -> in.getElementText();
                    }
                } else if (event == XMLStreamConstants.END_ELEMENT && in.getLocalName().equals("T")) {
                    take(row);
                    row.clear();
                }
            }
        }
    }

    static final class Join {
        final long begun;
        final Map<Long, List<Line>> lines = new HashMap<>();
        final Map<Long, List<Order>> orders = new HashMap<>();
        Double first;
        long pairs, sum;

        Join(long begun) {
            this.begun = begun;
        }

        void pair(Line l, Order o) {
            if (first == null) first = (System.nanoTime() - begun) / 1e9;
            pairs++;
            sum += l.orderkey + 3 * l.linenumber + 5 * l.quantity + 7 * l.price + 11 * l.shipdate + 13 * l.shipmode.length() + 17 * o.custkey
                    + 19 * o.price + 23 * o.date + 29 * o.priority.length();
        }

        void line(Map<String, String> r) {
            Line l = new Line(Long.parseLong(r.get("L_ORDERKEY")), Long.parseLong(r.get("L_LINENUMBER")), Long.parseLong(r.get("L_QUANTITY")),
                    cents(r.get("L_EXTENDEDPRICE")), days(r.get("L_SHIPDATE")), r.get("L_SHIPMODE"));
            for (Order o : orders.getOrDefault(l.orderkey, List.of())) pair(l, o);
            lines.computeIfAbsent(l.orderkey, k -> new ArrayList<>()).add(l);
        }

        void order(Map<String, String> r) {
            Order o = new Order(Long.parseLong(r.get("O_ORDERKEY")), Long.parseLong(r.get("O_CUSTKEY")), cents(r.get("O_TOTALPRICE")), days(r.get("O_ORDERDATE")),
                    r.get("O_ORDERPRIORITY"));
            for (Line l : lines.getOrDefault(o.orderkey, List.of())) pair(l, o);
            orders.computeIfAbsent(o.orderkey, k -> new ArrayList<>()).add(o);
        }
    }

    static String join(String[] files, long begun) throws Exception {
        Join join = new Join(begun);
        Rows lines = new Rows(files[0]) {
            @Override
            void take(Map<String, String> row) {
                join.line(row);
            }
        };
        Rows orders = new Rows(files[1]) {
            @Override
            void take(Map<String, String> row) {
                join.order(row);
            }
        };
        while (!(lines.ended && orders.ended)) {
            lines.step();
            orders.step();
        }
        return fields("J", begun, files, join.pairs, Long.toString(join.sum), join.first);
    }

    public static void main(String[] words) throws Exception {
        int files = words.length == 0 ? -1 : switch (words[0]) {
            case "T", "E", "P" -> 1;
            case "J" -> 2;
            default -> -1;
        };
        if (words.length != files + 1) {
            System.err.println("usage: java Stax T FILE | E LINEITEM | P LINEITEM | J LINEITEM ORDERS");
            System.exit(2);
        }
        String[] paths = java.util.Arrays.copyOfRange(words, 1, words.length);
        int rounds = Integer.parseInt(System.getenv().getOrDefault("ROUNDS", "1"));
        for (int i = 0; i < rounds; i++) {
            long begun = System.nanoTime();
            System.out.println(switch (words[0]) {
                case "T" -> events(paths, begun);
                case "J" -> join(paths, begun);
                default -> extract(words[0], paths, begun);
            });
        }
    }
}
