//! Faults that tests plant, to show that a simulator finds them.

/// A crate's list of faults: `Bug`, `plant`, which gives this thread's machines one of them, and `planted`, which sources ask. Nothing is
/// planted in a release build: there the question is a constant.
///
/// ```
/// kumi_chance::bugs! {
///     /// What is lost is not sent again.
///     NoRetry,
///     /// A lease is as long as one likes.
///     NoLease,
/// }
/// plant(Some(Bug::NoRetry));
/// assert_eq!((planted(Bug::NoRetry), planted(Bug::NoLease)), (cfg!(debug_assertions), false));
/// plant(None);
/// assert!(!planted(Bug::NoRetry));
/// ```
#[macro_export]
macro_rules! bugs {
    ($($(#[$what:meta])* $bug:ident),* $(,)?) => {
        /// What can be wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($(#[$what])* $bug),*
        }

        #[cfg(debug_assertions)]
        ::std::thread_local!(static PLANTED: ::std::cell::Cell<Option<Bug>> = const { ::std::cell::Cell::new(None) });

        /// From now on this thread's machines have this fault.
        #[cfg(debug_assertions)]
        pub fn plant(bug: Option<Bug>) {
            PLANTED.set(bug);
        }
        /// Nothing is planted in a release build.
        #[cfg(not(debug_assertions))]
        pub fn plant(_: Option<Bug>) {}

        #[cfg(debug_assertions)]
        pub(crate) fn planted(bug: Bug) -> bool {
            PLANTED.get() == Some(bug)
        }
        #[cfg(not(debug_assertions))]
        pub(crate) const fn planted(_: Bug) -> bool {
            false
        }
    };
}
