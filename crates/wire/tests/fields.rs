//! Fields of requests.

mod common;

use common::Random;
use kumi_wire::{Decoder, Encoder};

#[test]
fn fields_come_back_as_they_were() {
    let mut random = Random(5);
    for _ in 0..2000 {
        let (shift, n) = (random.below(64), random.below(20));
        let (number, signed, bytes) = (random.next() >> shift, (random.next() as i64) >> shift, random.bytes(n));
        let mut out = Vec::new();
        Encoder::new(&mut out)
            .number(number)
            .signed(signed)
            .maybe(None)
            .maybe(Some(number >> 1))
            .fixed(number)
            .bytes(&bytes)
            .key("k")
            .rest(b"!");
        let mut fields = Decoder::new(&out);
        assert_eq!(fields.number().unwrap(), number);
        assert_eq!(fields.signed().unwrap(), signed);
        assert_eq!(fields.maybe().unwrap(), None);
        assert_eq!(fields.maybe().unwrap(), Some(number >> 1));
        assert_eq!(fields.fixed().unwrap(), number);
        assert_eq!(fields.bytes(20).unwrap(), bytes);
        assert_eq!(fields.key().unwrap(), "k");
        assert!(fields.finish().is_err());
        assert_eq!(fields.rest(), b"!");
        fields.finish().unwrap();
    }
}

#[test]
fn what_is_wrong_is_said() {
    let wrong = |bytes: &[u8], read: fn(&mut Decoder) -> bool| read(&mut Decoder::new(bytes));
    assert!(wrong(&[], |d| d.byte().is_err()));
    assert!(wrong(&[2], |d| d.flag().is_err()));
    // Longer than need be; more than 64 bits.
    assert!(wrong(&[0x80, 0], |d| d.number().is_err()));
    assert!(wrong(&[0xFF; 9], |d| d.number().is_err()));
    assert!(wrong(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], |d| d.number().is_err()));
    assert!(wrong(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], |d| d.number() == Ok(u64::MAX)));
    // A length that the bytes do not have, one beyond what is asked for.
    assert!(wrong(&[5, 1, 2], |d| d.bytes(10).is_err()));
    assert!(wrong(&[5, 1, 2, 3, 4, 5], |d| d.bytes(4).is_err()));
    assert!(wrong(&[0], |d| d.key().is_err()));
    assert!(wrong(&[1, 0xFF], |d| d.text(9).is_err()));
    assert_eq!(Decoder::new(&[7, 0xFF]).bytes(9).unwrap_err().to_string(), "the bytes end before their field, at byte 1");
}
