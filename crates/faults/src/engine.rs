//! What keeps the segments: the nodes' memory, a file of one process, or a Redis of several.

use crate::cluster::free;
use rustix::process::{Pid, Signal, kill_process};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Memory,
    File,
    Redis,
}

/// A `redis-server` of our own, which keeps what it has acknowledged.
pub struct Server {
    folder: PathBuf,
    pub address: SocketAddr,
    child: Option<Child>,
}

impl Server {
    pub fn start(folder: &Path) -> Result<Server, String> {
        let address = free().map_err(|e| e.to_string())?;
        let mut server = Server { folder: folder.to_owned(), address, child: None };
        server.launch()?;
        Ok(server)
    }
    /// From its log, where there is one.
    pub fn launch(&mut self) -> Result<(), String> {
        let mut c = Command::new("redis-server");
        c.args(["--port", &self.address.port().to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"]);
        c.args(["--appendfsync", "always", "--dir"]).arg(&self.folder);
        let child = c.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.child = Some(child.map_err(|e| format!("redis-server: {e}: apt-get install redis-server"))?);
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(self.address).is_err() {
            if Instant::now() > until {
                return Err("redis-server does not serve".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = self.child.as_ref().and_then(|c| Pid::from_raw(c.id() as i32)) {
            let _ = kill_process(pid, signal);
        }
    }
    /// `kill -9`.
    pub fn kill(&mut self) {
        if let Some(mut c) = self.child.take() {
            let _ = (c.kill(), c.wait());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
