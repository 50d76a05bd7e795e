//! Connections between nodes that a test cuts.

use crate::harness::{Running, free_port, kumi};

/// Connections to a port that are cut when a test says so.
pub struct Relay {
    pub port: u16,
    open: std::sync::Arc<std::sync::Mutex<Vec<std::net::TcpStream>>>,
}

impl Relay {
    pub fn to(port: u16) -> Relay {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (own, open) = (listener.local_addr().unwrap().port(), std::sync::Arc::<std::sync::Mutex<Vec<std::net::TcpStream>>>::default());
        let all = open.clone();
        std::thread::spawn(move || {
            for from in listener.incoming().map_while(Result::ok) {
                let Ok(to) = std::net::TcpStream::connect(("127.0.0.1", port)) else { continue };
                let _ = (from.set_nodelay(true), to.set_nodelay(true));
                for (mut a, mut b) in
                    [(from.try_clone().unwrap(), to.try_clone().unwrap()), (to.try_clone().unwrap(), from.try_clone().unwrap())]
                {
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut a, &mut b);
                        let _ = b.shutdown(std::net::Shutdown::Both);
                    });
                }
                all.lock().unwrap().extend([from, to]);
            }
        });
        Relay { port: own, open }
    }
    pub fn cut(&self) {
        for s in self.open.lock().unwrap().drain(..) {
            let _ = s.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// Puppets that reach each other by relays only, and know `objects`; all of them are there. What a connection loses is said again as much
/// later as they are patient: they are so only somewhat, and leases are about as long as usual.
pub fn relayed<const N: usize>(names: [&str; N], objects: &str) -> ([Running; N], [Relay; N]) {
    let ports = names.map(|_| free_port());
    let relays = ports.map(Relay::to);
    let mut at = 0..N;
    let mut nodes = names.map(|name| {
        let i = at.next().unwrap();
        let (own, public) = (format!("127.0.0.1:{}", ports[i]), format!("127.0.0.1:{}", relays[i].port));
        let mut c = kumi(&["node", name, "--listen", &own, "--public", &public, "--patience", "3"]);
        c.env("KUMI_SEGMENT_LEASE", "4");
        if i > 0 {
            c.args(["--join", &format!("127.0.0.1:{}", relays[0].port)]);
        }
        let mut node = Running::start(c.arg("puppet.rb"));
        assert_eq!(node.line(), "ready", "{}", node.errors());
        node.is(objects, "1");
        node
    });
    for node in &mut nodes {
        node.is(&format!("S.wait_for_nodes({N}, timeout: 60).size"), &N.to_string());
    }
    (nodes, relays)
}

/// Cuts all connections again and again.
pub fn cut_often(relays: &[Relay], times: usize) {
    for _ in 0..times {
        std::thread::sleep(std::time::Duration::from_millis(120));
        relays.iter().for_each(Relay::cut);
    }
}
