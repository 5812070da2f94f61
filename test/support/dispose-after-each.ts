import { afterEach } from '@jest/globals';

/** Makes a function that keeps what a test opens, for disposal after it: what came last is first. */
export function disposeAfterEach(): <Opened extends AsyncDisposable>(each: Opened) => Opened {
  let opened = new AsyncDisposableStack();
  afterEach(async () => {
    const ended = opened;
    opened = new AsyncDisposableStack();
    await ended.disposeAsync();
  });
  return (each) => opened.use(each);
}
