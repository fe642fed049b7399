// What LeakSanitizer must not report in tests that use UCX: endpoints of failed
// peers that UCX does not free itself (fixed after 1.13), and the state of
// workers that are left alone on purpose, which UCX keeps where the sanitizer
// cannot see it. Nothing of this happens to a transport that ends in peace.
//
// The sanitizer's run time calls this function by its name; without it, nobody
// does.
extern "C" const char* __lsan_default_suppressions();

extern "C" const char* __lsan_default_suppressions() {
  return "leak:libucp.so\nleak:libuct.so\nleak:libucs.so\n";
}
