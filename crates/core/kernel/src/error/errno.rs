//! Errno: one class an error number of the system, made at start-up.

use kumi_vm::*;
use libc::*;

pub static TABLE: &[NativeDef] =
    &[intrinsic("__strerror", 1, 1, strerror).guard(Guard::None), intrinsic("__errno_class", 1, 1, class_of_number).guard(Guard::None)];

macro_rules! table {
    ($($n:ident)*) => { &[$((stringify!($n), $n)),*] };
}

/// Names and numbers; of two names with one number the first is the class.
static ERRNOS: &[(&str, i32)] = table! {
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY
    EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK
    EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP EWOULDBLOCK ENOMSG EIDRM ECHRNG
    EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH ENOCSI EL2HLT EBADE EBADR EXFULL ENOANO EBADRQC EBADSLT EDEADLOCK
    EBFONT ENOSTR ENODATA ETIME ENOSR ENONET ENOPKG EREMOTE ENOLINK EADV ESRMNT ECOMM EPROTO EMULTIHOP EDOTDOT
    EBADMSG EOVERFLOW ENOTUNIQ EBADFD EREMCHG ELIBACC ELIBBAD ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE
    EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP
    EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET
    ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY
    EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED ENOKEY
    EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD ENOTRECOVERABLE ERFKILL EHWPOISON ENOTSUP
};

/// Names that other systems have: here they are the class of no error.
static ELSEWHERE: &[&str] = &[
    "EAUTH",
    "EBADARCH",
    "EBADEXEC",
    "EBADMACHO",
    "EBADRPC",
    "ECAPMODE",
    "EDEVERR",
    "EDOOFUS",
    "EFTYPE",
    "EIPSEC",
    "ELAST",
    "ENEEDAUTH",
    "ENOATTR",
    "ENOPOLICY",
    "ENOTCAPABLE",
    "EPROCLIM",
    "EPROCUNAVAIL",
    "EPROGMISMATCH",
    "EPROGUNAVAIL",
    "EPWROFF",
    "EQFULL",
    "EQSUSPENDED",
    "ERPCMISMATCH",
    "ESHLIBVERS",
];

#[derive(Default)]
struct Classes {
    by_number: Vec<(i32, Value)>,
}

/// Makes the classes.
pub fn define(cx: &mut Cx) {
    let errno = cx.k.errno;
    let sup = cx.k.system_call_error;
    let errno_const = cx.intern("Errno");
    let zero = cx.define_class(errno, "NOERROR", sup);
    cx.set_const(zero, errno_const, Value::fix(0));
    let mut all = vec![(0, zero.val())];
    for (name, number) in ERRNOS {
        if let Some(p) = all.iter().find(|p| p.0 == *number) {
            let (s, v) = (cx.intern(name), p.1);
            cx.set_const(errno, s, v);
            continue;
        }
        let c = cx.define_class(errno, name, sup);
        cx.set_const(c, errno_const, Value::fix(*number as i64));
        all.push((*number, c.val()));
    }
    for name in ELSEWHERE {
        let s = cx.intern(name);
        cx.set_const(errno, s, zero.val());
    }
    cx.state::<Classes>().by_number = all;
}

/// The system's text for an error number.
pub fn text(errno: i32) -> String {
    let whole = std::io::Error::from_raw_os_error(errno).to_string();
    whole.strip_suffix(&format!(" (os error {errno})")).unwrap_or(&whole).to_owned()
}
fn strerror(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_i64(a, 0)?;
    let s = match i32::try_from(n) {
        Ok(n) => text(n),
        Err(_) => format!("Unknown error {n}"),
    };
    Ok(cx.str(&s))
}
fn class_of_number(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_i64(a, 0)?;
    Ok(cx.state::<Classes>().by_number.iter().find(|p| p.0 as i64 == n).map_or(Value::NIL, |p| p.1))
}
