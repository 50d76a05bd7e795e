//! Connections between nodes that a test cuts.

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

pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
